// What `forelock run` is asked for.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cli/global_options.h"
#include "cli/lock_guardian.h"
#include "forelock/priority.h"

namespace forelock::cli {

struct RunOptions {
  std::string monitor;
  std::string priority = "foreground";
  std::string info;
  std::optional<std::chrono::milliseconds> timeout;
  std::optional<int> conflict_code;
  std::string on_lost = "term";
  std::optional<std::chrono::milliseconds> kill_after;
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

  Priority lock_class() const;
  std::string lock_info() const;
  std::string operation_type() const;
  OnLost when_lost() const;
  std::chrono::milliseconds from_term_to_kill() const;
  // With --timeout as the class's configured time-out, so that the lock's own words about it are right.
  Settings settings(const GlobalOptions& globals) const;
};

}  // namespace forelock::cli
