#include "zookeeper/connect_string.h"

#include <charconv>

#include "zookeeper/namespace_prefix.h"

namespace forelock::zookeeper {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

[[noreturn]] void fail(std::string_view part, std::string_view problem) {
  throw ConnectStringError("ZooKeeper servers: '" + std::string(part) + "' " + std::string(problem) +
                           "; expected host:port,host:port[/chroot], for example zk1:2181,zk2:2181/forelock");
}

std::uint16_t parse_port(std::string_view part, std::string_view digits) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size() || port == 0) {
    fail(part, "has no valid port (1 to 65535)");
  }
  return port;
}

ServerName parse_server(std::string_view part) {
  ServerName server;
  std::string_view rest;
  if (part.front() == '[') {
    const auto close = part.find(']');
    if (close == std::string_view::npos) fail(part, "lacks the closing bracket of an IPv6 address");
    server.host = part.substr(1, close - 1);
    rest = part.substr(close + 1);
    if (!rest.empty() && rest.front() != ':') fail(part, "has something between the bracket and the port");
  } else {
    const auto colon = part.find(':');
    if (colon != std::string_view::npos && part.find(':', colon + 1) != std::string_view::npos) {
      fail(part, "has several colons: an IPv6 address needs brackets, as in [::1]:2181");
    }
    server.host = part.substr(0, colon);
    if (colon != std::string_view::npos) rest = part.substr(colon);
  }
  if (server.host.empty()) fail(part, "names no host");
  if (server.host.find_first_of(" \t") != std::string::npos) fail(part, "has a blank inside the host name");
  if (!rest.empty()) server.port = parse_port(part, rest.substr(1));
  return server;
}

}  // namespace

std::string to_string(const ServerName& server) {
  const bool ipv6 = server.host.find(':') != std::string::npos;
  return (ipv6 ? "[" + server.host + "]" : server.host) + ":" + std::to_string(server.port);
}

ConnectString parse_connect_string(std::string_view text) {
  ConnectString result;
  const auto slash = text.find('/');
  std::string_view hosts = text.substr(0, slash);
  if (slash != std::string_view::npos) {
    std::string_view chroot = trimmed(text.substr(slash));
    while (!chroot.empty() && chroot.back() == '/') chroot.remove_suffix(1);
    if (!chroot.empty() && !is_valid_path(chroot)) fail(chroot, "is no valid node path for a chroot");
    result.chroot = chroot;
  }
  while (!hosts.empty()) {
    const auto comma = hosts.find(',');
    const std::string_view part = trimmed(hosts.substr(0, comma));
    if (!part.empty()) result.servers.push_back(parse_server(part));
    hosts = comma == std::string_view::npos ? std::string_view{} : hosts.substr(comma + 1);
  }
  if (result.servers.empty()) fail(text, "names no server");
  return result;
}

}  // namespace forelock::zookeeper
