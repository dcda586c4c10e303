// An HttpClient sends requests to one server.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/server_url.h"

namespace forelock::http {

struct HttpOptions {
  std::string ca_file;      // certificates that are trusted, in PEM; empty: the system's
  std::string credentials;  // "user:password" for basic authentication; empty: none
  std::chrono::milliseconds connect_timeout{5000};
};

struct HttpRequest {
  std::string method;
  std::string path;                  // begins with '/'; encoded
  std::vector<std::string> headers;  // "Name: value"
  std::string body;                  // sent where it is not empty
  std::string content_type = "application/json";
  // A connection that is kept may turn out to be closed, and then the request is sent again; this one never is.
  bool once = false;
  std::chrono::milliseconds timeout{30'000};
};

struct HttpResponse {
  static constexpr std::size_t max_body_bytes = 64 * 1024;

  long status = 0;      // 0: there was no answer, and what was asked for may have been done or not
  std::string body;     // what is beyond the limit is dropped
  std::string problem;  // why there was no answer, for people
};

// Keeps connections for later requests. Goes to the server of its URL alone: follows no redirection, uses no proxy of
// the environment. A server's certificate and name are always checked. Thread-safe.
class HttpClient {
 public:
  HttpClient(ServerUrl url, HttpOptions options);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  const std::string& url() const;

  // Blocks, at most for the request's time-out.
  HttpResponse send(const HttpRequest& request);

 private:
  class Connections;
  std::unique_ptr<Connections> connections_;
};

// Everything but letters, digits, '-' and '_' as %XX: no text can end a segment or a parameter, or be one of the
// segments "." and "..", which some servers take out.
std::string percent_encoded(std::string_view text);

}  // namespace forelock::http
