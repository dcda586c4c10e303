#include "cli/run/command_lock.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "cli/connection.h"
#include "client/ensemble_link.h"
#include "forelock/error.h"
#include "records/instance.h"
#include "records/session_text.h"

namespace forelock::cli {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using Environment = std::vector<std::pair<std::string, std::string>>;

std::string left_text(Clock::time_point expires_at) {
  const auto left = std::chrono::duration_cast<milliseconds>(expires_at - Clock::now());
  return std::to_string(std::max<std::int64_t>(0, left.count()));
}

// The command's own spans are part of the hold; where nothing is traced it inherits what was around us.
Environment with_trace(Environment environment, const std::string& traceparent) {
  if (!traceparent.empty()) environment.emplace_back("TRACEPARENT", traceparent);
  return environment;
}

class SingleLock final : public CommandLock {
 public:
  SingleLock(Client& client, const std::string& info, const std::string& monitor, Priority priority,
             const LockOptions& options)
      : lock_(client, info, monitor, priority, options) {}

  std::string name() const override { return guarded_.name(); }
  LockState state() const override { return guarded_.state(); }
  bool healthy() const override { return guarded_.healthy(); }
  void check_health() const override { guarded_.check_health(); }
  Clock::time_point expires_at() const override { return guarded_.expires_at(); }
  std::stop_token stop_token() const override { return guarded_.stop_token(); }
  Environment environment(const Client& client) const override { return guarded_.environment(client); }

  void lock_with_timeout() override { lock_.lock_with_timeout(); }
  bool try_lock() override { return lock_.try_lock(); }
  bool try_lock_until(Clock::time_point end) override { return lock_.try_lock_until(end); }
  bool cancel() override { return lock_.cancel(); }
  bool owns_lock() const override { return lock_.owns_lock(); }
  void unlock_or_throw() override { lock_.unlock_or_throw(); }
  void unlock_async() override { lock_.unlock_async(); }
  std::vector<MemberToken> tokens() const override { return {{lock_.monitor(), lock_.fencing_token()}}; }
  std::string waited_for() const override { return lock_.monitor(); }

 private:
  BlockingWriteLock lock_;
  GuardedWriteLock guarded_{lock_};
};

class SetOfLocks final : public CommandLock {
 public:
  SetOfLocks(Client& client, const std::string& info, const std::vector<std::string>& monitors, Priority priority,
             const LockOptions& options)
      : lock_(client, info, monitors, priority, options),
        instance_(records::instance_identity(client.instance(), options.thread_name)) {}

  std::string name() const override { return name_of_monitors(lock_.monitors()); }
  LockState state() const override { return lock_.state(); }
  bool healthy() const override { return lock_.healthy(); }
  void check_health() const override { lock_.check_health(); }
  Clock::time_point expires_at() const override { return lock_.expires_at(); }
  std::stop_token stop_token() const override { return lock_.stop_token(); }

  Environment environment(const Client& client) const override {
    nlohmann::ordered_json tokens = nlohmann::ordered_json::object();
    for (const MemberToken& member : lock_.fencing_tokens()) tokens[member.monitor] = std::to_string(member.token);
    return with_trace({{"FORELOCK_MONITORS", nlohmann::ordered_json(lock_.monitors()).dump()},
                       {"FORELOCK_TOKENS", tokens.dump()},
                       {"FORELOCK_HELD", lock_.held_header()},
                       {"FORELOCK_SESSION", records::session_text(client.session_id())},
                       {"FORELOCK_PRIORITY", std::string(name_of(lock_.priority()))},
                       {"FORELOCK_OWNER", instance_},
                       {"FORELOCK_EXPIRES_IN_MS", left_text(lock_.expires_at())}},
                      lock_.traceparent());
  }

  void lock_with_timeout() override { lock_.lock_with_timeout(); }
  bool try_lock() override { return lock_.try_lock(); }
  bool try_lock_until(Clock::time_point end) override {
    return lock_.try_lock_for(std::chrono::ceil<milliseconds>(end - Clock::now()));
  }
  bool cancel() override { return lock_.cancel(); }
  bool owns_lock() const override { return lock_.owns_lock(); }
  void unlock_or_throw() override { lock_.unlock_or_throw(); }
  void unlock_async() override { lock_.unlock_async(); }
  std::vector<MemberToken> tokens() const override { return lock_.fencing_tokens(); }
  std::string waited_for() const override { return lock_.waits_for().value_or(lock_.monitors().front()); }

 private:
  LockSet lock_;
  const std::string instance_;
};

}  // namespace

Environment GuardedWriteLock::environment(const Client& client) const {
  return with_trace({{"FORELOCK_MONITOR", lock_.monitor()},
                     {"FORELOCK_TOKEN", std::to_string(lock_.fencing_token())},
                     {"FORELOCK_HELD", lock_.held_header()},
                     {"FORELOCK_SESSION", records::session_text(client.session_id())},
                     {"FORELOCK_PRIORITY", std::string(name_of(lock_.priority()))},
                     {"FORELOCK_OWNER", lock_.owner().instance},
                     {"FORELOCK_EXPIRES_IN_MS", left_text(lock_.expires_at())}},
                    lock_.traceparent());
}

LockLoss loss_of(const GuardedLock& lock) {
  const std::string removed = '(' + std::string(name_of(LossReason::removed)) + ')';
  try {
    lock.check_health();
  } catch (const Error& error) {
    return {error.monitor(), std::string_view(error.what()).find(removed) != std::string_view::npos};
  }
  return {lock.name(), false};
}

std::unique_ptr<CommandLock> make_command_lock(Client& client, const std::string& info,
                                               const std::vector<std::string>& monitors, Priority priority,
                                               const LockOptions& options) {
  if (monitors.size() == 1) return std::make_unique<SingleLock>(client, info, monitors.front(), priority, options);
  return std::make_unique<SetOfLocks>(client, info, monitors, priority, options);
}

std::string name_of_monitors(const std::vector<std::string>& monitors) {
  if (monitors.size() == 1) return monitors.front();
  return monitors.front() + " and " + std::to_string(monitors.size() - 1) + " more";
}

}  // namespace forelock::cli
