// A Picture is the namespace as it was at one look, with what follows from it.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/monitors/monitor_change.h"
#include "cli/monitors/paces.h"
#include "cli/serve/blocking.h"
#include "cli/serve/lock_orders.h"
#include "forelock/inspector.h"

namespace forelock::cli {

// Never changes once it is made.
class Picture {
 public:
  using Steady = std::chrono::steady_clock::time_point;

  // `monitors` in the order of their ids, the idle ones too. `begun`: before the first of the reads; `wall` the same.
  // `fresh_for`: how long it may be shown as the present. `paces`: of their queues. `warnings`: of the orders in which
  // locks have been nested so far.
  Picture(std::vector<MonitorView> monitors, std::size_t not_permitted, Steady begun, WallTime wall,
          std::chrono::milliseconds fresh_for, Paces::ByMonitor paces = {}, std::vector<OrderWarning> warnings = {});

  // Those that are held or waited for, by id.
  const MonitorsById& active() const { return active_; }
  const MonitorView* find(const std::string& monitor) const;
  const Blocking& blocking() const { return blocking_; }
  // In the order of their ids, the idle ones too.
  const std::vector<MonitorView>& monitors() const { return monitors_; }
  // Nodes that the credentials may not list.
  std::size_t not_permitted() const { return not_permitted_; }
  Steady begun() const { return begun_; }
  WallTime wall() const { return wall_; }
  std::chrono::milliseconds fresh_for() const { return fresh_for_; }
  bool overdue(const MonitorSummary& monitor) const;

  // The same JSON as that of `ls` and `show`, without sessions, which are as good as their passwords; a holder has
  // "overdue" besides, and a waiter "expected_wait_ms" where enough is known.
  nlohmann::ordered_json row(const MonitorSummary& monitor) const;
  nlohmann::ordered_json rows() const;
  nlohmann::ordered_json view(const MonitorView& monitor, bool with_sessions = false) const;
  // {"worst","rings","trees"}.
  nlohmann::ordered_json chains() const;
  const std::vector<OrderWarning>& warnings() const { return warnings_; }
  // {"warnings"}.
  nlohmann::ordered_json orders() const;

 private:
  std::vector<MonitorView> monitors_;
  MonitorsById active_;
  Blocking blocking_;
  std::size_t not_permitted_;
  Steady begun_;
  WallTime wall_;
  std::chrono::milliseconds fresh_for_;
  Paces::ByMonitor paces_;
  std::vector<OrderWarning> warnings_;
};

// Whether an operator should look at it: past its alert, the runtime that it has expected, or
// its time to be unlocked.
bool is_overdue_at(const std::optional<HolderView>& holder, WallTime now);

}  // namespace forelock::cli
