#include "http/server_url.h"

#include <arpa/inet.h>
#include <curl/curl.h>

#include <memory>

namespace forelock::http {
namespace {

struct Cleanup {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

bool has(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  const bool found = curl_url_get(url, part, &text, 0) == CURLUE_OK;
  curl_free(text);
  return found;
}

std::string part_of(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, 0) != CURLUE_OK) return {};
  std::string result(text);
  curl_free(text);
  return result;
}

// By its name alone: what a name server says of another one may be wrong.
bool is_this_machine(const std::string& host) {
  unsigned char address[4];
  const bool loopback = inet_pton(AF_INET, host.c_str(), address) == 1 && address[0] == 127;
  return loopback || host == "localhost" || host == "[::1]";
}

bool has_scheme(const std::string& text) {
  return text.starts_with("http://") || text.starts_with("https://");
}

}  // namespace

std::variant<ServerUrl, UrlFault> parse_server_url(const std::string& text) {
  const std::unique_ptr<CURLU, Cleanup> url(curl_url());
  const bool parsed = url && has_scheme(text) && curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) == CURLUE_OK;
  if (parsed && (has(url.get(), CURLUPART_USER) || has(url.get(), CURLUPART_PASSWORD))) {
    return UrlFault{"the URL has credentials in it, which everyone on this machine can read",
                    "give them in a file of mode 0600, or in the environment"};
  }
  if (!parsed) {
    // It may hold credentials all the same, so it is not quoted.
    return UrlFault{"that is no URL of a server", "one such as https://search.example:9200"};
  }
  if (has(url.get(), CURLUPART_QUERY) || has(url.get(), CURLUPART_FRAGMENT)) {
    return UrlFault{"the URL has more than a server and a path", "leave out what begins with ? or #"};
  }
  char* whole = nullptr;
  if (curl_url_get(url.get(), CURLUPART_URL, &whole, 0) != CURLUE_OK) {
    return UrlFault{"that is no URL of a server", "one such as https://search.example:9200"};
  }
  ServerUrl result{
      whole, part_of(url.get(), CURLUPART_SCHEME) != "https" && !is_this_machine(part_of(url.get(), CURLUPART_HOST))};
  curl_free(whole);
  while (result.text.ends_with('/')) result.text.pop_back();
  return result;
}

}  // namespace forelock::http
