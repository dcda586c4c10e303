// forelock run: a command while a lock is held.
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/exit_code.h"
#include "cli/hints.h"
#include "cli/lock_wait.h"
#include "cli/locked_child.h"
#include "cli/operation_run.h"
#include "cli/run_options.h"

namespace forelock::cli {
namespace {

class RunCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("run", "Run a command while a lock is held");
    options_.add_to(*app);
    return app;
  }

  int run(const Context& context) override {
    options_.check();
    const InheritedDescriptors inherited;
    SignalQueue signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD});
    if (options_.retry) return run_operation(options_, context, inherited, signals);
    return run_once(context, inherited, signals);
  }

 private:
  int run_once(const Context& context, const InheritedDescriptors& inherited, SignalQueue& signals) const {
    Client client(options_.settings(context.globals), log_to(context.console));
    LockOptions lock_options;
    lock_options.capture_stack = false;  // ours says nothing about what is run
    lock_options.thread_name = "run";
    BlockingWriteLock lock(client, options_.lock_info(), options_.monitor, options_.lock_class(), lock_options);

    if (const auto signal = acquire(lock, signals)) {
      client.close();  // the node goes with the session, whatever became of the lock
      return exit_signalled(*signal);
    }
    ChildOptions child;
    child.command = options_.command;
    LockGuardian::Result result =
        run_under_lock(lock, client, child, guard_options(client, options_.when_lost(), options_.from_term_to_kill()),
                       inherited, signals, context.console);
    if (!release(lock, context.console)) result.lock_lost = true;
    if (!result.lock_lost) return result.exit_code;
    throw FailureException({exit_lock_lost,
                            std::string(name_of(ErrorCode::lock_unhealthy)),
                            "the lock on " + options_.monitor + " was lost while the command ran (it ended with " +
                                std::to_string(result.exit_code) + "); its work may overlap with another holder's",
                            show_hint(options_.monitor),
                            options_.monitor,
                            true,
                            {}});
  }

  // \returns the signal that ended the waiting.
  std::optional<int> acquire(BlockingWriteLock& lock, SignalQueue& signals) const {
    try {
      return take_lock(lock, options_.timeout && options_.timeout->count() == 0, signals);
    } catch (const InstanceLockException&) {
      Failure failure = failure_of(std::current_exception());
      if (failure.hint.empty()) failure.hint = show_hint(options_.monitor);
      if (options_.conflict_code) failure.exit_code = *options_.conflict_code;
      throw FailureException(std::move(failure));
    }
  }

  // \returns whether the lock was ours to the end.
  static bool release(BlockingWriteLock& lock, const Console& console) {
    try {
      lock.unlock();
      return true;
    } catch (const ConnectionLossException& error) {
      // The command has ended in time; the server frees the lock with the session at the latest.
      console.note(std::string("the release is not confirmed: ") + error.what());
      return true;
    } catch (const Error&) {
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
