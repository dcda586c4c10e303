// An EnsembleLink is the ensemble as the client uses it: the session, and the engine of its monitors.
//
// Everything in it that is not atomic is guarded by the core's mutex.
#pragma once

#include <atomic>
#include <chrono>
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

#include "client/answer_watch.h"
#include "client/client_use.h"
#include "client/contender_listener.h"
#include "client/danger_watch.h"
#include "client/session_keeper.h"
#include "coordination/session.h"
#include "forelock/client.h"
#include "forelock/error.h"
#include "grouping/grouping_session.h"
#include "linger/linger_machine.h"
#include "lock/engine.h"

namespace forelock::client {

class ClientCore;

class EnsembleLink final : public lock::EngineOutput {
 public:
  // `explain`: lock::EngineOptions.
  EnsembleLink(ClientCore& core, bool explain);
  ~EnsembleLink();
  EnsembleLink(const EnsembleLink&) = delete;
  EnsembleLink& operator=(const EnsembleLink&) = delete;

  // Begins to connect.
  void start(ClientUse use);

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

  bool wait_connected(std::chrono::milliseconds timeout);

  // The last loss of a connection.
  lock::TimePoint down_since() const;
  bool in_forked_child() const;
  // Does what is due now: for callers whose deadline has come.
  void tick();
  // A lock that this caller holds already has a danger-zone callback from now on.
  void watch_danger(const ContenderListener& caller, lock::ContenderId contender, lock::Duration margin);
  // Why the last failed attempt to connect failed.
  std::string last_problem() const;
  // What no waiting will mend, such as refused credentials.
  std::optional<ErrorCode> standing_problem() const;

  // --- requests beside the protocol ---

  using ReplyHandler = std::function<void(coordination::Reply)>;
  // Waits for the connection if there is none; the handler is called exactly once, on the session's thread or this one,
  // with connection_loss at the latest when the client is closed or gives up connecting.
  // \throws RequestRejectedException(forked, closed).
  void request(coordination::Request request, ReplyHandler handler);
  std::future<coordination::Reply> request(coordination::Request request);
  // The caller's operations with a check that each lock is still its contender's. False if one is not, already now, or
  // if a contender has another caller.
  bool guarded_transaction(const ContenderListener& caller, const std::vector<lock::ContenderId>& contenders,
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

  // --- lock::EngineOutput: called by the engine, under the mutex ---

  void send(coordination::RequestTag tag, coordination::Request request) override;
  bool withdraw(coordination::RequestTag tag) override;
  void unwanted(coordination::RequestTag tag) override;
  void granted(lock::ContenderId contender, const lock::Grant& grant) override;
  void refused(lock::ContenderId contender, const lock::Refusal& refusal) override;
  void proved(lock::ContenderId contender) override;
  void lost(lock::ContenderId contender, LossReason reason) override;
  void released(lock::ContenderId contender, lock::ReleaseOutcome outcome) override;
  void queued(lock::ContenderId contender, const QueuePosition& position) override;
  void contended(lock::ContenderId contender, Priority waiting) override;
  void forgotten(lock::ContenderId contender) override;
  void counter_high(const std::string& monitor, std::int64_t number) override;
  void removal_denied() override;
  void explained(lock::ContenderId contender, const lock::CourseNote& note) override;

 private:
  friend class ClientCore;

  // What comes up to the engine, in a step.
  class EngineListener final : public coordination::SessionListener {
   public:
    explicit EngineListener(lock::Engine& engine) : engine_(engine) {}
    void on_reply(coordination::RequestTag tag, coordination::Reply reply) override;
    void on_watch(const coordination::WatchEvent& event) override;
    void on_session(const coordination::SessionEvent& event) override;

   private:
    lock::Engine& engine_;
  };

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

  // --- for the core, in a step ---

  void end_of_step();
  void publish_deadline();
  // That of the engine, or of a lock that wants to be told of danger before.
  lock::TimePoint next_timer();
  void tick_in_step(lock::TimePoint time);
  void look_for_danger(lock::TimePoint time);
  // Requests that have waited for a connection for too long. `next`: when to look again.
  std::vector<WaitingRequest> take_expired(lock::TimePoint time, lock::TimePoint& next);
  static void refuse_requests(const std::vector<WaitingRequest>& requests);

  // Whether locks of this session are certain to be held, and for a while.
  bool certain(lock::TimePoint time) const;
  // The lingering lock that it gets; 0 for none.
  lock::ContenderId hand_out(const std::shared_ptr<ContenderListener>& listener, const linger::Wish& wish);
  // Lets the lock linger, or releases it, perhaps in a moment (`may_wait`). False if it is not held.
  bool end_section(lock::ContenderId contender, bool may_wait = true);
  void release_given_up();

  // --- its own ---

  void submit_own(coordination::Request request, OwnRequest own);
  void report_connected(const coordination::SessionEvent& event);

  ClientCore& core_;
  const std::string name_;

  lock::Engine engine_;
  EngineListener engine_listener_{engine_};
  grouping::GroupingSession grouping_{{}, engine_listener_};  // what the engine sends goes through it
  linger::LingerMachine linger_;
  DangerWatch danger_;
  AnswerWatch answers_;
  coordination::Session* session_ = nullptr;
  coordination::RequestTag next_own_tag_;
  std::unordered_map<coordination::RequestTag, OwnRequest> own_requests_;
  std::unordered_map<lock::ContenderId, unsigned> guarded_writes_;  // unanswered ones under each lock
  std::vector<WaitingRequest> waiting_requests_;
  lock::TimePoint down_since_;
  std::string problem_;
  std::optional<ErrorCode> standing_problem_;

  std::atomic<bool> connected_{false};
  std::atomic<std::int64_t> valid_until_{0};
  std::atomic<std::int64_t> suspect_from_{0};
  std::atomic<std::int64_t> session_id_{0};
  std::atomic<std::chrono::milliseconds> session_timeout_{std::chrono::milliseconds(0)};

  SessionKeeper keeper_;
};

}  // namespace forelock::client
