// A client process of the robustness runs: robustness_worker KIND KEY=VALUE… (worker/worker_options.h).
//
// The first SIGTERM ends the traffic; when all of its calls have ended the process makes the file PROCESS.quiet in the
// directory of the history. The second one ends the process.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "robustness/worker/crash_report.h"
#include "robustness/worker/load.h"
#include "robustness/worker/patience.h"

namespace forelock::robustness {
namespace {

using Make = std::unique_ptr<Load> (*)(const WorkerOptions&, HistoryWriter&);

const std::map<std::string, Make>& loads() {
  static const std::map<std::string, Make> all = {
      {"api", &make_api_load},          {"async", &make_async_load},
      {"cli", &make_command_load},      {"operations", &make_operation_load},
      {"sets", &make_set_load},         {"stall", &make_stall_load},
      {"unlocker", &make_unlocker_load}};
  return all;
}

// In the terms of a history. The pairs of the stall rounds, operations and sets are threads that block like any other.
std::string kind_in_history(const std::string& kind) {
  if (kind == "visit" || kind == "unlocker") return "cli";
  return kind == "stall" || kind == "operations" || kind == "sets" ? "api" : kind;
}

void wait_for_sigterm() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  int received = 0;
  while (sigwait(&signals, &received) != 0) continue;
}

// Proves afterwards when the process did not run.
void beat(const std::stop_token& stop, const HistoryWriter& history) {
  while (!stop.stop_requested()) {
    history.event("heartbeat");
    pause(stop, std::chrono::milliseconds(100));
  }
}

int run(const WorkerOptions& options) {
  HistoryWriter history(options.directory, options.process, kind_in_history(options.kind));
  if (options.kind == "visit") return visit_as_command(options, history);
  const auto make = loads().find(options.kind);
  if (make == loads().end()) throw std::runtime_error("unknown kind of worker: " + options.kind);
  setpgid(0, 0);  // what is done to the process is done to its children
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  history.event("started")
      .add("session_timeout_ms", options.settings.session_timeout().count())
      .add("linger_ms", options.settings.linger().count());
  const std::jthread heart([&](const std::stop_token& stop) { beat(stop, history); });
  const auto load = make->second(options, history);
  wait_for_sigterm();
  load->stop();
  std::ofstream(options.directory / (options.process + ".quiet")).flush();
  wait_for_sigterm();
  load->close();
  history.event("ended");
  return 0;
}

}  // namespace
}  // namespace forelock::robustness

int main(int count, char** arguments) {
  forelock::robustness::report_crashes();
  try {
    return forelock::robustness::run(forelock::robustness::WorkerOptions::parse(count, arguments));
  } catch (const std::exception& problem) {
    std::cerr << "unexpected: " << problem.what() << std::endl;
    return 1;
  }
}
