#include "config/server_list.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "config/printable.h"
#include "config/property.h"
#include "config/quantity.h"

namespace forelock::config {
namespace {

constexpr std::int64_t default_port = 2181;
constexpr std::size_t longest_host = 253;  // of a name in DNS
constexpr std::string_view example = "write host:port,host:port or [::1]:port";

bool is_ipv6(std::string_view text) {
  in6_addr address{};
  // A zone such as %eth0 is for the resolver to judge.
  return ::inet_pton(AF_INET6, std::string(text.substr(0, text.find('%'))).c_str(), &address) == 1 &&
         !text.ends_with('%');
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= longest_host && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
           c == '_';
  });
}

std::variant<ServerAddress, Fault> parse_server(std::string_view item) {
  const auto refuse = [item](const char* what) { return Fault{in_quotes(item) + what, std::string(example)}; };
  std::string_view host;
  std::string_view rest;  // empty, or ":port"
  if (item.starts_with('[')) {
    const std::size_t end = item.find(']');
    host = item.substr(1, end == std::string_view::npos ? end : end - 1);
    if (end == std::string_view::npos || !is_ipv6(host)) return refuse(" is not an IPv6 address in brackets");
    rest = item.substr(end + 1);
  } else {
    const std::size_t end = std::min(item.find(':'), item.size());
    host = item.substr(0, end);
    rest = item.substr(end);
    if (rest.find(':', 1) != std::string_view::npos) return refuse(" has more than one ':', or lacks brackets");
    if (!is_name(host)) return refuse(" is not the name or address of a server");
  }
  if (rest.empty()) return ServerAddress{std::string(host), static_cast<std::uint16_t>(default_port)};
  const std::optional<std::int64_t> port = rest.front() == ':' ? parse_number(rest.substr(1)) : std::nullopt;
  if (!port || *port < 1 || *port > 65'535) {
    return Fault{in_quotes(item) + " has no valid port", "write a port from 1 to 65535 behind the ':', or neither"};
  }
  return ServerAddress{std::string(host), static_cast<std::uint16_t>(*port)};
}

// ZooKeeper's rules for a path, from its PathUtils, as far as a chroot can be sensible at all.
std::optional<Fault> check_chroot(std::string_view chroot) {
  const std::string what = "the chroot " + in_quotes(chroot);
  if (chroot.find(',') != std::string_view::npos) {
    return Fault{what + " has a ','", "write the chroot once, behind the last server"};
  }
  if (chroot.ends_with('/')) return Fault{what + " ends with '/'", "remove the last '/'"};
  for (std::size_t begin = 1; begin <= chroot.size();) {
    const std::size_t end = std::min(chroot.find('/', begin), chroot.size());
    const std::string_view name = chroot.substr(begin, end - begin);
    if (name.empty() || name == "." || name == "..") {
      return Fault{what + " has an empty or relative part", "write a path such as /forelock"};
    }
    begin = end + 1;
  }
  const bool is_plain = std::all_of(chroot.begin(), chroot.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (!is_plain) return Fault{what + " has blanks, control or non-ASCII characters", "write a path such as /forelock"};
  return std::nullopt;
}

std::variant<ServerList, Fault> parse_servers_and_chroot(std::string_view text) {
  ServerList list;
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::string_view chroot = text.substr(slash);
  if (chroot.size() > 1) {
    if (std::optional<Fault> fault = check_chroot(chroot)) return *std::move(fault);
    list.chroot = chroot;
  }
  text = text.substr(0, slash);
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = trimmed(text.substr(begin, end - begin));
    if (item.empty()) return Fault{"a server is missing in the list", std::string(example)};
    std::variant<ServerAddress, Fault> server = parse_server(item);
    if (Fault* fault = std::get_if<Fault>(&server)) return std::move(*fault);
    list.servers.push_back(std::get<ServerAddress>(std::move(server)));
    begin = end + 1;
  }
  return list;
}

std::string text_of(const ServerAddress& server) {
  const bool is_v6 = server.host.find(':') != std::string::npos;
  return (is_v6 ? '[' + server.host + ']' : server.host) + ':' + std::to_string(server.port);
}

}  // namespace

std::string ServerList::to_string() const {
  std::string text;
  for (const ServerAddress& server : servers) text += (text.empty() ? "" : ",") + text_of(server);
  return text + chroot;
}

std::variant<ServerList, Fault> parse_server_list(std::string_view text) {
  text = trimmed(text);
  if (text.find("${") != std::string_view::npos) {
    return Fault{in_quotes(text) + " has a placeholder, and nothing here replaces it",
                 "write the servers, or have the application or $FORELOCK_ZOOKEEPER of the command set them"};
  }
  if (text.substr(0, text.find('/')).find(';') != std::string_view::npos) {
    return Fault{in_quotes(text) + " has a ';'", "separate servers by ',': " + std::string(example)};
  }
  if (const std::size_t scheme = text.find("://"); scheme != std::string_view::npos) {
    return Fault{in_quotes(text.substr(0, scheme + 3)) + " has no place in a list of servers", std::string(example)};
  }
  if (text.find('|') != std::string_view::npos) {
    return Fault{in_quotes(text) + " has a '|'",
                 "a client uses one ensemble, whose servers are separated by ','; docs/scale.md tells how to divide "
                 "monitors over several"};
  }
  return parse_servers_and_chroot(text);
}

}  // namespace forelock::config
