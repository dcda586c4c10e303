// A ProblemLog reports problems of forwarding to the host's log without flooding it.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "forelock/client.h"

namespace forelock::forward {

// A failure is reported when it is the first one or a new one, and so is the recovery from it. Thread-safe. The sink is
// called without a lock held, by the reporting thread.
class ProblemLog {
 public:
  explicit ProblemLog(LogSink sink) : sink_(std::move(sink)) {}

  // Something that is tried again.
  void trouble(const std::string& message);
  // A letter that cannot go through. Of many in a row only the first ones are told one by one.
  void refusal(const std::string& message);
  // All is well again.
  void recovered(const std::string& message);
  void info(const std::string& message);

  // The last trouble or refusal; empty: none has been.
  std::string last() const;

 private:
  static constexpr std::uint64_t refusals_told = 20;

  void tell(std::string_view level, const std::string& message);

  const LogSink sink_;
  mutable std::mutex mutex_;
  std::string last_;
  std::string present_;  // the trouble that lasts
  std::uint64_t refusals_ = 0;
};

}  // namespace forelock::forward
