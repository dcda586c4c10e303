#include "config/secret.h"

#include <algorithm>
#include <string>

namespace forelock::config {

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
