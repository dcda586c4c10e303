#include "capi/replay_object.h"

#include <new>
#include <string>

#include "base/thread_start.h"
#include "capi/handles.h"
#include "forelock/operation.h"

namespace forelock::capi {
namespace {

// The end of a letter's attempt, as the thread of the replay waits for it. Thread-safe.
class LetterEnd {
 public:
  // The first counts; nullptr: done.
  void end(const std::exception_ptr& error) {
    const std::lock_guard guard(mutex_);
    if (ended_) return;
    ended_ = true;
    error_ = error;
  }
  // No thread of the host uses the attempt and its lock any more.
  void gone() {
    const std::lock_guard guard(mutex_);
    gone_ = true;
    changed_.notify_all();
  }
  // \throws what it ended with.
  void wait() {
    std::unique_lock guard(mutex_);
    changed_.wait(guard, [this] { return gone_; });
    if (!ended_) throw OperationFailure("cancelled", "the client was closed before the letter was worked on", true);
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  bool gone_ = false;
  std::exception_ptr error_;
};

}  // namespace

ReplayState::ReplayState(std::shared_ptr<ClientState> client, std::shared_ptr<DeadLetters> letters,
                         ReplayOptions options, std::uint64_t tag)
    : client_(std::move(client)),
      letters_(std::move(letters)),
      options_(std::move(options)),
      tag_(tag),
      attempts_(std::make_shared<OpenAttempts>("the replay was freed")) {}

void ReplayState::run(Handle handle) {
  std::shared_ptr<const ReplayReport> report;
  std::exception_ptr error;
  try {
    report = std::make_shared<const ReplayReport>(letters_->replay(
        client_->client, [this](const ReplayAttempt& attempt) { hand_over(attempt); }, options_, stop_.get_token()));
  } catch (...) {
    error = std::current_exception();
  }
  Event event{.kind = FL_EVENT_REPLAY, .source = handle, .tag = tag_};
  if (error) {
    event.failure = failure_of(error);
  } else {
    event.value = static_cast<std::int64_t>(report->replayed);
  }
  {
    const std::lock_guard guard(mutex_);
    report_ = std::move(report);
    error_ = error;
  }
  client_->events->complete(std::move(event));
}

void ReplayState::close() {
  stop();  // first: so that the attempts' ends are no failures of their letters
  attempts_->close();
}

std::shared_ptr<const ReplayReport> ReplayState::report() const {
  const std::lock_guard guard(mutex_);
  if (error_) std::rethrow_exception(error_);
  require(report_ != nullptr, "the replay has not ended: wait for FL_EVENT_REPLAY");
  return report_;
}

void ReplayState::hand_over(const ReplayAttempt& attempt) {
  const auto end = std::make_shared<LetterEnd>();
  // Its own copy: the host may look at it when the attempt has ended.
  auto letter = std::make_shared<const ReplayedLetter>(ReplayedLetter{attempt.letter, attempt.tries, attempt.stop});
  Event event{.kind = FL_EVENT_LETTER, .tag = tag_, .value = attempt.tries};
  event.failure.monitor = attempt.letter.monitor;
  try {
    std::shared_ptr<const void> owner(end.get(), [end](const void*) { end->gone(); });
    event.source = add(std::make_unique<AttemptObject>(
        client_, attempt.lock, std::move(owner), [end](const std::exception_ptr& error) { end->end(error); }, attempts_,
        std::move(letter)));
  } catch (const std::bad_alloc&) {
    throw OperationFailure("overloaded", "there is no room for another handle", true);
  }
  if (attempts_->add(event.source)) {
    client_->events->complete(std::move(event), false);
  } else {
    remove<AttemptObject>(event.source)->end(attempts_->closed_error());
  }
  end->wait();
}

void ReplayObject::start(Handle handle) {
  EventQueue::Reservation room(state_->events());
  try {
    thread_ = base::start_thread("forelock-replay", [state = state_, handle] { state->run(handle); });
  } catch (const base::NoThread& problem) {
    throw RequestRejectedException(ErrorCode::overloaded, {}, problem.what(),
                                   "raise the limit, or have fewer threads; the same call may be repeated");
  }
  room.keep();
}

ReplayObject::~ReplayObject() {
  state_->close();
  if (!thread_.joinable()) return;
  if (state_->client().core()->in_forked_child()) {
    thread_.detach();  // it is the parent's
  } else {
    thread_.join();
  }
}

}  // namespace forelock::capi
