// The target of `dlq replay --exec`: hands each letter to a command.
#pragma once

#include <atomic>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "cli/output/console.h"
#include "cli/process/inherited_descriptors.h"
#include "cli/process/signal_relay.h"
#include "drain/replayer.h"
#include "forelock/client.h"

namespace forelock::cli {

// What the command of a replay reads from its stdin.
enum class TargetInput {
  record,  // the letter, as one line of JSON
  payload  // the operation's payload alone, as at each attempt of `run --retry`
};

// Runs a shell command for each letter: the input on stdin, our stderr as its stdout, the lock and the letter in its
// environment. 0 is done, 75 later, anything else failed. A command that cannot be executed (126, 127) is no fault of
// any letter: it stops the replay. Thread-safe.
class CommandTarget {
 public:
  // `stop` ends the replay. Children get the signals of `relay`.
  CommandTarget(std::string command, TargetInput input, const Client& client, const InheritedDescriptors& inherited,
                SignalRelay& relay, std::stop_source stop, const Console& console);

  drain::TryResult operator()(const drain::StoredLetter& letter, const WriteLock& lock);

  // The exit code of a command that cannot be executed, if it was met.
  std::optional<int> not_executed() const;

 private:
  std::vector<std::pair<std::string, std::string>> environment_of(const drain::StoredLetter& letter) const;

  const std::string command_;
  const TargetInput input_;
  const Client& client_;
  const InheritedDescriptors& inherited_;
  SignalRelay& relay_;
  std::stop_source stop_;
  const Console& console_;
  std::atomic<int> not_executed_ = 0;
};

}  // namespace forelock::cli
