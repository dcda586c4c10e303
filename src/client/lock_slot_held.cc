// What a lock slot knows and does while the lock is held.
#include <algorithm>
#include <chrono>
#include <future>
#include <type_traits>
#include <utility>

#include "client/acquisition_error.h"
#include "client/clock.h"
#include "client/lock_health.h"
#include "client/lock_slot.h"
#include "client/reply_error.h"
#include "lock/child_name.h"
#include "lock/monitor_name.h"

namespace forelock::client {

using coordination::Operation;
using coordination::Reply;
using coordination::ReplyCode;

namespace {

std::string lock_path(const std::string& node_name) {
  return "/" + node_name + "/" + std::string(lock::private_lock_name);
}

Operation to_operation(const WriteOperation& write) {
  return std::visit(
      [](const auto& operation) -> Operation {
        using Kind = std::decay_t<decltype(operation)>;
        if constexpr (std::is_same_v<Kind, CreateNode>) {
          return coordination::Create{operation.path, operation.data, coordination::CreateMode::persistent};
        } else if constexpr (std::is_same_v<Kind, SetNode>) {
          return coordination::SetData{operation.path, operation.data, operation.version};
        } else if constexpr (std::is_same_v<Kind, DeleteNode>) {
          return coordination::Delete{operation.path, operation.version};
        } else {
          return coordination::Check{operation.path, operation.version};
        }
      },
      write);
}

}  // namespace

LockState LockSlot::state() const {
  switch (phase_.load(std::memory_order_acquire)) {
    case Phase::free:
      return LockState::free;
    case Phase::waiting:
      return LockState::waiting;
    case Phase::releasing:
      return LockState::free;
    case Phase::lost:
      return LockState::lost;
    case Phase::held:
      break;
  }
  return state_of_held(*core_, [this] { return holds(); });
}

bool LockSlot::healthy() const noexcept {
  return is_healthy(*core_, [this] { return holds(); });
}

void LockSlot::check_health() const {
  if (healthy()) return;
  const Phase phase = phase_.load();
  std::string why = "is not held";
  if (phase == Phase::held) why = "cannot be proved to be held: its session may have ended";
  if (phase == Phase::lost) {
    const std::lock_guard guard(mutex_);
    why = "is lost (" + std::string(name_of(loss_)) + ")";
  }
  throw LockUnhealthyException(ErrorCode::lock_unhealthy, monitor_, "the lock on " + monitor_ + " " + why,
                               "stop the work that it protects; another client may hold the lock");
}

std::chrono::steady_clock::time_point LockSlot::expires_at() const noexcept {
  if (!holds()) return {};
  return to_steady(lock::TimePoint(std::chrono::nanoseconds(core_->valid_until())));
}

std::stop_token LockSlot::stop_token() {
  const std::lock_guard guard(mutex_);
  if (token_.load() == 0) return {};
  if (!stop_) {
    stop_.emplace();
    if (phase_.load() == Phase::lost) stop_->request_stop();
  }
  return stop_->get_token();
}

OwnerRecord LockSlot::owner() const {
  const std::lock_guard guard(mutex_);
  return record_;
}

void LockSlot::alive(std::chrono::milliseconds expected) {
  check_health();
  std::string json;
  lock::ContenderId contender = 0;
  {
    const std::lock_guard guard(mutex_);
    const WallTime time = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
    record_.expected_runtime = expected;
    record_.alert_at = time + expected;
    if (options_.auto_unlock_after) record_.auto_unlock_at = time + *options_.auto_unlock_after;
    record_.linger.reset();                 // it ends with the section that the record speaks of
    record_.fencing_token = token_.load();  // readers cannot take it from the transaction any more
    json = record_.to_json();
    contender = contender_;
  }
  if (!core_->update_record(*this, contender, std::move(json))) check_health();
}

// --- guarded writes ---

std::vector<WriteResult> LockSlot::write_guarded(const std::vector<WriteOperation>& operations) {
  check_health();
  std::vector<Operation> converted;
  converted.reserve(operations.size());
  for (const WriteOperation& operation : operations) converted.push_back(to_operation(operation));
  lock::ContenderId contender = 0;
  std::string guid;
  {
    const std::lock_guard guard(mutex_);
    contender = contender_;
    guid = record_.guid;
  }
  const auto promise = std::make_shared<std::promise<Reply>>();
  auto answer = promise->get_future();
  const auto lost_connection = [this](std::string_view outcome) {
    throw ConnectionLossException(
        ErrorCode::connection_loss, monitor_,
        "no answer from ZooKeeper to a guarded write under " + monitor_ + ": " + std::string(outcome));
  };
  const bool sent = core_->guarded_transaction(*this, contender, std::move(converted),
                                               [promise](Reply reply) { promise->set_value(std::move(reply)); });
  const auto not_ours = [this] {
    throw LockUnhealthyException(ErrorCode::lock_unhealthy, monitor_,
                                 "the lock on " + monitor_ + " is not ours any more; nothing was written");
  };
  if (!sent) {
    check_health();
    if (!core_->connected()) lost_connection("there is no connection, nothing was written");
    // What became of an earlier request is being found out, or the lock was removed a moment ago.
    if (still_ours(contender, guid) == std::optional(false)) not_ours();
    lost_connection("whether the lock is still ours is being found out, nothing was written");
  }
  if (answer.wait_for(core_->settings().session_timeout()) != std::future_status::ready) {
    lost_connection("it may or may not have been committed");
  }
  const Reply reply = answer.get();
  if (reply.ok()) {
    std::vector<WriteResult> results(operations.size());
    const std::size_t guards = reply.operations.size() - operations.size();
    for (std::size_t i = 0; i < results.size(); ++i) results[i].version = reply.operations[guards + i].stat.version;
    return results;
  }
  switch (reply.code) {
    case ReplyCode::no_node:
    case ReplyCode::bad_version:
    case ReplyCode::node_exists:
    case ReplyCode::not_empty:
      // The server says that something was refused, not what: the check of the lock, or one of the caller's own.
      if (const auto ours = still_ours(contender, guid); !ours) {
        lost_connection("nothing was written, and whether the lock is still ours is not known");
      } else if (!*ours) {
        not_ours();
      }
      throw RequestRejectedException(ErrorCode::write_conflict, monitor_,
                                     "a guarded write under " + monitor_ + " was refused: " +
                                         std::string(reason_of(reply.code)) + "; nothing was written");
    case ReplyCode::connection_loss:
      lost_connection("it may or may not have been committed");
      [[fallthrough]];
    default:
      throw_reply_error(reply.code, monitor_, "guarded write under " + monitor_);
  }
}

std::optional<bool> LockSlot::still_ours(lock::ContenderId contender, const std::string& guid) {
  auto answer = core_->request(coordination::Get{lock_path(node_name_), false});
  if (answer.wait_for(core_->settings().session_timeout()) != std::future_status::ready) return std::nullopt;
  const Reply reply = answer.get();
  if (reply.code == ReplyCode::no_node) return false;
  if (!reply.ok()) return std::nullopt;
  if (reply.data.find(guid) == std::string::npos) return false;
  const std::lock_guard guard(mutex_);
  return phase_.load() == Phase::held && contender_ == contender;
}

// --- callbacks ---

void LockSlot::on_lost(std::function<void(LossReason)> callback) {
  const std::lock_guard guard(mutex_);
  on_lost_ = std::move(callback);
}

void LockSlot::on_danger(std::chrono::milliseconds margin, std::function<void()> callback) {
  // A larger margin would be reached on a good connection too.
  if (margin <= std::chrono::milliseconds(0) || margin > core_->settings().session_timeout() / 3) {
    throw RequestRejectedException(
        ErrorCode::invalid_argument, monitor_,
        "the danger margin must be more than 0 and at most a third of the session time-out of " +
            std::to_string(core_->settings().session_timeout().count()) + " ms");
  }
  lock::ContenderId holder = 0;
  {
    const std::lock_guard guard(mutex_);
    danger_margin_ = margin;
    on_danger_ = std::move(callback);
    if (holds()) holder = contender_;
  }
  if (holder != 0) core_->watch_danger(holder, margin);
}

void LockSlot::on_queued(std::function<void(const QueuePosition&)> callback) {
  const std::lock_guard guard(mutex_);
  on_queued_ = std::move(callback);
}

void LockSlot::on_contended(std::function<void(Priority)> callback) {
  const std::lock_guard guard(mutex_);
  on_contended_ = std::move(callback);
}

// --- what went wrong ---

NoNodeException LockSlot::not_held() const {
  return {ErrorCode::not_held, monitor_, "unlock of " + monitor_ + ", which this lock object does not hold"};
}

std::exception_ptr LockSlot::error_of(const lock::Refusal& refusal, bool look_at_holder) const {
  client::Acquisition acquisition{.monitor = monitor_, .node_name = node_name_};
  {
    const std::lock_guard guard(mutex_);
    acquisition.guid = record_.guid;
    acquisition.since = waiting_since_;
    acquisition.deadline = deadline_;
  }
  return client::error_of(*core_, acquisition, refusal, look_at_holder);
}

}  // namespace forelock::client
