#include "config/printable.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/utf8.h"

namespace forelock::config {

std::string printable(std::string_view text) {
  constexpr std::size_t longest = 60;
  constexpr std::string_view digits = "0123456789abcdef";
  const bool cut = text.size() > longest;
  text = text.substr(0, base::cut_between_characters(text, longest));
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      out += "\\x";
      out += digits[byte >> 4];
      out += digits[byte & 0xF];
    } else {
      out += c;
    }
  }
  return cut ? out + "..." : out;
}

std::string in_quotes(std::string_view text) {
  return "'" + printable(text) + "'";
}

bool is_secret(std::string_view key) {
  constexpr std::string_view signs[] = {"password",
                                        "passwd",
                                        "passphrase",
                                        "secret",
                                        "token",
                                        "credential",
                                        "sasl.jaas.config",
                                        "key.pem",
                                        "api.key",
                                        "private.key",
                                        "sasl.oauthbearer.config"};
  std::string lower(key);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (lower.ends_with(".file")) return false;  // where the secret stands, not the secret
  return std::any_of(std::begin(signs), std::end(signs),
                     [&lower](std::string_view sign) { return lower.find(sign) != std::string::npos; });
}

}  // namespace forelock::config
