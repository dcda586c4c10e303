#include "cli/opensearch/opensearch_options.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <variant>

#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/hints.h"
#include "config/private_file.h"

namespace forelock::cli {
namespace {

constexpr const char* variable = "FORELOCK_OPENSEARCH_CREDENTIALS";
constexpr std::size_t max_credentials_bytes = 4096;

[[noreturn]] void refuse(const std::string& message, const std::string& hint) {
  throw FailureException({exit_configuration, "configuration", message, hint, {}, false, {}});
}

}  // namespace

void OpenSearchOptions::add_to(CLI::App& app) {
  app.add_option("--to-opensearch", url_,
                 "Do the writes of the plugin for OpenSearch again, under their locks, through this node")
      ->type_name("URL");
  app.add_option("--opensearch-credentials", credentials_file_,
                 "A file of mode 0600 with user:password [$FORELOCK_OPENSEARCH_CREDENTIALS]")
      ->type_name("FILE");
  app.add_option("--opensearch-ca", ca_file_, "Certificates to be trusted, in PEM, instead of the system's")
      ->type_name("FILE");
}

void OpenSearchOptions::check() const {
  if (given()) {
    static_cast<void>(server());
  } else if (!ca_file_.empty() || !credentials_file_.empty()) {
    throw_usage("replay: --opensearch-ca and --opensearch-credentials are for --to-opensearch");
  }
}

http::ServerUrl OpenSearchOptions::server() const {
  const auto parsed = http::parse_server_url(url_);
  if (const auto* fault = std::get_if<http::UrlFault>(&parsed)) {
    throw_usage("replay: --to-opensearch: " + fault->message, fault->hint);
  }
  return std::get<http::ServerUrl>(parsed);
}

http::HttpOptions OpenSearchOptions::http() const {
  http::HttpOptions options;
  options.ca_file = ca_file_;
  if (!credentials_file_.empty()) {
    auto read = config::read_private_file(credentials_file_, max_credentials_bytes, "a file with user:password");
    if (const auto* fault = std::get_if<config::Fault>(&read)) {
      refuse("--opensearch-credentials " + credentials_file_ + ": " + fault->message, fault->hint);
    }
    options.credentials = std::get<std::string>(read);
  } else if (const char* const given = std::getenv(variable)) {
    options.credentials = given;
  }
  const std::string& credentials = options.credentials;
  const std::string origin = credentials_file_.empty() ? variable : credentials_file_;
  if (credentials.size() > max_credentials_bytes || credentials.find_first_of("\r\n") != std::string::npos ||
      (credentials.empty() ? !credentials_file_.empty() : credentials.find(':') == std::string::npos)) {
    refuse(origin + " holds no credentials", "one line such as user:password");
  }
  if (!credentials.empty() && server().in_clear) {
    refuse("the credentials of " + origin + " would go unencrypted to " + server().text, "name it with https://");
  }
  return options;
}

std::string OpenSearchOptions::words() const {
  std::string text = " --to-opensearch " + shell_quoted(url_);
  if (!credentials_file_.empty()) text += " --opensearch-credentials " + shell_quoted(credentials_file_);
  if (!ca_file_.empty()) text += " --opensearch-ca " + shell_quoted(ca_file_);
  return text;
}

}  // namespace forelock::cli
