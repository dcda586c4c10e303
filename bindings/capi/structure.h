// Structures of the C interface that begin with their size as their caller knows it, which may be older or newer.
#pragma once

#include <algorithm>
#include <cstring>

#include "capi/result.h"

namespace forelock::capi {

// \throws RequestRejectedException(invalid_argument) for one that no version of the structure has or will have. Such a
// size would cut a pointer in two.
template <class T>
void check_size(const T* given) {
  require(given->size >= sizeof(given->size) && given->size % alignof(T) == 0,
          "the structure's size is not its sizeof");
}

// What the caller knows of it; the rest is 0. Null: all 0.
template <class T>
T read_structure(const T* given) {
  T value{};
  if (given == nullptr) return value;
  check_size(given);
  std::memcpy(&value, given, std::min(given->size, sizeof(T)));
  return value;
}

// Stores as much of it as the caller knows.
template <class T>
void write_structure(T* given, T value) {
  require(given != nullptr, "the pointer to the structure is null");
  check_size(given);
  value.size = given->size;
  std::memcpy(given, &value, std::min(given->size, sizeof(T)));
}

}  // namespace forelock::capi
