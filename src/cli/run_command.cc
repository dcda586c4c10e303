// forelock run: a command while a lock is held.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/duration_text.h"
#include "cli/exit_code.h"
#include "cli/hints.h"
#include "cli/inherited_descriptors.h"
#include "cli/lock_guardian.h"
#include "cli/lock_wait.h"
#include "records/session_text.h"

namespace forelock::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds default_kill_after{1000};
constexpr std::size_t longest_default_info = 100;

// What for, if nobody says: the command.
std::string joined(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) {
    if (text.size() + word.size() > longest_default_info) return text + "…";
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

class RunCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("run", "Run a command while a lock is held");
    app->add_option("-m,--monitor", monitor_, "The id of what is to be locked")->type_name("MONITOR")->required();
    app->add_option("-p,--priority", priority_, "foreground goes before background [foreground]")
        ->type_name("CLASS")
        ->check(CLI::IsMember({"foreground", "background"}));
    app->add_option("--info", info_, "What for, for people [the command]")->type_name("TEXT");
    add_duration(*app, "--timeout", timeout_,
                 "Wait this long for the lock, 0: not at all [the class's configured time]");
    app->add_option("-E,--conflict-exit-code", conflict_code_, "Exit code when the lock is not obtained in time [75]")
        ->type_name("CODE")
        ->check(CLI::Range(0, 255).description(""));
    app->add_option("--on-lost", on_lost_, "When the lock is lost: term ends the command, warn lets it go on [term]")
        ->type_name("WHAT")
        ->check(CLI::IsMember({"term", "warn"}));
    add_duration(*app, "--kill-after", kill_after_, "From TERM to KILL when the lock is lost [1000]");
    app->add_option("COMMAND", command_, "What to run; behind --")->required();
    return app;
  }

  int run(const Context& context) override {
    const InheritedDescriptors inherited;
    SignalQueue signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD});
    Client client(settings_for(context), log_to(context.console));
    BlockingWriteLock lock(client, info_.empty() ? joined(command_) : info_, monitor_, lock_class(), lock_options());
    const auto news = watch(lock, client.settings());

    if (const auto signal = acquire(lock, signals)) {
      client.close();  // the node goes with the session, whatever became of the lock
      return exit_signalled(*signal);
    }
    inherited.close_others_on_exec();
    ChildProcess child(child_options(lock, client));
    LockGuardian guardian(lock, news, signals, context.console, on_lost_ == "warn" ? OnLost::warn : OnLost::terminate,
                          kill_after_.value_or(default_kill_after));
    LockGuardian::Result result = guardian.guard(child);
    if (!release(lock, context.console)) result.lock_lost = true;
    if (!result.lock_lost) return result.exit_code;
    throw FailureException({exit_lock_lost,
                            std::string(name_of(ErrorCode::lock_unhealthy)),
                            "the lock on " + monitor_ + " was lost while the command ran (it ended with " +
                                std::to_string(result.exit_code) + "); its work may overlap with another holder's",
                            show_hint(monitor_),
                            monitor_,
                            true,
                            {}});
  }

 private:
  Priority lock_class() const { return priority_ == "background" ? Priority::background : Priority::foreground; }

  LockOptions lock_options() const {
    LockOptions options;
    options.capture_stack = false;  // ours says nothing about what is run
    options.thread_name = "run";
    return options;
  }

  // --timeout is the class's configured time-out, so that the lock's own words about it are right.
  Settings settings_for(const Context& context) const {
    Settings settings = context.globals.settings();
    if (timeout_ && timeout_->count() > 0) {
      const char* key = lock_class() == Priority::foreground ? "zookeeper.foregound.task.timeout"
                                                             : "zookeeper.backgound.task.timeout";
      settings.set(key, std::to_string(timeout_->count()), "--timeout");
    }
    return settings;
  }

  std::shared_ptr<LockNews> watch(BlockingWriteLock& lock, const Settings& settings) const {
    auto news = std::make_shared<LockNews>();
    lock.on_lost([news](LossReason) {
      news->lost = true;
      news->wake_up.notify();
    });
    // A healthy connection is silent for up to a third of the session's time-out, or a little longer.
    const milliseconds margin = std::min(kill_after_.value_or(default_kill_after), settings.session_timeout() / 3);
    lock.on_danger(std::max(margin, milliseconds(1)), [news] {
      news->in_danger = true;
      news->wake_up.notify();
    });
    return news;
  }

  // \returns the signal that ended the waiting.
  std::optional<int> acquire(BlockingWriteLock& lock, SignalQueue& signals) const {
    try {
      return take_lock(lock, timeout_ && timeout_->count() == 0, signals);
    } catch (const InstanceLockException&) {
      Failure failure = failure_of(std::current_exception());
      if (failure.hint.empty()) failure.hint = show_hint(monitor_);
      if (conflict_code_) failure.exit_code = *conflict_code_;
      throw FailureException(std::move(failure));
    }
  }

  ChildOptions child_options(const BlockingWriteLock& lock, const Client& client) const {
    const auto left = std::chrono::duration_cast<milliseconds>(lock.expires_at() - std::chrono::steady_clock::now());
    ChildOptions options;
    options.command = command_;
    options.environment = {{"FORELOCK_MONITOR", monitor_},
                           {"FORELOCK_TOKEN", std::to_string(lock.fencing_token())},
                           {"FORELOCK_SESSION", records::session_text(client.session_id())},
                           {"FORELOCK_PRIORITY", std::string(name_of(lock.priority()))},
                           {"FORELOCK_OWNER", lock.owner().instance},
                           {"FORELOCK_EXPIRES_IN_MS", std::to_string(std::max<std::int64_t>(0, left.count()))}};
    // If this process is killed, nobody renews the lock.
    options.death_signal = on_lost_ == "warn" ? 0 : SIGTERM;
    return options;
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

  std::string monitor_;
  std::string priority_ = "foreground";
  std::string info_;
  std::optional<milliseconds> timeout_;
  std::optional<int> conflict_code_;
  std::string on_lost_ = "term";
  std::optional<milliseconds> kill_after_;
  std::vector<std::string> command_;
};

}  // namespace

std::unique_ptr<Command> make_run_command() {
  return std::make_unique<RunCommand>();
}

}  // namespace forelock::cli
