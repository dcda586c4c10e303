// An Agent makes a process's decisions about its locks: the engine, its requests in groups, locks that linger, the
// watch for danger, and the deadlines of waiters.
//
// The client gives it threads, a mutex and a session; the simulator gives it virtual time. Both run this same code.
//
// Pure: no I/O, no threads, no clock but its host's. Not thread-safe. Everything that is done with an agent belongs to
// a step, which ends with end_step(): several calls, or the events of one answer, may be one step.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/agent_host.h"
#include "agent/contender_listener.h"
#include "agent/danger_watch.h"
#include "agent/nesting.h"
#include "coordination/session.h"
#include "grouping/grouping_session.h"
#include "linger/linger_machine.h"
#include "lock/engine.h"

namespace forelock::agent {

struct AgentOptions {
  lock::EngineOptions engine;
  grouping::GroupingLimits grouping;
  linger::LingerLimits linger;
};

class Agent final : private lock::EngineOutput, private coordination::SessionListener {
 public:
  // The host outlives it.
  Agent(AgentOptions options, AgentHost& host);
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // --- the session ---

  // Sets the session for requests; null: none. One that is replaced while it is connected has expired.
  void use(coordination::Session* session);
  void on_session_event(const coordination::SessionEvent& event);
  // An answer to a request of the agent.
  void on_answer(coordination::RequestTag tag, coordination::Reply reply);
  void on_watch_event(const coordination::WatchEvent& event);
  // A request of the driver's own, as lock::Engine::on_answered().
  void on_answered(lock::TimePoint sent, bool write, coordination::ReplyCode code = coordination::ReplyCode::ok);

  // --- steps ---

  // Runs the timers that are due.
  void tick();
  lock::TimePoint next_timer();
  // Notifies the listeners that have asked for the step's end, which may cause more work; then sends everything.
  void end_step();
  // The same of what has lingered and is wanted by others, in the course of a step.
  void release_given_up();
  // Releases locks that linger, and then ends everything, as lock::Engine::close().
  void close();

  // --- acquisitions ---

  // Begins one. It may be held already when this returns: ContenderListener::taken(). `may_linger`: linger::Wish.
  lock::ContenderId acquire(const std::shared_ptr<ContenderListener>& listener, lock::AcquireSpec spec,
                            bool may_linger);
  // The same if the lock lingers here: without a request, and held afterwards. 0, and nothing has begun, if it does
  // not.
  lock::ContenderId acquire_lingering(const std::shared_ptr<ContenderListener>& listener, const linger::Wish& wish);
  // The holder has finished: ContenderListener::released() follows, or has come. False: it is not held.
  bool release(lock::ContenderId contender);
  // The same; without an answer by then the listener is notified.
  bool release(lock::ContenderId contender, lock::TimePoint answer_by);
  // Releases a held lock, or cancels a waiting one, without further calls of the listener.
  bool release_detached(lock::ContenderId contender);
  // Releases a held lock or cancels a waiting one. The lock may linger only if its caller has finished.
  void give_up(lock::ContenderId contender, bool section_ended);
  bool cancel(lock::ContenderId contender);
  bool step_aside(lock::ContenderId contender, lock::TimePoint deadline);
  // As lock::Engine::set_priority(); what it gets does not linger.
  bool set_priority(lock::ContenderId contender, Priority priority, lock::RecordText record = {});

  // A contender that waits does so inside of these, of its caller: where a more urgent one waits for one of those that
  // are held, it waits for this one as well, which so moves to that one's queue. Its class stays.
  void inside(lock::ContenderId inner, const std::vector<lock::ContenderId>& outer_ones);

  // --- held locks ---

  bool holds(lock::ContenderId contender) const;
  // Whether the contender has this listener: a lock that lingers stays the same contender, and may have another one.
  bool is_of(const ContenderListener& listener, lock::ContenderId contender) const;
  bool update_record(lock::ContenderId contender, std::string record);
  void want_contention(lock::ContenderId contender);
  // ContenderListener::proved() follows, or lost().
  void prove(lock::ContenderId contender);
  // As lock::Engine::knock().
  void knock(std::vector<std::string> monitors);
  // ContenderListener::in_danger() follows when less than this is left before the session's deadline, or less than a
  // third of the time-out that the server has granted: so much is ahead on a good connection.
  void watch_danger(lock::ContenderId contender, lock::Duration margin);
  // The operations with a check that each lock is still its contender's. Nothing if one is not, already now, or has
  // another listener. end_guarded_write() is due with the answer: until then these locks do not linger, since a write
  // that is guarded by one belongs to its section.
  std::optional<coordination::Transaction> begin_guarded_write(const ContenderListener& listener,
                                                               const std::vector<lock::ContenderId>& contenders,
                                                               std::vector<coordination::Operation> operations);
  void end_guarded_write(const std::vector<lock::ContenderId>& contenders);

  // --- for listeners ---

  void at_end_of_step(std::shared_ptr<StepListener> listener) { at_end_of_step_.push_back(std::move(listener)); }
  // StepListener::time_has_come() follows then, in a step, as long as the listener lives.
  void call_at(lock::TimePoint time, std::weak_ptr<StepListener> listener);
  AgentHost& host() { return host_; }
  lock::TimePoint now() const { return host_.now(); }

  // --- state ---

  const lock::Engine& engine() const { return engine_; }
  bool connected() const { return connected_; }
  // Requests that were sent.
  std::uint64_t requests() const { return grouping_.requests(); }
  std::size_t lingering() const { return linger_.lingering(); }

 private:
  // --- lock::EngineOutput ---
  void send(coordination::RequestTag tag, coordination::Request request) override;
  bool withdraw(coordination::RequestTag tag) override;
  void unwanted(coordination::RequestTag tag) override;
  void granted(lock::ContenderId contender, const lock::Grant& grant) override;
  void refused(lock::ContenderId contender, const lock::Refusal& refusal) override;
  void proved(lock::ContenderId contender) override;
  void lost(lock::ContenderId contender, LossReason reason) override;
  void released(lock::ContenderId contender, lock::ReleaseOutcome outcome) override;
  void queued(lock::ContenderId contender, const QueuePosition& position) override;
  void moved(lock::ContenderId contender, Priority rank) override;
  void record_changed(lock::ContenderId contender, const std::string& record) override;
  void contended(lock::ContenderId contender, Priority waiting) override;
  void forgotten(lock::ContenderId contender) override;
  void counter_high(const std::string& monitor, std::int64_t number) override;
  void removal_denied() override;
  void explained(lock::ContenderId contender, const lock::CourseNote& note) override;

  // --- coordination::SessionListener: what comes up from the groups ---
  void on_reply(coordination::RequestTag tag, coordination::Reply reply) override;
  void on_watch(const coordination::WatchEvent& event) override;
  void on_session(const coordination::SessionEvent& event) override;

  // Whether locks of this session are certain to be held, and for a while: heartbeats keep more than a third of the
  // time-out ahead while they are answered.
  bool certain(lock::TimePoint time) const;
  // Lets the lock linger, or releases it, perhaps in a moment (`may_wait`). False if it is not held.
  bool end_section(lock::ContenderId contender, bool may_wait);
  std::shared_ptr<ContenderListener> listener_of(lock::ContenderId contender) const;
  // Removes and returns the listener, which gets its last call and no more.
  std::shared_ptr<ContenderListener> take_listener(lock::ContenderId contender);
  void look_for_danger(lock::TimePoint time);
  void look_behind_outer_ones(lock::TimePoint time);
  void give_up_answers(lock::TimePoint time);
  void tell_time(lock::TimePoint time);
  void tell_changed_records();

  AgentHost& host_;
  lock::Engine engine_;
  grouping::GroupingSession grouping_;
  linger::LingerMachine linger_;
  DangerWatch danger_;
  Nesting nesting_;
  coordination::Session* session_ = nullptr;
  bool connected_ = false;
  bool established_ = false;  // the session: connected, or to be resumed
  std::chrono::milliseconds session_timeout_{0};
  std::unordered_map<lock::ContenderId, std::shared_ptr<ContenderListener>> listeners_;
  std::unordered_map<lock::ContenderId, unsigned> guarded_writes_;        // unanswered ones under each lock
  std::deque<std::pair<lock::TimePoint, lock::ContenderId>> unanswered_;  // releases; all wait equally long
  std::vector<std::shared_ptr<StepListener>> at_end_of_step_;
  std::vector<std::pair<lock::ContenderId, std::string>> changed_records_;  // in this step
  std::multimap<lock::TimePoint, std::weak_ptr<StepListener>> times_;
  std::size_t most_times_ = 0;  // until those are looked for that have ended
};

}  // namespace forelock::agent
