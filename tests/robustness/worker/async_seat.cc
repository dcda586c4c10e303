#include "robustness/worker/async_seat.h"

#include "robustness/worker/patience.h"

namespace forelock::robustness {
namespace {

using std::chrono::milliseconds;
using Wait = SectionPlan::Wait;

std::string code_of(const std::exception_ptr& error) {
  if (!error) return {};
  try {
    std::rethrow_exception(error);
  } catch (const Error& known) {
    return std::string(name_of(known.code()));
  }
}

}  // namespace

AsyncSeat::AsyncSeat(const WorkerOptions& options, int index, HistoryWriter& history, ClientSource& clients, Post post)
    : history_(history),
      clients_(clients),
      post_(std::move(post)),
      planner_(options, index),
      visitor_(options.resource, options.process) {}

void AsyncSeat::tick() {
  if (due_ > Clock::now()) return;
  switch (phase_) {
    case Phase::resting:
      if (stopping_) {
        due_ = never;
      } else {
        begin();
      }
      return;
    case Phase::waiting:
      if (const auto after = std::exchange(plan_.other_class_after, std::nullopt)) {
        lock_->set_priority(plan_.other_class());
        due_ = Clock::now() + plan_.cancel_after - *after;
      } else {
        lock_->cancel();
        due_ = never;
      }
      return;
    case Phase::holding:
      return hold();
    case Phase::releasing:
      due_ = never;
  }
}

std::function<void(std::exception_ptr)> AsyncSeat::then(void (AsyncSeat::*next)(const std::exception_ptr&)) {
  return [this, next, number = call_->number(), post = post_](const std::exception_ptr& error) {
    post([this, next, number, error] {
      if (call_ && call_->number() == number) (this->*next)(error);
    });
  };
}

void AsyncSeat::begin() {
  plan_ = planner_.next();
  client_ = clients_.get();
  lock_.emplace(*client_, "robustness", plan_.monitor, plan_.priority, LockOptions{.capture_stack = false});
  call_.emplace(history_, plan_.monitor, plan_.priority);
  told_ = std::make_shared<CurrentCall>(*call_);
  lock_->on_lost([told = told_](LossReason reason) { told->lost(reason); });
  if (plan_.callbacks) {
    lock_->on_queued([told = told_](const QueuePosition&) { told->note("queued"); });
    lock_->on_contended([told = told_](Priority) { told->note("contended"); });
  }
  phase_ = Phase::waiting;
  const bool cancelled = plan_.wait == Wait::cancelled;
  due_ = cancelled ? Clock::now() + plan_.other_class_after.value_or(plan_.cancel_after) : never;
  const bool configured = plan_.wait == Wait::configured;
  const milliseconds limit =
      configured ? client_->settings().timeout(plan_.priority) : std::max(plan_.limit, milliseconds(1));
  call_->invoke(limit, cancelled ? plan_.mode() : "timeout");
  try {
    if (configured) {
      lock_->acquire(then(&AsyncSeat::acquired));
    } else {
      lock_->acquire(limit, then(&AsyncSeat::acquired));
    }
  } catch (const Error&) {
    acquired(std::current_exception());  // the client has just been replaced
  }
}

void AsyncSeat::acquired(const std::exception_ptr& error) {
  if (error) {
    call_->refused(code_of(error));
    return rest(rest_after_failure);
  }
  told_->granted(*lock_, client_->session_id());
  phase_ = Phase::holding;
  hold_until_ = Clock::now() + plan_.hold;
  if (!lock_->healthy()) {
    unhealthy();
    return release();
  }
  if (!client_->gate.enter()) return release();
  if (visitor_.enter(*call_, lock_->fencing_token())) return hold();
  client_->gate.leave();
  release();
}

void AsyncSeat::hold() {
  const auto now = Clock::now();
  if (now < hold_until_ && lock_->healthy()) {
    due_ = std::min(hold_until_, now + milliseconds(1));
    return;
  }
  if (now < hold_until_) unhealthy();
  visitor_.leave();
  client_->gate.leave();
  release();
}

// What became of such a lock, the history shall know.
void AsyncSeat::unhealthy() {
  call_->event("unhealthy");
  plan_.release = SectionPlan::Release::confirmed;
}

void AsyncSeat::release() {
  call_->event("release");
  if (plan_.release == SectionPlan::Release::confirmed) {
    phase_ = Phase::releasing;
    due_ = never;
    return lock_->release(then(&AsyncSeat::released));
  }
  if (plan_.release == SectionPlan::Release::asynchronous) {
    lock_->release();
  } else {
    lock_.reset();
  }
  call_->released("unconfirmed");
  rest(plan_.pause);
}

void AsyncSeat::released(const std::exception_ptr& error) {
  call_->released(code_of(error));
  rest(plan_.pause);
}

void AsyncSeat::rest(Clock::duration time) {
  lock_.reset();
  call_.reset();
  client_.reset();
  phase_ = Phase::resting;
  due_ = Clock::now() + time;
}

}  // namespace forelock::robustness
