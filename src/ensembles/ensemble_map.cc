#include "ensembles/ensemble_map.h"

#include <algorithm>
#include <utility>

namespace forelock::ensembles {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

std::string server_text(const ServerAddress& server) {
  std::string host = server.host;
  for (char& c : host) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (host.find(':') != std::string::npos) host = '[' + host + ']';
  return host + ':' + std::to_string(server.port);
}

std::string hex(std::uint64_t number) {
  std::string text(16, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, number >>= 4) *digit = hex_digits[number & 0xf];
  return text;
}

}  // namespace

std::uint64_t fnv1a64(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

std::uint64_t mix64(std::uint64_t number) {
  number = (number ^ (number >> 33)) * 0xff51afd7ed558ccd;
  number = (number ^ (number >> 33)) * 0xc4ceb9fe1a85ec53;
  return number ^ (number >> 33);
}

std::string identity_of(const std::vector<ServerAddress>& servers, std::string_view chroot) {
  std::vector<std::string> texts;
  texts.reserve(servers.size());
  for (const ServerAddress& server : servers) texts.push_back(server_text(server));
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  std::string identity;
  for (const std::string& text : texts) identity += (identity.empty() ? "" : ",") + text;
  return identity.append(chroot);
}

EnsembleMap::EnsembleMap(std::vector<std::string> identities) : identities_(std::move(identities)) {
  std::sort(identities_.begin(), identities_.end());
  std::string lines = std::string(method) + '\n';
  for (const std::string& identity : identities_) {
    seeds_.push_back(fnv1a64(identity));
    lines += identity + '\n';
  }
  fingerprint_ = hex(mix64(fnv1a64(lines)));
}

std::size_t EnsembleMap::home_of(std::string_view name) const {
  if (seeds_.size() == 1) return 0;
  const std::uint64_t key = mix64(fnv1a64(name));
  std::size_t home = 0;
  std::uint64_t highest = 0;
  for (std::size_t i = 0; i < seeds_.size(); ++i) {
    const std::uint64_t score = mix64(seeds_[i] ^ key);
    if (i != 0 && score <= highest) continue;
    home = i;
    highest = score;
  }
  return home;
}

}  // namespace forelock::ensembles
