#include "web/peer_owner.h"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

namespace forelock::web {
namespace {

// As the kernel's table writes it: the words of the address as this machine's numbers, and the port.
std::string table_text(const boost::asio::ip::tcp::endpoint& endpoint) {
  std::string text;
  const auto add = [&text](std::uint32_t number, std::size_t digits) {
    for (std::size_t i = digits; i-- > 0;) text += "0123456789ABCDEF"[number >> (4 * i) & 0xFU];
  };
  const auto add_words = [&add](const auto& bytes) {
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint32_t)) {
      std::uint32_t word = 0;
      std::memcpy(&word, bytes.data() + i, sizeof(word));
      add(word, 8);
    }
  };
  if (endpoint.address().is_v4()) {
    add_words(endpoint.address().to_v4().to_bytes());
  } else {
    add_words(endpoint.address().to_v6().to_bytes());
  }
  text += ':';
  add(endpoint.port(), 4);
  return text;
}

}  // namespace

std::optional<uid_t> owner_of_peer(const boost::asio::ip::tcp::endpoint& local,
                                   const boost::asio::ip::tcp::endpoint& remote) {
  if (!remote.address().is_loopback()) return std::nullopt;
  std::ifstream table(remote.address().is_v4() ? "/proc/net/tcp" : "/proc/net/tcp6");
  const std::string from = table_text(remote);
  const std::string to = table_text(local);
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string ignored;
    std::string here;
    std::string there;
    std::string state;
    uid_t owner = 0;
    words >> ignored >> here >> there >> state;
    if (here != from || there != to) continue;
    words >> ignored >> ignored >> ignored >> owner;
    // A socket that its process has closed belongs to nobody, and the table says 0.
    return words && state == "01" ? std::optional(owner) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace forelock::web
