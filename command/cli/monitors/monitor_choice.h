// A MonitorChoice says which monitors `ls` and `watch` show, and in which order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/global_options.h"
#include "forelock/inspector.h"

namespace forelock::cli {

struct MonitorChoice {
  std::string sort = "name";
  bool waiting = false;
  bool overdue = false;
  std::uint64_t limit = 0;  // 0: all

  // Declares the options; they are filled in by the parser, so this object must outlive it.
  void add_to(CLI::App& app);
  // Whether anything was asked for.
  bool made() const { return waiting || overdue || limit > 0 || sort != "name"; }
  // Leaves those that are to be shown. \returns how many more were chosen than the limit, or `room` if that is less.
  std::size_t apply(std::vector<MonitorSummary>& monitors, std::size_t room = SIZE_MAX) const;
};

}  // namespace forelock::cli
