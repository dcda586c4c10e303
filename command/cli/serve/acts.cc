#include "cli/serve/acts.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/thread_start.h"
#include "cli/failure.h"
#include "cli/monitors/forced_release.h"
#include "cli/output/json_output.h"

namespace forelock::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_orders = 16;
constexpr std::size_t longest_reason = 1000;

web::Response said(unsigned status, const Json& json) {
  return {status, "application/json", json_text(json) + '\n', false};
}

web::Response refused(unsigned status, const char* code, const std::string& message) {
  return said(status, {{"error", {{"code", code}, {"message", message}}}});
}

std::string text_in(const Json& json, const char* name) {
  const auto found = json.is_object() ? json.find(name) : json.end();
  return json.is_object() && found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

Acts::Acts(Client& client, std::chrono::milliseconds patience, const Console& console, Released released)
    : client_(client), patience_(patience), console_(console), released_(std::move(released)) {}

Acts::~Acts() {
  stop();
}

void Acts::start() {
  thread_ = base::start_thread("forelock-acts", [this] { work(); });
}

bool Acts::release(const std::string& monitor, const std::string& body, const std::string& admin, Answer answer) {
  const std::lock_guard guard(mutex_);
  if (stop_ || orders_.size() >= most_orders) return false;
  orders_.push_back({monitor, body, admin, std::move(answer)});
  changed_.notify_all();
  return true;
}

void Acts::begin_stop() {
  const std::lock_guard guard(mutex_);
  stop_ = true;
  changed_.notify_all();
}

void Acts::stop() {
  begin_stop();
  if (thread_.joinable()) thread_.join();
}

void Acts::work() {
  std::unique_lock guard(mutex_);
  while (true) {
    changed_.wait(guard, [this] { return stop_ || !orders_.empty(); });
    if (stop_) return;
    const Order order = std::move(orders_.front());
    orders_.pop_front();
    guard.unlock();
    order.answer(done(order));
    guard.lock();
  }
}

web::Response Acts::done(const Order& order) {
  const Json body = Json::parse(order.body, nullptr, false);
  const std::string holder = text_in(body, "holder");
  const std::string reason = text_in(body, "reason");
  // Names of nodes come again, and tokens do not: who acts on what a page shows names both.
  if (holder.find('@') == std::string::npos)
    return refused(400, "invalid_argument", "\"holder\" is missing: its node and token, as in A-0000000003@4294967301");
  if (reason.find_first_not_of(" \t\r\n") == std::string::npos || reason.size() > longest_reason)
    return refused(400, "invalid_argument", "\"reason\" is missing, or longer than 1000 bytes");
  try {
    const ReleaseReport report =
        force_release(client_, patience_, console_,
                      {"release", order.monitor, holder, reason, order.admin + " (admin of forelock serve)"});
    switch (report.outcome) {
      case ReleaseOutcome::released:
        ++count_;
        if (report.before) released_(order.monitor, *report.before, order.admin + ": " + reason);
        return said(200, {{"monitor", order.monitor}, {"holder", holder}, {"released", true}, {"reason", reason}});
      case ReleaseOutcome::holder_changed:
        return refused(409, "holder_changed", "nothing was done: " + holder + " does not hold it");
      case ReleaseOutcome::no_such_monitor:
        return refused(404, "unknown_monitor", "there is no such monitor");
      case ReleaseOutcome::unknown:
        return refused(502, "unknown", "it may have been released: the server's answer is lost");
    }
  } catch (...) {
    const Failure failure = failure_of(std::current_exception());
    return refused(502, failure.code.c_str(), "nothing was done: " + failure.message);
  }
  return refused(500, "internal", "the request failed");
}

}  // namespace forelock::cli
