// One asynchronous lock after the other, as a state machine: what a callback or the passing of time brings next.
#pragma once

#include "forelock/async_write_lock.h"
#include "robustness/history/recorded_call.h"
#include "robustness/history/resource_visitor.h"
#include "robustness/worker/client_source.h"
#include "robustness/worker/current_call.h"
#include "robustness/worker/section_plan.h"

namespace forelock::robustness {

// Belongs to one thread; the locks' callbacks only hand over what they are told.
class AsyncSeat {
 public:
  using Clock = std::chrono::steady_clock;
  // Has the function run on the seat's thread. Called from any thread.
  using Post = std::function<void(std::function<void()>)>;

  AsyncSeat(const WorkerOptions& options, int index, HistoryWriter& history, ClientSource& clients, Post post);
  AsyncSeat(const AsyncSeat&) = delete;
  AsyncSeat& operator=(const AsyncSeat&) = delete;

  // When tick() is to be called next; `never` while a callback is waited for.
  Clock::time_point due() const { return due_; }
  void tick();
  // No new acquisition begins from now on.
  void stop() { stopping_ = true; }
  bool resting() const { return phase_ == Phase::resting; }

  static constexpr Clock::time_point never = Clock::time_point::max();

 private:
  enum class Phase { resting, waiting, holding, releasing };

  void begin();
  void acquired(const std::exception_ptr& error);
  void hold();
  void unhealthy();
  void release();
  void released(const std::exception_ptr& error);
  void rest(Clock::duration time);
  // A callback of the present acquisition, to be run on the seat's thread.
  std::function<void(std::exception_ptr)> then(void (AsyncSeat::*next)(const std::exception_ptr&));

  HistoryWriter& history_;
  ClientSource& clients_;
  const Post post_;
  SectionPlanner planner_;
  ResourceVisitor visitor_;
  bool stopping_ = false;
  Phase phase_ = Phase::resting;
  Clock::time_point due_{};

  SectionPlan plan_;
  std::shared_ptr<GatedClient> client_;
  std::optional<AsyncWriteLock> lock_;
  std::optional<RecordedCall> call_;
  std::shared_ptr<CurrentCall> told_;
  Clock::time_point hold_until_{};
};

}  // namespace forelock::robustness
