#include "cli/process/signal_relay.h"

namespace forelock::cli {

SignalRelay::Inbox::Inbox(SignalRelay& relay) : relay_(relay) {
  const std::lock_guard guard(relay_.mutex_);
  relay_.inboxes_.push_back(this);
}

SignalRelay::Inbox::~Inbox() {
  const std::lock_guard guard(relay_.mutex_);
  std::erase(relay_.inboxes_, this);
}

std::optional<int> SignalRelay::Inbox::wait(const WakeUp& wake_up, std::chrono::steady_clock::time_point until) {
  wait_readable(arrived_.descriptor(), wake_up, until);
  const std::lock_guard guard(relay_.mutex_);
  std::optional<int> first;
  for (std::size_t signal = 0; signal < pending_.size() && !first; ++signal) {
    if (pending_.test(signal)) first = static_cast<int>(signal);
  }
  if (first) pending_.reset(static_cast<std::size_t>(*first));
  if (pending_.none()) arrived_.clear();
  return first;
}

std::size_t SignalRelay::deliver(int signal) {
  const std::lock_guard guard(mutex_);
  for (Inbox* inbox : inboxes_) {
    inbox->pending_.set(static_cast<std::size_t>(signal));
    inbox->arrived_.notify();
  }
  return inboxes_.size();
}

}  // namespace forelock::cli
