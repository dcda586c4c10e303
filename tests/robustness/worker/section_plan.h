// The next step of a worker, decided by a seed.
#pragma once

#include "forelock/priority.h"
#include "robustness/worker/worker_options.h"

namespace forelock::robustness {

struct SectionPlan {
  enum class Wait {
    configured,  // the time-out that is configured for the class
    limited,     // `limit`
    none,        // only if it is free
    cancelled    // `limit`, but withdrawn after `cancel_after` if it lasts so long
  };
  enum class Release { confirmed, asynchronous, destructor };

  std::string monitor;
  Priority priority = Priority::foreground;
  Wait wait = Wait::configured;
  std::chrono::milliseconds limit{0};
  std::chrono::milliseconds cancel_after{0};
  std::optional<std::chrono::milliseconds> other_class_after;  // if it is cancelled: before that, a change of its class
  std::chrono::milliseconds hold{0};
  std::optional<std::chrono::milliseconds> auto_unlock_after;
  std::optional<std::chrono::milliseconds> alive_after;  // it says then that it goes on, and is to be left alone
  Release release = Release::confirmed;
  bool callbacks = false;   // of the queue: on_queued, on_contended
  bool step_aside = false;  // once, while held
  std::chrono::microseconds pause{0};

  Priority other_class() const {
    return priority == Priority::foreground ? Priority::background : Priority::foreground;
  }
  // How it waits, as the history says it.
  std::string_view mode() const;
};

// Not thread-safe: one for each thread (or seat), counted from 0. Every other one mostly takes monitors that hardly
// anybody else wants, and so keeps up the speed while the others wait for each other.
class SectionPlanner {
 public:
  SectionPlanner(const WorkerOptions& options, int index)
      : options_(options),
        random_(options.seed * 1000 + static_cast<std::uint64_t>(index)),
        own_share_(options.own_monitors == 0 ? 0
                   : index % 2 == 0          ? 0.95
                                             : 0.1) {}

  static constexpr std::size_t most_members = 5;

  SectionPlan next();
  // The monitors of a set: that of a plan, and some more, perhaps fewer if the same comes twice.
  std::vector<std::string> members(const SectionPlan& plan);

 private:
  bool chance(double probability) { return std::bernoulli_distribution(probability)(random_); }
  std::chrono::milliseconds between(int from, int to) {
    return std::chrono::milliseconds(std::uniform_int_distribution(from, to)(random_));
  }
  std::string own_monitor();
  std::string shared_monitor();
  std::string any_monitor(bool own);
  void decide_waiting(SectionPlan& plan);
  void decide_holding(SectionPlan& plan, bool own);
  void become_overdue(SectionPlan& plan);

  const WorkerOptions& options_;
  std::mt19937_64 random_;
  const double own_share_;
};

}  // namespace forelock::robustness
