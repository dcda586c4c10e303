// `forelock serve --unlocker`, as a child: what hits this process hits it, too.
#include <signal.h>

#include "robustness/worker/load.h"
#include "support/child_process.h"

namespace forelock::robustness {
namespace {

std::vector<std::string> unlocker_command(const WorkerOptions& options) {
  std::vector<std::string> command = {options.command, "--quiet"};
  for (const std::string& setting : options.setting_arguments) command.insert(command.end(), {"--set", setting});
  command.insert(command.end(), {"--audit-file", options.directory / "audit.jsonl", "serve", "--listen", "127.0.0.1:0",
                                 "--unlocker", "--sweep-after", "5s"});
  return command;
}

class UnlockerLoad final : public Load {
 public:
  UnlockerLoad(const WorkerOptions& options, HistoryWriter& history)
      : history_(history), child_(unlocker_command(options), options.directory / (options.process + ".serve.log")) {}

  void stop() override {
    child_.signal(SIGTERM);
    if (const int status = child_.wait(); status != 0)
      throw std::runtime_error("forelock serve ended with wait status " + std::to_string(status));
    history_.event("quiet").add("contenders", 0);
  }
  void close() override {}

 private:
  HistoryWriter& history_;
  test::ChildProcess child_;
};

}  // namespace

std::unique_ptr<Load> make_unlocker_load(const WorkerOptions& options, HistoryWriter& history) {
  return std::make_unique<UnlockerLoad>(options, history);
}

}  // namespace forelock::robustness
