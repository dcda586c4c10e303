#include "cli/run/run_operation.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>

#include "base/counted.h"
#include "cli/connection.h"
#include "cli/dlq/letters_json.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/hints.h"
#include "cli/left_behind.h"
#include "cli/process/descriptor.h"
#include "cli/process/signal_queue.h"
#include "cli/process/signal_relay.h"
#include "cli/process/task.h"
#include "cli/run/locked_child.h"
#include "forelock/dead_letter_queue.h"
#include "forelock/operation.h"
#include "forelock/operation_runner.h"
#include "forward/open_outbox.h"
#include "records/guid.h"

namespace forelock::cli {
namespace {

[[noreturn]] void throw_unreadable(const std::string& file, int error) {
  throw_usage("run: --payload " + file + ": " + std::generic_category().message(error));
}

std::string read_all(const std::string& file) {
  const Descriptor input(file == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                     : open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (input.get() < 0) throw_unreadable(file, errno);
  std::string payload(Operation::max_payload_bytes + 1, '\0');  // one more tells that there is too much
  std::size_t size = 0;
  while (size < payload.size()) {
    const ssize_t count = read(input.get(), payload.data() + size, payload.size() - size);
    if (count == 0) break;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_unreadable(file, errno);
    size += static_cast<std::size_t>(count);
  }
  if (size > Operation::max_payload_bytes) {
    throw_usage("run: --payload " + file + " is larger than " + std::to_string(Operation::max_payload_bytes) + " bytes",
                "put it into a store, and its place there into the payload");
  }
  payload.resize(size);
  return payload;
}

// Reads all of it; "-" is stdin. A signal ends the reading, however silent the writer is. \throws FailureException
// (usage) if it cannot be read or is larger than an operation may carry; EndedBySignal.
std::string read_payload(const std::string& file, SignalSource& signals) {
  const auto payload = std::make_shared<std::string>();
  do_unless_signalled([payload, file] { *payload = read_all(file); }, signals);
  return std::move(*payload);
}

// Whether it is something that can be read only once. A terminal and /dev/null are not.
bool stdin_holds_data() {
  struct stat status {};
  if (fstat(STDIN_FILENO, &status) != 0) return false;
  return S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || (S_ISREG(status.st_mode) && status.st_size > 0);
}

// Of the trace that we are part of, as programs hand it on (https://www.w3.org/TR/trace-context/); else nothing.
std::string traceparent() {
  static const std::regex form("[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}");
  const char* const value = std::getenv("TRACEPARENT");
  return value != nullptr && std::regex_match(value, form) ? value : "";
}

// How long the end of a failed operation waits to know whether Kafka has its letter.
constexpr std::chrono::seconds patience_with_kafka{2};

constexpr int exit_try_again = 75;  // what the command says when it wants to be tried again

class OperationRun {
 public:
  OperationRun(const RunOptions& options, const Context& context, const InheritedDescriptors& inherited,
               SignalQueue& signals)
      : options_(options),
        console_(context.console),
        inherited_(inherited),
        signals_(signals),
        settings_(read_settings(options, context.globals, signals)),
        operation_(make_operation(options, signals)),
        queue_(settings_, dead_letter_log(console_)),
        client_(settings_, console_),
        runner_(*client_, queue_) {}

  int run() {
    Task<OperationResult> running([this] { return runner_.run(operation_, handler(), run_options()); });
    while (!running.done()) {
      const std::optional<int> signal = signals_.wait(running.wake_up(), std::chrono::steady_clock::time_point::max());
      if (signal) take(*signal);
    }
    try {
      return report(running.result());
    } catch (const FailureException&) {
      throw;
    } catch (const InstanceLockException& error) {
      if (ended_by_ == 0 || error.code() != ErrorCode::cancelled) throw;
      client_.close();  // the node goes with the session
      if (console_.text()) console_.note(printable(std::string(error.what()) + "; " + error.hint()));
      return exit_signalled(ended_by_);
    } catch (...) {
      if (!given_up_) throw;
      throw FailureException(not_stored(failure_of(std::current_exception())));
    }
  }

 private:
  static Operation make_operation(const RunOptions& options, SignalSource& signals) {
    Operation operation;
    operation.id = options.id.empty() ? records::make_guid() : options.id;
    operation.type = options.operation_type();
    operation.monitor = options.monitors.front();
    operation.priority = options.lock_class();
    operation.lock_info = options.lock_info();
    if (!options.payload.empty()) operation.payload = read_payload(options.payload, signals);
    operation.traceparent = traceparent();
    return operation;
  }

  // Signals are the command's while it runs. One that means an end withdraws the operation, unless the command succeeds
  // all the same.
  void take(int signal) {
    const bool command_runs = relay_.deliver(signal) > 0;
    const bool harmless = signal == SIGUSR1 || signal == SIGUSR2;  // to a command; not to a waiting program
    if (!ends_waiting(signal) || (command_runs && harmless)) return;
    withdraw(signal);
  }

  void withdraw(int signal) {
    int none = 0;
    ended_by_.compare_exchange_strong(none, signal);
    withdrawn_.request_stop();
  }

  OperationRunner::Handler handler() {
    return [this](OperationAttempt& attempt) { run_command(attempt); };
  }

  OperationRunOptions run_options() {
    OperationRunOptions result;
    result.stop = withdrawn_.get_token();
    result.on_failure = [this](const FailedAttempt& attempt, bool will_retry) {
      attempts_.push_back(attempt);
      given_up_ = !will_retry;
      warn_of_stdin();
      if (!will_retry || !console_.text()) return;
      // The message names others' locks, in their words.
      console_.note(printable(options_.monitors.front() + ": attempt " + std::to_string(attempt.number) + " of " +
                              std::to_string(settings_.request_retry_count() + 1) + ": " + attempt.code + ": " +
                              attempt.message + "; trying again"));
    };
    return result;
  }

  // What the first command has read from our stdin cannot be read again.
  void warn_of_stdin() {
    if (!command_began_ || stdin_is_kept_ || std::exchange(told_of_stdin_, true)) return;
    console_.warn(printable(
        options_.monitors.front() +
        ": stdin is a pipe or a file, and belonged to the first attempt: later ones, and a replay of the dead letter, "
        "do "
        "not get what it has read. With --payload - each gets all of it; if the command reads nothing: </dev/null"));
  }

  void run_command(OperationAttempt& attempt) {
    SignalRelay::Inbox inbox(relay_);
    command_began_ = true;
    worth_another_ = true;
    if (withdrawn_.stop_requested()) throw OperationFailure("cancelled", "withdrawn", true);
    const LockGuardian::Result result = run_child(attempt, inbox);
    if (result.lock_lost) {
      throw LockUnhealthyException(
          ErrorCode::lock_unhealthy, options_.monitors.front(),
          "the lock was lost while the command ran (it ended with " + std::to_string(result.exit_code) + ")");
    }
    if (result.exit_code == 0) return;
    if (result.interrupted) withdraw(result.exit_code - exit_signalled(0));
    worth_another_ = result.signal == 0 && result.exit_code == exit_try_again;
    if (result.signal != 0) {
      throw OperationFailure("signal_" + std::to_string(result.signal),
                             "the command was ended by signal " + std::to_string(result.signal), false);
    }
    throw OperationFailure("exit_" + std::to_string(result.exit_code),
                           "the command ended with " + std::to_string(result.exit_code), worth_another_);
  }

  LockGuardian::Result run_child(const OperationAttempt& attempt, SignalSource& signals) const {
    ChildOptions child;
    child.command = options_.command;
    child.environment = {{"FORELOCK_ATTEMPT", std::to_string(attempt.number)}, {"FORELOCK_OPERATION", operation_.id}};
    if (!options_.payload.empty()) child.input = operation_.payload;
    log_to(console_)("info", "attempt " + std::to_string(attempt.number) + " of operation " + operation_.id + ": got " +
                                 attempt.lock.monitor() + " (token " + std::to_string(attempt.lock.fencing_token()) +
                                 ')');
    try {
      return run_under_lock(GuardedWriteLock(attempt.lock), *client_, child, options_.guarding(*client_), inherited_,
                            signals, console_);
    } catch (const FailureException& failure) {
      throw OperationFailure(failure.failure().code, failure.what(), false);
    }
  }

  // "topic" when Kafka has it; waits for that, but not for long.
  std::string place_of_letter() {
    return forward::kafka_is_configured(settings_) && queue_.flush(patience_with_kafka) ? "topic" : "outbox";
  }

  std::string place_text(const std::string& place) const {
    if (!forward::kafka_is_configured(settings_)) return {};
    if (place == "topic") return ", in the topic " + settings_.dlq_topic();
    return ", in this machine's outbox until Kafka has it: forelock dlq forward";
  }

  int report(const OperationResult& result) {
    if (result.status == OperationResult::Status::succeeded) return exit_ok;
    const FailedAttempt& last = result.attempts.back();
    const std::string place = place_of_letter();
    const auto retries = static_cast<std::size_t>(settings_.request_retry_count());
    const bool used_up = worth_another_ && result.attempts.size() > retries;
    Failure failure{exit_dead_lettered,
                    "dead_lettered",
                    options_.monitors.front() + ": " +
                        (used_up ? "out of retries after " + base::counted(result.attempts.size(), "attempt")
                                 : "not worth another attempt") +
                        ": " + last.code + ": " + last.message + "; it is dead letter " + result.id + place_text(place),
                    dead_letter_hint(result.id),
                    options_.monitors.front(),
                    false,
                    {}};
    failure.details = std::make_shared<nlohmann::ordered_json>(nlohmann::ordered_json{
        {"dead_letter",
         {{"id", result.id}, {"reason", result.reason}, {"place", place}, {"attempts", json_of(result.attempts)}}}});
    throw FailureException(std::move(failure));
  }

  Failure not_stored(Failure failure) const {
    failure.exit_code = exit_not_stored;
    failure.message = options_.monitors.front() + ": operation " + operation_.id + " has failed (" +
                      attempts_.back().code + ": " + attempts_.back().message +
                      ") AND IS IN NO QUEUE, because the dead letter could not be stored: " + failure.message;
    if (failure.hint.empty()) failure.hint = "keep the operation, and run this command again: forelock dlq stats";
    failure.monitor = options_.monitors.front();
    failure.details = std::make_shared<nlohmann::ordered_json>(nlohmann::ordered_json{
        {"operation", {{"id", operation_.id}, {"reason", attempts_.back().code}, {"attempts", json_of(attempts_)}}}});
    return failure;
  }

  const RunOptions& options_;
  const Console& console_;
  const InheritedDescriptors& inherited_;
  SignalQueue& signals_;
  const Settings settings_;
  const Operation operation_;
  DeadLetterQueue queue_;
  CommandClient client_;
  OperationRunner runner_;
  SignalRelay relay_;
  std::stop_source withdrawn_;
  std::atomic<int> ended_by_ = 0;  // a signal; 0: none
  // Written by the running operation, read when it has ended.
  std::vector<FailedAttempt> attempts_;
  bool given_up_ = false;
  bool command_began_ = false;
  bool worth_another_ = true;  // as far as the last command says
  bool told_of_stdin_ = false;
  const bool stdin_is_kept_ = !options_.payload.empty() || !stdin_holds_data();
};

}  // namespace

int run_operation(const RunOptions& options, const Context& context, const InheritedDescriptors& inherited,
                  SignalQueue& signals) {
  return OperationRun(options, context, inherited, signals).run();
}

}  // namespace forelock::cli
