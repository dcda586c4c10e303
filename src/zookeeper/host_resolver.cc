#include "zookeeper/host_resolver.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>

namespace forelock::zookeeper {
namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

std::string error_text(int code) {
  return code == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(code);
}

int look_up(const std::string& host, int flags, AddressList& list) {
  addrinfo hints{};
  hints.ai_flags = flags;
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int code = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  list.reset(code == 0 ? found : nullptr);
  return code;
}

}  // namespace

HostAddresses resolve_host(const std::string& host) {
  HostAddresses result;
  AddressList list(nullptr, &freeaddrinfo);
  // First without families that this machine has no address of: they would only cost failed connection attempts. That
  // filter also refuses loopback addresses on a machine that has nothing else, hence the second try: after an answer
  // that there is no such address, not after none at all.
  int code = look_up(host, AI_ADDRCONFIG, list);
  if (code == EAI_NONAME || code == EAI_NODATA || code == EAI_ADDRFAMILY) code = look_up(host, 0, list);
  if (code != 0) {
    result.error = error_text(code);
    return result;
  }
  for (const addrinfo* each = list.get(); each != nullptr; each = each->ai_next) {
    char text[NI_MAXHOST];
    const int named = getnameinfo(each->ai_addr, each->ai_addrlen, text, sizeof(text), nullptr, 0, NI_NUMERICHOST);
    if (named != 0) {
      result.error = error_text(named);
    } else if (std::find(result.numeric.begin(), result.numeric.end(), text) == result.numeric.end()) {
      result.numeric.emplace_back(text);
    }
  }
  if (!result.numeric.empty()) {
    result.error.clear();
  } else if (result.error.empty()) {
    result.error = "no address";
  }
  return result;
}

std::optional<std::string> numeric_address(const std::string& host) {
  AddressList list(nullptr, &freeaddrinfo);
  if (look_up(host, AI_NUMERICHOST, list) != 0) return std::nullopt;
  char text[NI_MAXHOST];
  if (getnameinfo(list->ai_addr, list->ai_addrlen, text, sizeof(text), nullptr, 0, NI_NUMERICHOST) != 0) return host;
  return text;
}

std::string client_address_list(const std::vector<ResolvedServer>& servers) {
  std::set<std::string> addresses;
  for (const ResolvedServer& each : servers) {
    // The client cuts at the last colon, so an IPv6 address goes without brackets.
    for (const std::string& numeric : each.addresses.numeric) {
      addresses.insert(numeric + ":" + std::to_string(each.server.port));
    }
  }
  std::string list;
  for (const std::string& address : addresses) list += (list.empty() ? "" : ",") + address;
  return list;
}

std::string failures_of(const std::vector<ResolvedServer>& servers) {
  std::string text;
  for (const ResolvedServer& each : servers) {
    if (each.addresses.error.empty()) continue;
    text += (text.empty() ? "" : "; ") + each.server.host + ": " + each.addresses.error;
  }
  return text;
}

}  // namespace forelock::zookeeper
