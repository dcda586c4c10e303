// One critical section of a thread: take the lock, or the set of locks, visit the resource, give it back. Everything is
// written down.
#pragma once

#include "forelock/error.h"
#include "robustness/worker/client_source.h"
#include "robustness/worker/patience.h"
#include "robustness/worker/section_plan.h"

namespace forelock::robustness {

// What it returns, or the code of what it throws.
template <class Call>
std::string code_thrown_by(const Call& call) {
  try {
    return call();
  } catch (const Error& error) {
    return std::string(name_of(error.code()));
  }
}

// `Calls` is what is told of it: RecordedCall, or SetCalls.
template <class Lock, class Calls>
class Section {
 public:
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;
  virtual ~Section() = default;

  // Whether it was obtained.
  bool run() {
    calls().invoke(longest_wait(), plan_.mode());
    const std::string code = code_thrown_by([this] { return obtain(); });
    if (!code.empty()) {
      calls().refused(code);
      return false;
    }
    granted();
    visit();
    if (plan_.step_aside && lock_->healthy()) {
      if (!step_aside()) return true;
      visit();
    }
    release();
    return true;
  }

 protected:
  // `giving_back`: so much longer than its time-out it may wait.
  template <class Monitor>
  Section(GatedClient& client, const SectionPlan& plan, const Monitor& monitor, std::chrono::milliseconds giving_back)
      : client_(client),
        plan_(plan),
        lock_(std::in_place, client, "robustness", monitor, plan.priority,
              LockOptions{.auto_unlock_after = plan.auto_unlock_after, .capture_stack = false}),
        giving_back_(giving_back) {}

  virtual Calls& calls() = 0;
  virtual void granted() = 0;
  // Visits the resource, for which hold() is the stay.
  virtual void stay() = 0;
  // Whether it is held again.
  virtual bool step_aside() = 0;

  void hold() {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + plan_.hold;
    auto alive_at = plan_.alive_after ? Clock::now() + *plan_.alive_after : Clock::time_point::max();
    const std::stop_token lost = lock_->stop_token();
    while (Clock::now() < until) {
      if (!lock_->healthy()) return unhealthy();
      if (Clock::now() >= alive_at) {
        alive_at = Clock::time_point::max();
        go_on();
      }
      pause(lost, std::chrono::milliseconds(1));
    }
  }

  GatedClient& client_;
  const SectionPlan& plan_;
  std::optional<Lock> lock_;

 private:
  using Wait = SectionPlan::Wait;

  std::chrono::milliseconds longest_wait() const {
    const bool own = plan_.wait == Wait::limited || plan_.wait == Wait::cancelled;
    return giving_back_ + (own ? plan_.limit : client_.settings().timeout(plan_.priority));
  }

  std::string obtain() {
    switch (plan_.wait) {
      case Wait::configured:
        lock_->lock_with_timeout();
        return {};
      case Wait::limited:
        return lock_->try_lock_for(plan_.limit) ? "" : "lock_timeout";
      case Wait::none:
        return lock_->try_lock() ? "" : "lock_unavailable";
      case Wait::cancelled:
        break;
    }
    return obtain_or_cancel();
  }

  std::string obtain_or_cancel() {
    bool withdrawn = false;
    bool obtained = false;
    {
      const std::jthread canceller([&](const std::stop_token& stop) {
        if (plan_.other_class_after) {
          pause(stop, *plan_.other_class_after);
          lock_->set_priority(plan_.other_class());
        }
        pause(stop, plan_.cancel_after - plan_.other_class_after.value_or(std::chrono::milliseconds(0)));
        if (!stop.stop_requested()) withdrawn = lock_->cancel();
      });
      obtained = lock_->try_lock_for(plan_.limit);
    }
    if (obtained) return {};
    return withdrawn ? "cancelled" : "lock_timeout";
  }

  void go_on() {
    try {
      lock_->alive(plan_.hold);
    } catch (const Error&) {
      return;  // the next look finds it so
    }
  }

  void unhealthy() {
    calls().event("unhealthy");
    unhealthy_ = true;
  }

  void visit() {
    if (!client_.gate.enter()) return;
    if (lock_->healthy()) {
      stay();
    } else {
      unhealthy();
    }
    client_.gate.leave();
  }

  void release() {
    calls().event("release");
    // What became of a lock that is not healthy any more, the history shall know.
    switch (unhealthy_ ? SectionPlan::Release::confirmed : plan_.release) {
      case SectionPlan::Release::confirmed:
        return calls().released(code_thrown_by([this] {
          lock_->unlock_or_throw();
          return "";
        }));
      case SectionPlan::Release::asynchronous:
        lock_->unlock_async();
        break;
      case SectionPlan::Release::destructor:
        lock_.reset();
        break;
    }
    calls().released("unconfirmed");
  }

  const std::chrono::milliseconds giving_back_;
  bool unhealthy_ = false;
};

}  // namespace forelock::robustness
