// A ServerUrl is the address of a server as a person gives it.
#pragma once

#include <string>
#include <variant>

namespace forelock::http {

// Without anything behind its path, and without a '/' at its end: "https://search.example:9200/prefix".
struct ServerUrl {
  std::string text;
  bool in_clear = false;  // what is sent there is not encrypted, and leaves this machine
};

// Why a text is no address of a server; never quotes credentials.
struct UrlFault {
  std::string message;
  std::string hint;
};

// Takes http:// and https:// with a host, perhaps a port and a path; no credentials, parameters or fragment.
std::variant<ServerUrl, UrlFault> parse_server_url(const std::string& text);

}  // namespace forelock::http
