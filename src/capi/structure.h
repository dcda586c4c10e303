// Structures of the C interface that begin with their size as their caller knows it, which may be older or newer.
#pragma once

#include <algorithm>
#include <cstring>

#include "capi/result.h"

namespace forelock::capi {

// What the caller knows of it; the rest is 0. Null: all 0.
template <class T>
T read_structure(const T* given) {
  T value{};
  if (given == nullptr) return value;
  require(given->size >= sizeof(given->size), "the structure's size is not set");
  std::memcpy(&value, given, std::min(given->size, sizeof(T)));
  return value;
}

// Stores as much of it as the caller knows.
template <class T>
void write_structure(T* given, T value) {
  require(given != nullptr, "the pointer to the structure is null");
  require(given->size >= sizeof(given->size), "the structure's size is not set");
  value.size = given->size;
  std::memcpy(given, &value, std::min(given->size, sizeof(T)));
}

}  // namespace forelock::capi
