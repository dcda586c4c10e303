// Shares a process's signals among several threads that watch children.
#pragma once

#include <bitset>
#include <cstddef>
#include <mutex>
#include <vector>

#include "cli/process/signal_queue.h"

namespace forelock::cli {

// One thread reads the SignalQueue and distributes what it reads to all inboxes. Thread-safe; must outlive
// its inboxes.
class SignalRelay {
 public:
  // A thread's own view of the signals, from its making on. Like the kernel's: a signal that comes twice before it is
  // taken comes once.
  class Inbox final : public SignalSource {
   public:
    explicit Inbox(SignalRelay& relay);
    ~Inbox() override;

    std::optional<int> wait(const WakeUp& wake_up, std::chrono::steady_clock::time_point until) override;

   private:
    friend class SignalRelay;

    SignalRelay& relay_;
    WakeUp arrived_;
    std::bitset<65> pending_;  // by signal number; guarded by relay_.mutex_
  };

  // \returns how many got it.
  std::size_t deliver(int signal);

 private:
  std::mutex mutex_;
  std::vector<Inbox*> inboxes_;
};

}  // namespace forelock::cli
