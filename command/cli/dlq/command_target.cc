#include "cli/dlq/command_target.h"

#include <signal.h>

#include <utility>

#include "cli/dlq/letters_json.h"
#include "cli/exit_code.h"
#include "cli/run/locked_child.h"
#include "forelock/error.h"

namespace forelock::cli {
namespace {

constexpr std::chrono::milliseconds kill_after{1000};
constexpr int exit_later = 75;

}  // namespace

CommandTarget::CommandTarget(std::string command, TargetInput input, const Client& client,
                             const InheritedDescriptors& inherited, SignalRelay& relay, std::stop_source stop,
                             const Console& console)
    : command_(std::move(command)),
      input_(input),
      client_(client),
      inherited_(inherited),
      relay_(relay),
      stop_(std::move(stop)),
      console_(console) {}

drain::TryResult CommandTarget::operator()(const drain::StoredLetter& letter, const WriteLock& lock) {
  using drain::TryOutcome;
  SignalRelay::Inbox signals(relay_);
  if (stop_.stop_requested()) return {TryOutcome::later, "stopped"};
  ChildOptions child;
  child.command = {"/bin/sh", "-c", command_};
  child.environment = environment_of(letter);
  child.input = input_ == TargetInput::payload ? letter.letter.payload : one_line(letter.record) + '\n';
  child.output_to_stderr = true;
  child.foreground = false;  // several may run at once
  LockGuardian::Result result;
  try {
    result = run_under_lock(GuardedWriteLock(lock), client_, child,
                            guard_options(client_, OnLost::terminate, kill_after), inherited_, signals, console_);
  } catch (const LockUnhealthyException& error) {
    return {TryOutcome::later, error.what()};
  }
  const std::string ended = "the command ended with " + std::to_string(result.exit_code);
  if (result.lock_lost) return {TryOutcome::later, "the lock was lost while the command ran; " + ended};
  switch (result.exit_code) {
    case exit_ok:
      return {TryOutcome::done, {}};
    case exit_later:
      return {TryOutcome::later, ended};
    case exit_cannot_execute:
    case exit_command_not_found:
      not_executed_ = result.exit_code;
      stop_.request_stop();
      return {TryOutcome::later, "the command cannot be executed (" + std::to_string(result.exit_code) + ")"};
    default:
      break;
  }
  // The second signal kills: that is no failure of the letter.
  if (result.signal == SIGKILL && stop_.stop_requested()) return {TryOutcome::later, "killed on demand"};
  return {TryOutcome::failed, ended};
}

std::optional<int> CommandTarget::not_executed() const {
  const int code = not_executed_;
  return code == 0 ? std::nullopt : std::optional(code);
}

std::vector<std::pair<std::string, std::string>> CommandTarget::environment_of(
    const drain::StoredLetter& stored) const {
  const DeadLetter& letter = stored.letter;
  std::vector<std::pair<std::string, std::string>> all = {
      {"FORELOCK_OPERATION", letter.id},
      {"FORELOCK_ATTEMPT", "0"},  // none of those that `run --retry` counts from 1
      {"FORELOCK_DLQ_ID", letter.id},
      {"FORELOCK_DLQ_TYPE", letter.type},
      {"FORELOCK_DLQ_REASON", letter.reason},
      {"FORELOCK_DLQ_TRIES", std::to_string(stored.tries)},
      {"FORELOCK_DLQ_REPLAY_COUNT", std::to_string(letter.replay_count)}};
  if (!letter.traceparent.empty()) all.emplace_back("TRACEPARENT", letter.traceparent);
  return all;
}

}  // namespace forelock::cli
