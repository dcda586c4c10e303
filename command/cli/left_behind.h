// Threads for work that may block for ever, so that the end of the process need not wait for it.
#pragma once

#include <chrono>
#include <functional>

#include "cli/process/signal_queue.h"

namespace forelock::cli {

// A signal has ended the command before it had begun anything: exit 128+n.
struct EndedBySignal {
  int signal;
};

// Does `work` in a thread of its own. After `longest` that thread is left behind: what the work refers to must live as
// long as the process. \returns whether it has ended. \throws what it threw.
bool do_or_leave_behind(std::function<void()> work, std::chrono::milliseconds longest);

// Does `work` in a thread of its own until a signal comes that means an end; then that thread is left behind.
// \throws what it threw, EndedBySignal.
void do_unless_signalled(std::function<void()> work, SignalSource& signals);

// Does `work` in a thread of its own that nothing waits for. What it throws is lost; what it refers to must live as
// long as the process.
void do_in_background(std::function<void()> work);

// Whether such a thread still runs. Then the process ends without destroying what it may use.
bool something_is_left_behind();

}  // namespace forelock::cli
