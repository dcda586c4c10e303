// The command line in a loop: `forelock run`, with this program as the command that it runs under the lock.
#include <signal.h>
#include <sys/wait.h>

#include "robustness/history/recorded_call.h"
#include "robustness/history/resource_visitor.h"
#include "robustness/worker/load.h"
#include "robustness/worker/patience.h"
#include "robustness/worker/section_plan.h"
#include "support/child_process.h"

namespace forelock::robustness {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

// Beyond the time-out for the lock: a session is made and ended, and a closing client waits for a silent server.
constexpr milliseconds around_the_lock{5000};

// How far a command has come, said by a file: it may be ended at any moment.
fs::path mark(const WorkerOptions& options, std::uint64_t call, const char* what) {
  return options.directory / (options.process + "." + std::to_string(call) + "." + what);
}

std::string code_of_exit(int status) {
  if (!WIFEXITED(status)) return "killed";
  switch (WEXITSTATUS(status)) {
    case 0:
      return "";
    case 69:
      return "connection_loss";
    case 75:
      return "lock_timeout";
    case 76:
      return "lock_unhealthy";
    case 77:
      return "not_authorized";
    default:
      return "exit_" + std::to_string(WEXITSTATUS(status));
  }
}

class CommandLoad final : public Load {
 public:
  CommandLoad(const WorkerOptions& options, HistoryWriter& history)
      : options_(options), history_(history), thread_([this](const std::stop_token& stop) { run(stop); }) {}

  void stop() override {
    thread_.request_stop();
    thread_.join();
    history_.event("quiet").add("contenders", 0);
  }
  void close() override {}

 private:
  void run(const std::stop_token& stop) {
    SectionPlanner planner(options_, 0);
    while (!stop.stop_requested()) {
      const SectionPlan plan = planner.next();
      if (!run_command(plan)) pause(stop, rest_after_failure);
      pause(stop, plan.pause);
    }
  }

  bool run_command(const SectionPlan& plan) {
    const RecordedCall call(history_, plan.monitor, plan.priority);
    const bool limited = plan.wait == SectionPlan::Wait::limited;
    const milliseconds timeout = limited ? plan.limit : options_.settings.timeout(plan.priority);
    const std::string priority(name_of(plan.priority));
    std::vector<std::string> command = {options_.command, "--quiet"};
    for (const std::string& setting : options_.setting_arguments) command.insert(command.end(), {"--set", setting});
    command.insert(command.end(),
                   {"run", "-m", plan.monitor, "-p", priority, "--timeout", std::to_string(timeout.count()), "--",
                    fs::read_symlink("/proc/self/exe"), "visit", "directory=" + options_.directory.string(),
                    "process=" + options_.process, "resource=" + options_.resource.string(),
                    "call=" + std::to_string(call.number()), "monitors=" + plan.monitor, "priority=" + priority,
                    "hold=" + std::to_string(plan.hold.count())});
    call.invoke(timeout + around_the_lock, "timeout");
    test::ChildProcess child(std::move(command), options_.directory / (options_.process + ".commands.log"));
    return finish(call, code_of_exit(child.wait()));
  }

  bool finish(const RecordedCall& call, const std::string& code) {
    const bool granted = fs::remove(mark(options_, call.number(), "granted"));
    const bool left = fs::remove(mark(options_, call.number(), "left"));
    if (!granted) {
      call.refused(code.empty() ? "internal" : code);
      return false;
    }
    if (!left) call.event("release");
    call.released(code);
    return true;
  }

  const WorkerOptions& options_;
  HistoryWriter& history_;
  std::jthread thread_;
};

// What is said in two places is said in both.
class Unterminated {
 public:
  Unterminated() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, &before_);
  }
  ~Unterminated() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  Unterminated(const Unterminated&) = delete;
  Unterminated& operator=(const Unterminated&) = delete;

 private:
  sigset_t before_;
};

std::int64_t number_in_environment(const char* name, int base) {
  const char* value = std::getenv(name);
  if (value == nullptr) throw std::runtime_error(std::string("not run by forelock: no ") + name);
  return std::stoll(value, nullptr, base);
}

}  // namespace

std::unique_ptr<Load> make_command_load(const WorkerOptions& options, HistoryWriter& history) {
  return std::make_unique<CommandLoad>(options, history);
}

// If the lock is lost it is ended by its guardian, so it need not look.
int visit_as_command(const WorkerOptions& options, HistoryWriter& history) {
  const std::int64_t token = number_in_environment("FORELOCK_TOKEN", 10);
  const RecordedCall call(history, options.call, options.monitors.at(0), options.priority);
  {
    const Unterminated together;
    call.granted(token, "", number_in_environment("FORELOCK_SESSION", 16));
    std::ofstream(mark(options, options.call, "granted")).flush();
  }
  {
    ResourceVisitor visitor(options.resource, options.process);
    if (visitor.enter(call, token)) {
      pause({}, milliseconds(options.hold_ms));
      visitor.leave();
    }
  }
  const Unterminated together;
  call.event("release");
  std::ofstream(mark(options, options.call, "left")).flush();
  return 0;
}

}  // namespace forelock::robustness
