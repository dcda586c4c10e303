// An EnsembleLink is the client's use of the ensemble: the session, the agent that decides over it, and the client's
// own requests.
//
// Everything in it that is not atomic is guarded by the core's mutex.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent/agent.h"
#include "client/answer_watch.h"
#include "client/client_use.h"
#include "client/clock.h"
#include "client/course_log.h"
#include "client/lock_times.h"
#include "client/lock_trace.h"
#include "client/seen_tokens.h"
#include "client/session_keeper.h"
#include "client/watch_observer.h"
#include "coordination/session.h"
#include "forelock/client.h"
#include "forelock/error.h"
#include "lock/engine_types.h"

namespace forelock::client {

class ClientCore;

class EnsembleLink final : private agent::AgentHost {
 public:
  // `explain`: the course of locks is logged.
  EnsembleLink(ClientCore& core, bool explain);
  ~EnsembleLink();
  EnsembleLink(const EnsembleLink&) = delete;
  EnsembleLink& operator=(const EnsembleLink&) = delete;

  // Begins to connect.
  void start(ClientUse use);
  // Nothing is asked for any more; the rest waits for nothing.
  void begin_close();
  // The session ends, and requests that wait for it are refused.
  void end_session();

  ClientCore& core() const { return core_; }
  // The ensemble in messages: its servers and the chroot.
  const std::string& name() const { return name_; }
  // Writes to the host application's log.
  void log(std::string_view level, std::string_view message);

  // --- what is known; without a mutex ---

  // Until when a lock of the present session is certain to live, in steady nanoseconds.
  std::int64_t valid_until() const { return valid_until_.load(std::memory_order_acquire); }
  // From when on so little of that is left that the connection must be silent.
  std::int64_t suspect_from() const { return suspect_from_.load(std::memory_order_acquire); }
  bool connected() const { return connected_.load(std::memory_order_acquire); }
  std::int64_t session_id() const { return session_id_.load(std::memory_order_relaxed); }
  // As negotiated; 0 before the first connection.
  std::chrono::milliseconds session_timeout() const { return session_timeout_.load(std::memory_order_relaxed); }
  // The configured one, or that one: a server may grant more than it is asked for.
  std::chrono::milliseconds longest_session_timeout() const;

  // --- for the lock slots and readers; with the core's mutex ---

  // For steps of the core.
  agent::Agent& agent() { return agent_; }
  // How a contender has come to its grant, in the step that tells it; for a client that traces.
  GrantCourse course_of(lock::ContenderId contender) { return courses_->take(contender); }
  bool wait_connected(std::chrono::milliseconds timeout);

  // The last loss of a connection.
  lock::TimePoint down_since() const;
  bool in_forked_child() const;
  // Does what is due now: on time, and for callers whose deadline has come. \returns when something is due next.
  lock::TimePoint tick();
  // Why the last failed attempt to connect failed.
  std::string last_problem() const;
  // What no waiting will mend, such as refused credentials.
  std::optional<ErrorCode> standing_problem() const;
  ClientStatistics statistics() const;

  // --- requests beside the protocol ---

  using ReplyHandler = std::function<void(coordination::Reply)>;
  // Waits for the connection if there is none; the handler is called exactly once, on whichever thread steps the
  // client, with connection_loss at the latest when the client is closed or gives up connecting. It neither waits nor
  // throws.
  // \throws RequestRejectedException(forked, closed).
  void request(coordination::Request request, ReplyHandler handler);
  std::future<coordination::Reply> request(coordination::Request request);
  // Handlers and watches come in the order in which the server has said things, so what a handler puts there is not
  // older than what a watch takes out.
  SeenTokens& seen_tokens() { return seen_tokens_; }
  // Who else is told of watches and sessions; nullptr: nobody any more, from the moment when this returns. Of a session
  // that is there already it is told before this returns.
  void tell_also(WatchObserver* observer);
  // The caller's operations with a check that each lock is still its contender's. False if one is not, already now, or
  // if a contender has another caller.
  bool guarded_transaction(const agent::ContenderListener& caller, const std::vector<lock::ContenderId>& contenders,
                           std::vector<coordination::Operation> operations, ReplyHandler handler);

  // --- for SessionKeeper ---

  void use_session(coordination::Session* session);  // nullptr: none at the moment
  void on_reply(coordination::RequestTag tag, coordination::Reply reply, bool current);
  void on_watch(const coordination::WatchEvent& event);
  void on_session(const coordination::SessionEvent& event);
  void set_problem(std::string problem, std::optional<ErrorCode> standing = std::nullopt);
  // Why the session is worth nothing although servers accept it: it is given up then, as if it had expired.
  std::optional<std::string> why_useless() const;
  void session_given_up(const std::string& why);

  // --- for commands ---

  // SessionRecord::share().
  int share_session_file() { return keeper_.record().share(); }

  // --- for the core ---

  // At the end of a step: what it has changed can be seen. \returns when something is due next.
  lock::TimePoint end_step();

 private:
  // --- agent::AgentHost ---

  lock::TimePoint now() const override { return client::now(); }
  lock::ContenderId new_contender() override { return next_contender_++; }
  void wake_after_step(std::shared_ptr<agent::ContenderListener> listener) override;
  void let_go_after_step(std::shared_ptr<const void> object) override;
  void begins(lock::ContenderId contender, const lock::AcquireSpec& spec) override;
  void granted(lock::ContenderId contender, const lock::Grant& grant) override;
  void taken_again(lock::ContenderId contender, Priority priority) override;
  void lingers(lock::ContenderId contender) override;
  void refused(lock::ContenderId contender, const lock::Refusal& refusal) override;
  void lost(lock::ContenderId contender, LossReason reason, bool in_use) override;
  void released(lock::ContenderId contender, lock::ReleaseOutcome outcome) override;
  void contended(lock::ContenderId contender, Priority waiting) override;
  void forgotten(lock::ContenderId contender) override;
  void counter_high(const std::string& monitor, std::int64_t number) override;
  void removal_denied() override;
  void explained(lock::ContenderId contender, const lock::CourseNote& note) override;
  void release_called(lock::ContenderId contender, bool begun) override;
  void set_priority_called(lock::ContenderId contender, Priority priority, bool begun) override;
  void step_aside_called(lock::ContenderId contender, bool begun, lock::TimePoint deadline) override;
  void note(lock::ContenderId contender, std::string_view text);

  struct OwnRequest {
    ReplyHandler handler;
    lock::TimePoint sent{};
    bool write = false;
    std::vector<lock::ContenderId> guards = {};  // of a guarded write
  };

  struct WaitingRequest {
    coordination::Request request;
    ReplyHandler handler;
  };

  // Requests that have waited for a connection for too long. `next`: when to look again.
  std::vector<WaitingRequest> take_expired(lock::TimePoint time, lock::TimePoint& next);
  static void refuse_requests(const std::vector<WaitingRequest>& requests);
  void submit_own(coordination::Request request, OwnRequest own);
  void publish_deadline();

  ClientCore& core_;
  const std::string name_;

  std::optional<CourseLog> course_;      // if debug lines are wanted
  std::optional<GrantCourses> courses_;  // if spans are
  agent::Agent agent_;
  lock::ContenderId next_contender_ = 1;
  ClientStatistics statistics_;
  LockTimes times_;
  AnswerWatch answers_;
  std::condition_variable connection_changed_;
  coordination::Session* session_ = nullptr;
  coordination::RequestTag next_own_tag_;
  std::unordered_map<coordination::RequestTag, OwnRequest> own_requests_;
  std::vector<WaitingRequest> waiting_requests_;
  lock::TimePoint down_since_;
  std::string problem_;
  std::optional<ErrorCode> standing_problem_;

  std::atomic<bool> connected_{false};
  std::atomic<std::int64_t> valid_until_{0};
  std::atomic<std::int64_t> suspect_from_{0};
  std::atomic<std::int64_t> session_id_{0};
  std::atomic<std::chrono::milliseconds> session_timeout_{std::chrono::milliseconds(0)};

  WatchObserver* observer_ = nullptr;
  SeenTokens seen_tokens_;

  SessionKeeper keeper_;
};

}  // namespace forelock::client
