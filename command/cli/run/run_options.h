// RunOptions are what `forelock run` is asked for.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cli/global_options.h"
#include "cli/process/signal_queue.h"
#include "cli/run/lock_guardian.h"
#include "cli/run/lock_wait.h"
#include "forelock/client.h"
#include "forelock/priority.h"

namespace forelock::cli {

struct RunOptions {
  std::vector<std::string> monitors;
  std::string priority = "foreground";
  std::string info;
  std::optional<std::chrono::milliseconds> timeout;
  std::optional<int> conflict_code;
  std::string on_lost = "term";
  std::optional<std::chrono::milliseconds> kill_after;
  std::optional<std::chrono::milliseconds> expected_runtime;
  std::optional<std::chrono::milliseconds> auto_unlock_after;
  std::vector<std::string> command;

  bool retry = false;
  // With --retry alone.
  std::string type;
  std::string payload;  // a file, or "-"
  std::string id;

  // Declares them; they are filled in by the parser, so this object must outlive it.
  void add_to(CLI::App& app);
  // \throws FailureException (usage) for what does not go together.
  void check() const;
  // Says what is probably not meant, or is not done in full.
  void note_doubts(const Console& console) const;

  Priority lock_class() const;
  std::string lock_info() const;
  std::string operation_type() const;
  // How the command is guarded under a lock of this client, which is connected. This process has no other children.
  GuardOptions guarding(const Client& client) const;
  // \param settings those that settings() has made.
  LockWait waiting(const Settings& settings) const;
  // With --timeout as the class's configured time-out, so that the lock's own words about it are right, and as the time
  // for which a server is tried: it is a person's budget.
  Settings settings(const GlobalOptions& globals) const;
};

// As RunOptions::settings; a signal ends the reading of a file that is never written, a FIFO say.
// \throws EndedBySignal.
Settings read_settings(const RunOptions& options, const GlobalOptions& globals, SignalSource& signals);

}  // namespace forelock::cli
