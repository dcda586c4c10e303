#include "cli/serve/unlocker.h"

#include <algorithm>
#include <utility>

#include "base/thread_start.h"
#include "cli/monitors/forced_release.h"
#include "cli/monitors/sweep.h"
#include "forelock/error.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

// A sweep reads every monitor's node.
constexpr std::chrono::milliseconds pause_after_failure{500};
constexpr std::chrono::milliseconds most_frequent_sweep = std::chrono::seconds(1);
constexpr std::chrono::milliseconds rarest_sweep = std::chrono::hours(1);

// A lock that lingers would not be free for the next unlocker.
LockOptions own_options() {
  LockOptions options;
  options.may_linger = false;
  options.capture_stack = false;
  return options;
}

}  // namespace

bool may_be_unlocked(const HolderView& holder, WallTime now) {
  return holder.owner && holder.owner->auto_unlock_at && now >= *holder.owner->auto_unlock_at;
}

Unlocker::Unlocker(Client& client, std::chrono::milliseconds patience, std::chrono::milliseconds sweep_after,
                   const Console& console, Freed freed)
    : client_(client),
      patience_(patience),
      sweep_after_(sweep_after),
      console_(console),
      freed_(std::move(freed)),
      lock_(client, "forelock serve --unlocker", unlocker_monitor, Priority::foreground, own_options()) {}

Unlocker::~Unlocker() {
  stop();
}

void Unlocker::start() {
  thread_ = base::start_thread("forelock-free", [this] { work(); });
}

void Unlocker::take(std::shared_ptr<const Picture> picture) {
  const std::lock_guard guard(mutex_);
  next_ = std::move(picture);
  changed_.notify_all();
}

void Unlocker::begin_stop() {
  const std::lock_guard guard(mutex_);
  stop_ = true;
  changed_.notify_all();
}

void Unlocker::stop() {
  begin_stop();
  if (thread_.joinable()) thread_.join();
}

bool Unlocker::stopping() {
  const std::lock_guard guard(mutex_);
  return stop_;
}

void Unlocker::work() {
  std::unique_lock guard(mutex_);
  while (true) {
    changed_.wait(guard, [this] { return stop_ || next_; });
    if (stop_) return;
    const std::shared_ptr<const Picture> picture = std::exchange(next_, nullptr);
    guard.unlock();
    bool all_well = false;
    try {
      all_well = act(*picture);
    } catch (const std::exception& problem) {
      tell(problem.what());
    }
    guard.lock();
    // Pictures may come many times a second: what has failed is not tried with each of them.
    if (!all_well) changed_.wait_for(guard, pause_after_failure, [this] { return stop_; });
  }
}

bool Unlocker::act(const Picture& picture) {
  active_ = holds_its_lock(picture);
  if (!active_) return true;
  bool all_well = true;
  for (const SharedSighting& sighting : picture.monitors()) {
    const std::optional<HolderView>& holder = sighting->view().holder;
    if (!holder || !may_be_unlocked(*holder, records::wall_time_now())) continue;
    const std::string& monitor = sighting->monitor();
    active_ = lock_.healthy();
    if (!active_ || stopping()) return true;
    try {
      free(monitor, *holder);
    } catch (const std::exception& problem) {
      all_well = false;  // the others are freed all the same
      tell("cannot free " + monitor + ": " + problem.what());
    }
  }
  sweep_if_due();
  if (all_well) told_.clear();
  return all_well;
}

// The first one as soon as it is active.
void Unlocker::sweep_if_due() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_sweep_ || stopping()) return;
  next_sweep_ = now + std::clamp(sweep_after_, most_frequent_sweep, rarest_sweep);
  swept_ += sweep(client_, {sweep_after_, false, patience_}).removed.size();
}

bool Unlocker::holds_its_lock(const Picture& picture) {
  if (lock_.healthy()) return true;
  if (lock_.owns_lock()) lock_.unlock_async();
  const Sighting* const shown = picture.find(unlocker_monitor);
  if (shown != nullptr && shown->view().holder) return false;  // spares the servers a request
  return lock_.try_lock();
}

void Unlocker::free(const std::string& monitor, const HolderView& holder) {
  const std::string reason = "its time to be unlocked automatically, " +
                             records::format_wall_time(*holder.owner->auto_unlock_at) + ", is over";
  const ReleaseReport report = force_release(
      client_, patience_, console_, {"unlock", monitor, known_as(holder), reason},
      [this](const HolderView& now) { return may_be_unlocked(now, records::wall_time_now()) && lock_.healthy(); });
  if (report.outcome == ReleaseOutcome::unknown) std::rethrow_exception(report.problem);
  if (report.outcome != ReleaseOutcome::released) return;
  ++count_;
  freed_(monitor, *report.before, reason);
}

void Unlocker::tell(const std::string& problem) {
  if (std::exchange(told_, problem) != problem) console_.warn("unlocker: " + problem);
}

}  // namespace forelock::cli
