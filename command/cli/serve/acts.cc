#include "cli/serve/acts.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/thread_start.h"
#include "cli/failure.h"
#include "cli/monitors/forced_release.h"
#include "cli/monitors/wish.h"
#include "cli/serve/act_answer.h"
#include "cli/serve/letter_acts.h"

namespace forelock::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_orders = 16;
// Others wait for their acts meanwhile; a process sees a wish within a second, as a rule.
constexpr std::chrono::seconds longest_wish{5};

}  // namespace

Acts::Acts(Client& client, std::chrono::milliseconds patience, const Console& console, Released released)
    : client_(client), patience_(patience), console_(console), released_(std::move(released)) {}

Acts::~Acts() {
  stop();
}

void Acts::start() {
  thread_ = base::start_thread("forelock-acts", [this] { work(); });
}

bool Acts::ask(Order order, Answer answer) {
  const std::lock_guard guard(mutex_);
  if (stop_ || orders_.size() >= most_orders) return false;
  orders_.emplace_back(std::move(order), std::move(answer));
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
    const auto [order, answer] = std::move(orders_.front());
    orders_.pop_front();
    guard.unlock();
    answer(done(order));
    guard.lock();
  }
}

web::Response Acts::done(const Order& order) {
  const Json body = Json::parse(order.body, nullptr, false);
  const std::string reason = text_in(body, "reason");
  if (auto refusal = refusal_of_reason(reason)) return *std::move(refusal);
  const std::string by = order.admin + " (admin of forelock serve)";
  try {
    switch (order.kind) {
      case Kind::release:
        return release(order, text_in(body, "holder"), by, reason);
      case Kind::prioritize:
        return prioritize(order, text_in(body, "waiter"), text_in(body, "class"), by, reason);
      case Kind::unpark:
        return unpark_letter(letters_->settings, letters_->log, console_, order.target, by, reason);
      case Kind::forward:
        return forward_letters(letters_->settings, letters_->log, console_, by, reason);
    }
  } catch (...) {
    const Failure failure = failure_of(std::current_exception());
    return act_refused(502, failure.code, failure.message);
  }
  return act_refused(500, "internal", "the request failed");
}

web::Response Acts::release(const Order& order, const std::string& holder, const std::string& by,
                            const std::string& reason) {
  // Names of nodes come again, and tokens do not: who acts on what a page shows names both.
  if (holder.find('@') == std::string::npos) {
    return act_refused(400, "invalid_argument",
                       "\"holder\" is missing: its node and token, as in A-0000000003@4294967301");
  }
  const ReleaseReport report =
      force_release(client_, patience_, console_, {"release", order.target, holder, reason, by});
  switch (report.outcome) {
    case ReleaseOutcome::released:
      ++count_;
      if (report.before) released_(order.target, *report.before, order.admin + ": " + reason);
      return act_said({{"monitor", order.target}, {"holder", holder}, {"released", true}, {"reason", reason}});
    case ReleaseOutcome::holder_changed:
      return act_refused(409, "holder_changed", "nothing was done: " + holder + " does not hold it");
    case ReleaseOutcome::no_such_monitor:
      return act_refused(404, "unknown_monitor", "there is no such monitor");
    case ReleaseOutcome::unknown:
      break;
  }
  return act_refused(502, "unknown", "it may have been released: the server's answer is lost");
}

web::Response Acts::prioritize(const Order& order, const std::string& waiter, const std::string& wished,
                               const std::string& by, const std::string& reason) {
  const std::optional<Priority> priority = parse_priority(wished);
  if (waiter.empty() || !priority) {
    return act_refused(400, "invalid_argument",
                       "\"waiter\", a node as in B-0000000008, or \"class\", foreground or background, is missing");
  }
  const WishReport report =
      make_wish(client_, patience_, console_, {order.target, waiter, *priority, reason, by}, longest_wish);
  const auto moved = [&](const char* result) {
    return act_said({{"monitor", order.target},
                     {"waiter", waiter},
                     {"class", wished},
                     {"result", result},
                     {"node", report.waiter->node},
                     {"position", report.waiter->position}});
  };
  switch (report.outcome) {
    case WishOutcome::moved:
      return moved("moved");
    case WishOutcome::already:
      return moved("already");
    case WishOutcome::unmoved:
      return act_refused(409, "unmoved", "its process has not moved it yet; the wish stays, and it may still obey");
    case WishOutcome::granted:
    case WishOutcome::holds:
      return act_refused(409, "holds", "it has got the lock in the meantime");
    case WishOutcome::gone:
      return act_refused(409, "gone", "it has ended in the meantime");
    case WishOutcome::no_such_monitor:
      return act_refused(404, "unknown_monitor", "nothing was done: there is no such monitor");
    case WishOutcome::no_such_waiter:
      return act_refused(404, "unknown_waiter", "nothing was done: " + waiter + " does not wait there");
    case WishOutcome::no_record:
      return act_refused(409, "no_record", "nothing was done: it has left no owner record, and cannot be moved");
    case WishOutcome::too_large:
      return act_refused(409, "too_large", "nothing was done: its owner record has no room for a wish");
  }
  return act_refused(500, "internal", "the request failed");
}

}  // namespace forelock::cli
