// The bytes of a file; none if it cannot be read.
#pragma once

#include "support/standard.h"

namespace forelock::test {

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace forelock::test
