#include "http/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

namespace forelock::http {
namespace {

struct CurlCleanup {
  void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
};
using Curl = std::unique_ptr<CURL, CurlCleanup>;

struct ListCleanup {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using List = std::unique_ptr<curl_slist, ListCleanup>;

void append(List& list, const std::string& line) {
  curl_slist* const longer = curl_slist_append(list.get(), line.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  static_cast<void>(list.release());
  list.reset(longer);
}

std::size_t take_body(char* data, std::size_t size, std::size_t count, void* target) noexcept {
  auto& body = *static_cast<std::string*>(target);
  const std::size_t bytes = size * count;
  try {
    body.append(data, std::min(bytes, HttpResponse::max_body_bytes - body.size()));
  } catch (const std::bad_alloc&) {
    return 0;  // the request fails
  }
  return bytes;
}

struct Library {
  Library() { curl_global_init(CURL_GLOBAL_DEFAULT); }
};

bool is_plain(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

}  // namespace

class HttpClient::Connections {
 public:
  Connections(ServerUrl url, HttpOptions options) : url_(std::move(url.text)), options_(std::move(options)) {
    static const Library once;
  }

  const std::string& url() const { return url_; }

  Curl take() {
    {
      const std::lock_guard hold(mutex_);
      if (!idle_.empty()) {
        Curl curl = std::move(idle_.back());
        idle_.pop_back();
        return curl;
      }
    }
    Curl curl(curl_easy_init());
    if (!curl) throw std::bad_alloc();
    return curl;
  }

  void give_back(Curl curl) {
    curl_easy_reset(curl.get());  // its connections stay
    const std::lock_guard hold(mutex_);
    idle_.push_back(std::move(curl));
  }

  void set_server(CURL* curl, const std::string& whole) const {
    curl_easy_setopt(curl, CURLOPT_URL, whole.c_str());
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);  // there are other threads
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_timeout.count()));
    if (!options_.ca_file.empty()) {
      curl_easy_setopt(curl, CURLOPT_CAINFO, options_.ca_file.c_str());
      curl_easy_setopt(curl, CURLOPT_CAPATH, nullptr);
    }
    if (!options_.credentials.empty()) {
      curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
      curl_easy_setopt(curl, CURLOPT_USERPWD, options_.credentials.c_str());
    }
  }

 private:
  const std::string url_;
  const HttpOptions options_;
  std::mutex mutex_;
  std::vector<Curl> idle_;  // as many as there were threads at once
};

HttpClient::HttpClient(ServerUrl url, HttpOptions options)
    : connections_(std::make_unique<Connections>(std::move(url), std::move(options))) {}

HttpClient::~HttpClient() = default;

const std::string& HttpClient::url() const {
  return connections_->url();
}

HttpResponse HttpClient::send(const HttpRequest& request) {
  Curl curl = connections_->take();
  HttpResponse response;
  char problem[CURL_ERROR_SIZE] = "";
  List headers;
  for (const std::string& header : request.headers) append(headers, header);
  connections_->set_server(curl.get(), connections_->url() + request.path);
  if (!request.body.empty()) {
    append(headers, "Content-Type: " + request.content_type);
    append(headers, "Expect:");
    curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, request.body.c_str());
  }
  if (request.method == "HEAD") curl_easy_setopt(curl.get(), CURLOPT_NOBODY, 1L);
  if (request.once) curl_easy_setopt(curl.get(), CURLOPT_FRESH_CONNECT, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_CUSTOMREQUEST, request.method.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count()));
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, &take_body);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &response.body);
  curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, problem);
  const CURLcode code = curl_easy_perform(curl.get());
  if (code == CURLE_OK) {
    curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &response.status);
  } else {
    response.body.clear();
    response.problem = problem[0] != '\0' ? problem : curl_easy_strerror(code);
  }
  connections_->give_back(std::move(curl));
  return response;
}

std::string percent_encoded(std::string_view text) {
  constexpr char digits[] = "0123456789ABCDEF";
  std::string result;
  for (const char letter : text) {
    const auto c = static_cast<unsigned char>(letter);
    if (is_plain(c)) {
      result += letter;
    } else {
      result += '%';
      result += digits[c >> 4];
      result += digits[c & 15];
    }
  }
  return result;
}

}  // namespace forelock::http
