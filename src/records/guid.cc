#include "records/guid.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string_view>

#include "forelock/error.h"

namespace forelock::records {
namespace {

using Bytes = std::array<unsigned char, 16>;

Bytes random_bytes() {
  Bytes bytes{};
  ssize_t got = 0;
  do {
    got = getrandom(bytes.data(), bytes.size(), 0);  // so few bytes come all at once
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(bytes.size()))
    throw Error(ErrorCode::internal, {}, "the kernel gave no random numbers");
  return bytes;
}

}  // namespace

std::string make_guid() {
  constexpr std::string_view hex_digits = "0123456789abcdef";
  Bytes bytes = random_bytes();
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0FU) | 0x40U);  // version 4
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3FU) | 0x80U);  // RFC 4122
  std::string guid;
  guid.reserve(36);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) guid += '-';
    guid += hex_digits[bytes[i] >> 4];
    guid += hex_digits[bytes[i] & 0xFU];
  }
  return guid;
}

}  // namespace forelock::records
