// The bytes of an input, one decision after the other.
#pragma once

#include "support/standard.h"

namespace forelock::fuzz {

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : next_(data), end_(data + size) {}

  bool done() const { return next_ == end_; }
  // 0 when there is nothing left.
  std::uint8_t byte() { return done() ? std::uint8_t{0} : *next_++; }
  // One of `count`, from 0 on. Digits mean themselves, so that inputs can be written by hand.
  std::size_t choice(std::size_t count) { return static_cast<std::size_t>(byte() & 0x0f) % count; }

 private:
  const std::uint8_t* next_;
  const std::uint8_t* end_;
};

}  // namespace forelock::fuzz
