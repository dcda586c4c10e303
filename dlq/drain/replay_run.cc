#include "drain/replay_run.h"

#include <thread>
#include <utility>

#include "base/counted.h"
#include "drain/drainer_lock.h"
#include "forelock/error.h"
#include "letter/letter_limits.h"
#include "letter/one_line.h"
#include "records/start_thread.h"

namespace forelock::drain {
namespace {

constexpr const char* behind_another = "an earlier letter of its monitor failed, or has to wait";

// Threads that are joined whatever happens.
class Threads {
 public:
  ~Threads() { join(); }
  template <class Fn>
  void start(Fn fn) {
    threads_.push_back(records::start_thread("forelock-replay", std::move(fn)));
  }
  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  std::vector<std::thread> threads_;
};

// Whether the error says that nothing more can be done with this client at all.
bool is_final(ErrorCode code) {
  return code == ErrorCode::closed || code == ErrorCode::forked || code == ErrorCode::internal;
}

// Whether the error lies in the letter itself.
bool is_the_letters(ErrorCode code) {
  return code == ErrorCode::invalid_argument || code == ErrorCode::request_too_large;
}

}  // namespace

ReplayRun::ReplayRun(Client& client, LetterStore& store, const AnyTarget& target, ReplayObserver& observer,
                     const ReplayOptions& options)
    : client_(client), store_(store), target_(target), observer_(observer), options_(options), pacer_(options.rate) {}

ReplayReport ReplayRun::run(std::stop_token stop, std::stop_token drainer_lost) {
  {
    Threads threads;
    const std::stop_callback on_stop(stop, [this] { stop_.request_stop(); });
    const std::stop_callback on_loss(drainer_lost, [this] { stop_.request_stop(); });
    try {
      for (std::size_t i = 0; i < options_.concurrency; ++i) threads.start([this] { work(); });
      store_.scan(options_.filter, *this);
    } catch (...) {
      fail(std::current_exception());
    }
    {
      const std::lock_guard hold(mutex_);
      read_all_ = true;
    }
    changed_.notify_all();
    threads.join();
  }
  if (error_) std::rethrow_exception(error_);
  report_.stopped = stopping();
  return report_;
}

bool ReplayRun::letter(const StoredLetter& letter) {
  std::unique_lock hold(mutex_);
  const auto blocked = [&] { return look_ahead_.is_blocked(letter.letter.monitor); };
  const auto all_begun = [&] { return options_.max && begun_ >= *options_.max; };
  changed_.wait(hold, stop_.get_token(), [&] { return blocked() || all_begun() || look_ahead_.has_room_for(letter); });
  if (stopping() || all_begun()) return false;
  if (blocked()) {
    hold.unlock();
    report(Event::skipped, letter, "");
    return true;
  }
  look_ahead_.add(letter);
  hold.unlock();
  changed_.notify_all();
  return true;
}

bool ReplayRun::unreadable(const UnreadableLetter& letter) {
  const std::lock_guard hold(report_mutex_);
  ++report_.unreadable;
  list({letter.position, "", letter.monitor, Event::unreadable, letter.code + ": " + letter.message});
  return !stopping();
}

void ReplayRun::work() {
  try {
    while (const auto letter = next()) close(*letter, step_or_stop(*letter));
  } catch (...) {
    fail(std::current_exception());
  }
}

std::optional<StoredLetter> ReplayRun::next() {
  std::unique_lock hold(mutex_);
  const auto all_begun = [&] { return options_.max && begun_ >= *options_.max; };
  const auto may_begin = [&] { return !options_.max || reserved_ < *options_.max; };
  const auto over = [&] { return all_begun() || (read_all_ && look_ahead_.empty()); };
  changed_.wait(hold, stop_.get_token(), [&] { return over() || (look_ahead_.can_take() && may_begin()); });
  if (stopping() || over()) return std::nullopt;
  ++reserved_;
  return look_ahead_.take();
}

void ReplayRun::close(const StoredLetter& letter, const Step& step) {
  if (step.event) report(*step.event, letter, step.message);
  std::vector<StoredLetter> behind;
  {
    const std::lock_guard hold(mutex_);
    if (step.blocks) {
      behind = look_ahead_.block(letter);
    } else {
      look_ahead_.finish(letter);
    }
  }
  changed_.notify_all();
  for (const StoredLetter& waiting : behind) report(Event::skipped, waiting, "");
}

ReplayRun::Step ReplayRun::step_or_stop(const StoredLetter& letter) {
  try {
    return step(letter);
  } catch (const LockUnhealthyException& problem) {
    // The drainer's lock: nothing was written, and nothing more may be.
    stop_.request_stop();
    changed_.notify_all();
    return {Event::later, problem.what(), true};
  }
}

ReplayRun::Step ReplayRun::step(const StoredLetter& letter) {
  if (letter.state == LetterState::queued && letter.tries >= options_.max_tries) {
    // Its tries never came to an end: whatever it does to a replayer, it does not get another one.
    give_back();
    store_.resolve(letter, Resolution::parked);
    return {Event::parked, base::counted(letter.tries, "try has", "tries have") + " begun, and none has ended well",
            false};
  }
  if (!wait_for_slot()) return give_back(), Step{};
  if (std::holds_alternative<LockingTarget>(target_)) return attempt(letter, nullptr);
  std::optional<BlockingWriteLock> lock;
  try {
    lock.emplace(client_, "replay " + letter.letter.type + " " + letter.letter.id, letter.letter.monitor,
                 Priority::background, LockOptions{.capture_stack = false});
    if (const auto why_not = obtain(*lock)) {
      give_back();
      if (stopping()) return {};
      return {Event::locked_out, *why_not, true};
    }
  } catch (const Error& problem) {
    if (is_final(problem.code())) throw;
    if (is_the_letters(problem.code())) return failed(letter, begin(letter), problem.what());
    give_back();
    return {Event::locked_out, problem.what(), true};
  }
  const Step step = attempt(letter, &*lock);
  lock->unlock_async();
  return step;
}

bool ReplayRun::wait_for_slot() {
  std::unique_lock hold(mutex_);
  const auto slot = pacer_.reserve(Pacer::Clock::now());
  changed_.wait_until(hold, stop_.get_token(), slot, [] { return false; });
  return !stopping();
}

std::optional<std::string> ReplayRun::obtain(BlockingWriteLock& lock) {
  const std::stop_callback cancel(stop_.get_token(), [&lock] { lock.cancel(); });
  if (lock.try_lock_for(options_.lock_timeout)) {
    if (!stopping()) return std::nullopt;
    lock.unlock_async();
    return "stopped";
  }
  if (stopping()) return "stopped";
  return "the lock on " + lock.monitor() + " was not obtained within " + std::to_string(options_.lock_timeout.count()) +
         " ms: " + holder_text(client_, lock.monitor());
}

ReplayRun::Step ReplayRun::attempt(const StoredLetter& letter, BlockingWriteLock* lock) {
  const std::uint32_t tries = begin(letter);
  if (tries == 0) return {};  // another drainer has resolved it
  const TryResult result = call_target(letter, lock);
  const bool certain = lock == nullptr || lock->healthy();
  if (result.outcome == TryOutcome::done && certain) {
    store_.resolve(letter, Resolution::replayed);
    return {Event::replayed, "", false};
  }
  if (result.outcome == TryOutcome::failed && certain && !stopping()) return failed(letter, tries, result.message);
  take_back(letter);
  if (!certain) return {Event::later, "the lock on " + lock->monitor() + " was lost meanwhile", true};
  return {Event::later, result.message, true};
}

// It was no failure of the letter's: not counted. Unless another drainer may be at work, whose decision a late write
// must not touch; then it is counted once too often, which only parks the letter earlier.
void ReplayRun::take_back(const StoredLetter& letter) {
  try {
    store_.take_back_try(letter);
  } catch (const LockUnhealthyException&) {
    stop_.request_stop();
    changed_.notify_all();
  }
}

TryResult ReplayRun::call_target(const StoredLetter& letter, BlockingWriteLock* lock) {
  try {
    if (lock == nullptr) return std::get<LockingTarget>(target_)(letter, stop_.get_token());
    std::stop_source stop;
    const std::stop_callback on_end(stop_.get_token(), [&stop] { stop.request_stop(); });
    const std::stop_callback on_loss(lock->stop_token(), [&stop] { stop.request_stop(); });
    return std::get<LetterTarget>(target_)(letter, *lock, stop.get_token());
  } catch (const std::exception& problem) {
    return {TryOutcome::failed, problem.what()};
  } catch (...) {
    return {TryOutcome::failed, "the target threw an exception that is not a std::exception"};
  }
}

ReplayRun::Step ReplayRun::failed(const StoredLetter& letter, std::uint32_t tries, const std::string& message) {
  if (tries == 0) return {};
  if (letter.state == LetterState::parked) return {Event::failed, message, false};
  if (tries < options_.max_tries) return {Event::failed, message, true};
  store_.resolve(letter, Resolution::parked);
  return {Event::parked, message, false};
}

std::uint32_t ReplayRun::begin(const StoredLetter& letter) {
  const std::uint32_t tries = store_.begin_try(letter);
  if (tries == 0) {
    give_back();
  } else {
    const std::lock_guard hold(mutex_);
    ++begun_;
  }
  changed_.notify_all();
  return tries;
}

void ReplayRun::give_back() {
  {
    const std::lock_guard hold(mutex_);
    --reserved_;
  }
  changed_.notify_all();
}

void ReplayRun::report(Event event, const StoredLetter& letter, const std::string& message) {
  const std::lock_guard hold(report_mutex_);
  switch (event) {
    case Event::replayed:
      ++report_.replayed;
      break;
    case Event::later:
    case Event::locked_out:
      ++report_.later;
      break;
    case Event::failed:
      ++report_.failed;
      break;
    case Event::parked:
      ++report_.parked;
      break;
    case Event::skipped:
      ++report_.skipped;
      break;
    case Event::unreadable:  // is no event of a letter
      break;
  }
  if (event != Event::replayed) {
    const bool skipped = event == Event::skipped;
    list({letter.letter.id, letter.letter.type, letter.letter.monitor, event, skipped ? behind_another : message});
  }
  observer_.event(event, letter, message);
}

void ReplayRun::list(UnresolvedLetter letter) {
  if (report_.unresolved.size() >= options_.max_unresolved) {
    ++report_.unresolved_left_out;
    return;
  }
  letter.why = letter::one_line(letter.why, letter::max_message_bytes);
  report_.unresolved.push_back(std::move(letter));
}

void ReplayRun::fail(std::exception_ptr error) {
  {
    const std::lock_guard hold(mutex_);
    if (!error_) error_ = std::move(error);
  }
  stop_.request_stop();
  changed_.notify_all();
}

}  // namespace forelock::drain
