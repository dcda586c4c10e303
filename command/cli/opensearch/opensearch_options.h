// OpenSearchOptions are the options of a command that name an OpenSearch server, and how it is spoken to.
#pragma once

#include <string>

#include "http/http_client.h"

namespace CLI {
class App;
}

namespace forelock::cli {

class OpenSearchOptions {
 public:
  // Declares them; they are filled in by the parser, so this object must outlive it.
  void add_to(CLI::App& app);

  bool given() const { return !url_.empty(); }
  const std::string& url() const { return url_; }

  // \throws FailureException for options without a URL, or one that is invalid.
  void check() const;
  // After check(). \throws as that.
  http::ServerUrl server() const;
  // Reads the credentials. \throws FailureException if they cannot be read, if others can read them too, or if they
  // would go unencrypted to another machine.
  http::HttpOptions http() const;

  // The same options as words of a command line, each with a blank before it; no secret is among them.
  std::string words() const;

 private:
  std::string url_;
  std::string ca_file_;
  std::string credentials_file_;
};

}  // namespace forelock::cli
