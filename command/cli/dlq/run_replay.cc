#include "cli/dlq/run_replay.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/audit.h"
#include "cli/connection.h"
#include "cli/dlq/command_target.h"
#include "cli/dlq/dlq_filter.h"
#include "cli/dlq/letters_text.h"
#include "cli/dlq/replay_progress.h"
#include "cli/exit_code.h"
#include "cli/opensearch/opensearch_target.h"
#include "cli/output/message_writer.h"
#include "cli/output/quantity_text.h"
#include "cli/process/signal_queue.h"
#include "cli/process/task.h"
#include "drain/topic_target.h"

namespace forelock::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Shows how a replay goes on, and leaves an audit line when it may begin.
class AuditedProgress final : public drain::ReplayObserver {
 public:
  AuditedProgress(ReplayProgress& progress, std::function<void(std::uint64_t token)> begun)
      : progress_(progress), begun_(std::move(begun)) {}

  void event(Event event, const drain::StoredLetter& letter, const std::string& message) override {
    progress_.event(event, letter, message);
  }
  void begun(std::uint64_t token) override { begun_(token); }

 private:
  ReplayProgress& progress_;
  const std::function<void(std::uint64_t token)> begun_;
};

// How many letters there are to replay. While it looks for them signals do what they always do: nothing has begun.
std::uint64_t count_letters(const ReplayRequest& request, const Context& context) {
  drain::LetterStatistics letters;
  open_letters(context, request.kind)->scan(request.options.filter, letters);
  return std::min(letters.letters, request.options.max.value_or(letters.letters));
}

class ReplayRun {
 public:
  ReplayRun(const ReplayRequest& request, std::uint64_t total, const Settings& settings, const Context& context)
      : request_(request),
        total_(total),
        console_(context.console),
        signals_({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD}),
        store_(drain::open_store(settings, request.kind, dead_letter_log(console_))),
        client_(settings, console_),
        to_command_(request.command, request.input, *client_, inherited_, relay_, stop_, console_) {
    if (request.opensearch) {
      const auto& [url, options] = *request.opensearch;
      to_opensearch_ = std::make_unique<OpenSearchTarget>(url, options, request.options.lock_timeout, stop_);
      target_ = [this](const drain::StoredLetter& letter, const std::stop_token&) { return (*to_opensearch_)(letter); };
    } else if (request.topic.empty()) {
      target_ = to_command();
    } else {
      target_ = drain::topic_target(settings, request.topic, dead_letter_log(console_));
    }
  }

  int run() {
    ReplayProgress progress(console_, total_);
    if (console_.text()) console_.note("replaying " + count_of_letters(total_) + " from the " + store_->describe());
    AuditedProgress observer(progress, [this](std::uint64_t token) { audit(token, "begun"); });
    drain::Replayer replayer(*client_, *store_, target_, observer);
    Task<drain::ReplayReport> running([&] { return replayer.run(request_.options, stop_.get_token()); });
    while (!running.done()) {
      const std::optional<int> signal = signals_.wait(running.wake_up(), Clock::now() + std::chrono::seconds(1));
      if (signal) take(*signal, progress);
      progress.tick();
    }
    progress.finish();
    const drain::ReplayReport report = result_of(running);
    if (!report.unsettled.empty())
      console_.warn(printable("nothing is lost, but the queue was not tidied up: " + report.unsettled));
    audit(token_, "replayed " + std::to_string(report.replayed) + ", failed " + std::to_string(report.failed) +
                      ", parked " + std::to_string(report.parked));
    say(report);
    return exit_code_of(report);
  }

 private:
  // From the replay's thread at the begin, from ours at the end.
  void audit(std::uint64_t token, const std::string& result) {
    token_ = token;
    audit_drain({"replay", store_->describe(), token, request_.which, result}, console_);
  }

  drain::ReplayReport result_of(Task<drain::ReplayReport>& running) {
    try {
      return running.result();
    } catch (...) {
      if (token_ != 0) audit(token_, "failed");
      throw;
    }
  }

  drain::LetterTarget to_command() {
    return [this](const drain::StoredLetter& letter, WriteLock& lock, const std::stop_token&) {
      return to_command_(letter, lock);
    };
  }

  void take(int signal, ReplayProgress& progress) {
    if (signal == SIGCHLD) {
      relay_.deliver(SIGCHLD);
    } else if (!ended_by_) {
      ended_by_ = signal;
      stop_.request_stop();
      progress.finish();
      console_.note("stopping when the current attempts have ended; a second signal ends them at once");
    } else {
      kill(signal);
    }
  }

  // What has no command that could be killed (a letter on its way into a topic, waiting for a lock or for Kafka) ends
  // with the process, as after SIGKILL: the letter is open still.
  void kill(int signal) {
    const bool waits_for_commands = relay_.deliver(SIGKILL) > 0;
    if (std::exchange(killed_, true) || !waits_for_commands) end_at_once(signal);
  }

  [[noreturn]] void end_at_once(int signal) {
    console_.warn("ended at once: the next replay retries what was in progress");
    if (token_ != 0) audit(token_, "ended by a second signal");
    client_.close();  // frees the locks
    MessageWriter::of_stderr().flush();
    _exit(exit_signalled(signal));
  }

  void say(const drain::ReplayReport& report) const {
    const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin_);
    if (!console_.text()) {
      console_.write_json({{"replayed", report.replayed},
                           {"failed", report.failed},
                           {"later", report.later},
                           {"parked", report.parked},
                           {"skipped", report.skipped},
                           {"unreadable", report.unreadable},
                           {"stopped", report.stopped},
                           {"elapsed_ms", elapsed.count()}});
      return;
    }
    std::string text = "replayed " + count_of_letters(report.replayed) + " in " + duration_text(elapsed) + '\n';
    const auto line = [&text](std::uint64_t count, const char* what) {
      if (count > 0) text += "  " + std::to_string(count) + ' ' + what + '\n';
    };
    line(report.failed, "failed: the next replay tries them again");
    line(report.parked, "parked, because they failed too often: forelock dlq list --parked");
    line(report.later, "for later: the command or the lock was not available; the next replay tries them again");
    line(report.skipped, "skipped: an earlier letter of their monitor stands before them");
    line(report.unreadable, "cannot be read: forelock dlq list names them");
    if (report.stopped) text += "  stopped before the end; run it again to continue\n";
    console_.write(text);
  }

  int exit_code_of(const drain::ReplayReport& report) const {
    if (const auto code = to_command_.not_executed()) {
      throw FailureException({*code,
                              *code == exit_command_not_found ? "command_not_found" : "cannot_execute",
                              "--exec " + request_.command + " cannot be executed (" + std::to_string(*code) +
                                  "); the replay was stopped, and no letter was counted as failed",
                              request_.input == TargetInput::payload
                                  ? "try it by hand with one payload: forelock dlq show ID --payload | COMMAND"
                                  : "try it by hand with one record: forelock dlq export --id ID | COMMAND",
                              {},
                              false,
                              {}});
    }
    if (to_opensearch_ && to_opensearch_->not_authorized()) {
      throw FailureException(to_opensearch_->authorization_failure());
    }
    if (ended_by_) return exit_signalled(*ended_by_);
    if (report.stopped) {
      throw FailureException({exit_lock_lost,
                              std::string(name_of(ErrorCode::lock_unhealthy)),
                              "the drainer's lock was lost; the replay was stopped",
                              "run it again: what is done stays done",
                              store_->drainer_monitor(),
                              true,
                              {}});
    }
    if (report.failed > 0 || report.parked > 0) return exit_failed;
    if (report.later > 0) return exit_not_in_time;
    return report.skipped > 0 ? exit_failed : exit_ok;
  }

  const ReplayRequest& request_;
  const std::uint64_t total_;
  std::atomic<std::uint64_t> token_ = 0;  // 0 before the drainer's lock is held
  const Console& console_;
  const Clock::time_point begin_ = Clock::now();
  const InheritedDescriptors inherited_;
  SignalQueue signals_;  // before any thread
  std::unique_ptr<drain::LetterStore> store_;
  CommandClient client_;
  SignalRelay relay_;
  std::stop_source stop_;
  std::optional<int> ended_by_;
  bool killed_ = false;
  CommandTarget to_command_;
  std::unique_ptr<OpenSearchTarget> to_opensearch_;
  drain::AnyTarget target_;
};

}  // namespace

int run_replay(const ReplayRequest& request, const Settings& settings, const Context& context) {
  const std::uint64_t total = count_letters(request, context);
  return ReplayRun(request, total, settings, context).run();
}

}  // namespace forelock::cli
