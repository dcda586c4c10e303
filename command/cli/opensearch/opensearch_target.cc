#include "cli/opensearch/opensearch_target.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "cli/exit_code.h"

namespace forelock::cli {
namespace {

using drain::TryOutcome;
using drain::TryResult;
constexpr long unauthorized = 401;
constexpr long forbidden = 403;
constexpr long not_found = 404;
constexpr long conflict = 409;
constexpr long too_many_requests = 429;

// A text at this place of an object of objects; empty if there is none.
std::string text_at(const nlohmann::json& json, std::initializer_list<const char*> names) {
  const nlohmann::json* place = &json;
  for (const char* name : names) {
    if (!place->is_object()) return {};
    const auto found = place->find(name);
    if (found == place->end()) return {};
    place = &*found;
  }
  return place->is_string() ? place->get<std::string>() : std::string();
}

// What a bulk of one update came to; an empty object, if that is not in the answer.
nlohmann::json only_item(const nlohmann::json& json) {
  const nlohmann::json none = nlohmann::json::object();
  if (!json.is_object() || !json.contains("items") || !json["items"].is_array() || json["items"].size() != 1) {
    return none;
  }
  const nlohmann::json& item = json["items"].front();
  if (!item.is_object() || item.size() != 1 || !item.front().is_object()) return none;
  const nlohmann::json& outcome = item.front();  // of "update", or of "index" where a pipeline failed
  return outcome.contains("status") && outcome["status"].is_number_integer() ? outcome : none;
}

// "409 lock_timeout: the lock on P1 …", as far as the answer says it.
std::string describe(long status, const nlohmann::json& json) {
  std::string text = "OpenSearch answers " + std::to_string(status);
  const std::string code = text_at(json, {"error", "forelock_code"});
  const std::string type = code.empty() ? text_at(json, {"error", "type"}) : code;
  if (!type.empty()) text += ' ' + type;
  std::string reason = text_at(json, {"error", "reason"});
  // What does not fit a field is quoted behind this; a letter's contents are shown only where they are asked for.
  reason.resize(std::min(reason.size(), reason.find(" Preview of field's value")));
  if (!reason.empty()) text += ": " + reason;
  return text;
}

[[noreturn]] void fail(int exit_code, std::string code, std::string message, std::string hint, bool retryable) {
  throw FailureException({exit_code, std::move(code), std::move(message), std::move(hint), {}, retryable, {}});
}

}  // namespace

OpenSearchTarget::OpenSearchTarget(http::ServerUrl url, http::HttpOptions options,
                                   std::chrono::milliseconds lock_timeout, std::stop_source stop)
    : client_(std::move(url), std::move(options)), lock_timeout_(lock_timeout), stop_(std::move(stop)) {
  look_for_plugin();
}

void OpenSearchTarget::look_for_plugin() {
  http::HttpRequest request;
  request.method = "GET";
  // Of many nodes the whole would be more than is kept.
  request.path = "/_plugins/_forelock/stats?filter_path=cluster_name,nodes.*.name";
  const http::HttpResponse response = client_.send(request);
  if (response.status == 0) {
    fail(exit_unavailable, "opensearch_unavailable",
         "OpenSearch at " + client_.url() + " does not answer: " + response.problem,
         "check that it runs there, and that its certificate is trusted", true);
  }
  if (response.status == unauthorized || response.status == forbidden) {
    not_authorized_ = true;
    throw FailureException(authorization_failure());
  }
  const nlohmann::json json = nlohmann::json::parse(response.body, nullptr, false);
  if (response.status >= 500 || response.status == too_many_requests) {
    fail(exit_unavailable, "opensearch_unavailable", describe(response.status, json), "", true);
  }
  if (response.status != 200 || !json.is_object() || !json.contains("nodes")) {
    fail(exit_failed, "no_plugin", "there is no node with the plugin forelock at " + client_.url(),
         "letters are written under their lock alone: name a node that has the plugin", false);
  }
}

Failure OpenSearchTarget::authorization_failure() const {
  return {exit_not_authorized,
          "not_authorized",
          "OpenSearch at " + client_.url() + " does not permit it",
          "give credentials with --opensearch-credentials FILE or in FORELOCK_OPENSEARCH_CREDENTIALS",
          {},
          false,
          {}};
}

TryResult OpenSearchTarget::operator()(const drain::StoredLetter& letter) {
  if (stop_.stop_requested()) return {TryOutcome::later, "stopped"};
  if (letter.letter.type != opensearch_write_type) return {TryOutcome::later, "its type is not of the plugin"};
  auto made = write_request(letter.letter.payload, lock_timeout_);
  if (const auto* fault = std::get_if<PayloadFault>(&made)) {
    return {fault->too_new ? TryOutcome::later : TryOutcome::failed, fault->message};
  }
  auto& write = std::get<WriteRequest>(made);
  const std::optional<bool> found = has_index(write.index_path);
  if (!found) return {TryOutcome::later, "no answer from OpenSearch to the question for the index"};
  if (!*found) return {TryOutcome::later, "its index is not there"};
  write.request.headers = {"X-Forelock-Priority: background", "X-Forelock-Required: true"};
  return judge(write, client_.send(write.request));
}

std::optional<bool> OpenSearchTarget::has_index(const std::string& path) {
  {
    const std::lock_guard hold(mutex_);
    if (indices_.contains(path)) return true;
  }
  http::HttpRequest request;
  request.method = "HEAD";
  request.path = path;
  const long status = client_.send(request).status;
  if (status == 0) return std::nullopt;
  if (status == 200) {
    const std::lock_guard hold(mutex_);
    indices_.insert(path);
  }
  return status != not_found;  // who may write need not be permitted to ask; the write says it then
}

TryResult OpenSearchTarget::judge(const WriteRequest& write, const http::HttpResponse& response) {
  if (response.status == 0) return {TryOutcome::later, "no answer from OpenSearch: " + response.problem};
  nlohmann::json json = nlohmann::json::parse(response.body, nullptr, false);
  long status = response.status;
  if (write.is_bulk && status == 200) {
    json = only_item(json);
    status = json.value("status", status);
  }
  const std::string result = text_at(json, {"result"});
  const bool ours = text_at(json, {"_id"}) == write.id;
  if (status == 200 || status == 201) {
    const bool confirmed = result == "created" || result == "updated" || result == "deleted" || result == "noop";
    if (ours && confirmed) return {TryOutcome::done, {}};
    return {TryOutcome::later, describe(status, json) + ", but does not confirm the write: is it OpenSearch?"};
  }
  if (status == not_found && ours && result == "not_found") return {TryOutcome::done, {}};
  if (status == unauthorized) {
    not_authorized_ = true;
    stop_.request_stop();
  }
  const bool passes = status < 400 || status == unauthorized || status == forbidden || status == too_many_requests ||
                      status >= 500 || text_at(json, {"error", "type"}) == "index_not_found_exception" ||
                      (status == conflict && !text_at(json, {"error", "forelock_code"}).empty());
  return {passes ? TryOutcome::later : TryOutcome::failed, describe(status, json)};
}

}  // namespace forelock::cli
