// forelock run: a command while a lock is held.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/exit_code.h"
#include "cli/hints.h"
#include "cli/monitors/release_note.h"
#include "cli/output/quantity_text.h"
#include "cli/process/family.h"
#include "cli/run/command_lock.h"
#include "cli/run/lock_wait.h"
#include "cli/run/locked_child.h"
#include "cli/run/run_operation.h"
#include "cli/run/run_options.h"
#include "client/ensemble_link.h"

namespace forelock::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds look_at_note_for{400};

std::string held_time_text(Clock::duration time) {
  return duration_text(std::chrono::duration_cast<std::chrono::milliseconds>(time));
}

// "P1 (token 7), P2 (token 8)"
std::string text_of(const std::vector<MemberToken>& tokens) {
  std::string text;
  for (const MemberToken& member : tokens) {
    text += (text.empty() ? "" : ", ") + member.monitor + " (token " + std::to_string(member.token) + ')';
  }
  return text;
}

class RunCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("run", "Run a command while a lock is held");
    options_.add_to(*app);
    return app;
  }

  int run(const Context& context) override {
    options_.check();
    options_.note_doubts(context.console);
    const InheritedDescriptors inherited;
    SignalQueue signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD});
    adopt_orphans();
    if (options_.retry) return run_operation(options_, context, inherited, signals);
    return run_once(context, inherited, signals);
  }

 private:
  int run_once(const Context& context, const InheritedDescriptors& inherited, SignalQueue& signals) const {
    CommandClient client(read_settings(options_, context.globals, signals), context.console);
    LockOptions lock_options;
    lock_options.capture_stack = false;  // ours says nothing about what is run
    lock_options.thread_name = "run";
    lock_options.expected_runtime = options_.expected_runtime;
    lock_options.auto_unlock_after = options_.auto_unlock_after;
    if (const char* const around = std::getenv("TRACEPARENT")) lock_options.traceparent = around;
    const std::unique_ptr<CommandLock> lock =
        make_command_lock(*client, options_.lock_info(), options_.monitors, options_.lock_class(), lock_options);

    std::optional<int> ended_by;
    const auto asked_at = Clock::now();
    try {
      WaitNotice notice(
          client.shared(), [&lock] { return lock->waited_for(); }, context.console);
      ended_by = take_lock(*lock, *client, options_.waiting(client->settings()), signals, notice);
    } catch (const InstanceLockException&) {
      const Failure failure = conflict();
      if (options_.conflict_code && context.console.quiet()) return failure.exit_code;  // asked for, both of them
      throw FailureException(failure);
    }
    if (ended_by) {
      client.close();  // the node goes with the session, whatever became of the lock
      return exit_signalled(*ended_by);
    }
    const std::vector<MemberToken> tokens = lock->tokens();
    const auto held_from = Clock::now();
    const LogSink log = log_to(context.console);
    log("info", "got " + text_of(tokens) + " after " + held_time_text(held_from - asked_at));
    ChildOptions child;
    child.command = options_.command;
    LockGuardian::Result result;
    try {
      result = run_under_lock(*lock, *client, child, options_.guarding(*client), inherited, signals, context.console);
    } catch (const LockUnhealthyException& error) {
      throw FailureException(loss(*client, error.monitor(), tokens, error.what()));
    }
    std::string lost = lost_monitor(*lock);
    if (!release(*lock, lost, context.console)) result.lock_lost = true;
    if (!result.lock_lost) {
      log("info", "released " + lock->name() + " after " + held_time_text(Clock::now() - held_from));
      return result.exit_code;
    }
    throw FailureException(loss(*client, lost, tokens,
                                "the lock on " + lost + " was lost while the command ran (it ended with " +
                                    std::to_string(result.exit_code) +
                                    "); its work may overlap with another holder's"));
  }

  // While all are held, and are about to be lost together, the first one.
  std::string lost_monitor(const CommandLock& lock) const {
    try {
      lock.check_health();
    } catch (const Error& error) {
      return error.monitor();
    }
    return options_.monitors.front();
  }

  static Failure loss(Client& client, const std::string& monitor, const std::vector<MemberToken>& tokens,
                      std::string message) {
    const std::optional<ReleaseNote> note =
        client.connected() ? read_release_note(client, monitor, look_at_note_for) : std::nullopt;
    const bool ours = note && std::any_of(tokens.begin(), tokens.end(), [&](const MemberToken& member) {
                        return member.monitor == monitor && member.token == note->token;
                      });
    if (ours) message += "; " + text_of(*note);
    return {exit_lock_lost,
            std::string(name_of(ErrorCode::lock_unhealthy)),
            message,
            show_hint(monitor),
            monitor,
            true,
            {}};
  }

  // Of the exception that is being handled.
  Failure conflict() const {
    Failure failure = failure_of(std::current_exception());
    if (failure.hint.empty()) {
      failure.hint = show_hint(failure.monitor.empty() ? options_.monitors.front() : failure.monitor);
    }
    if (options_.conflict_code) failure.exit_code = *options_.conflict_code;
    return failure;
  }

  // \returns whether the lock was ours to the end; if not, `lost` is what was lost.
  static bool release(CommandLock& lock, std::string& lost, const Console& console) {
    try {
      lock.unlock_or_throw();
      return true;
    } catch (const ConnectionLossException& error) {
      // The command has ended in time; the server frees the lock with the session at the latest.
      console.note(std::string("the release is not confirmed: ") + error.what());
      return true;
    } catch (const Error& error) {
      lost = error.monitor();
      return false;
    }
  }

  RunOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_run_command() {
  return std::make_unique<RunCommand>();
}

}  // namespace forelock::cli
