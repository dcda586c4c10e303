#include "client/client_log.h"

#include <utility>

#include "base/counted.h"

namespace forelock::client {

ClientLog::ClientLog(LogSink sink) : sink_(std::move(sink)) {}

void ClientLog::start() {
  if (sink_) thread_.start();
}

void ClientLog::write(std::string_view level, std::string_view message) {
  if (!sink_) return;
  const std::lock_guard guard(mutex_);
  // The course of locks, thousands of lines at times, leaves room for what is worth a warning.
  const std::size_t most = level == "debug" ? max_waiting / 2 : max_waiting;
  if (waiting_ >= most) {
    ++dropped_;
    return;
  }
  if (const std::size_t dropped = std::exchange(dropped_, 0); dropped > 0) {
    hand_over("warning", base::counted(dropped, "line of the log was", "lines of the log were") +
                             " dropped: the log sink takes too long");
  }
  hand_over(std::string(level), std::string(message));
}

// Requires mutex_.
void ClientLog::hand_over(std::string level, std::string message) {
  ++waiting_;
  thread_.post({.run = [this, level = std::move(level), message = std::move(message)] {
    {
      const std::lock_guard guard(mutex_);
      --waiting_;
    }
    sink_(level, message);
  }});
}

void ClientLog::stop() {
  thread_.stop();
}

}  // namespace forelock::client
