#include "cli/monitors/views_text.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "cli/monitors/paces.h"
#include "cli/output/quantity_text.h"
#include "cli/output/text_table.h"
#include "records/session_text.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

using Cell = TextTable::Cell;

constexpr std::chrono::milliseconds clock_tolerance{1000};

Cell class_cell(const std::optional<Priority>& priority) {
  if (!priority) return {"?", Style::faint};
  return {std::string(name_of(*priority)), *priority == all_priorities.front() ? Style::good : Style::plain};
}

// With what has made it that class, and where it stands if that is not its class's queue.
template <class Contender>
Cell class_cell_of(const Contender& one) {
  Cell cell = class_cell(one.priority);
  if (!one.owner) return cell;
  if (one.owner->by_wish) cell.text += ", by an operator's wish";
  if (one.owner->rank) cell.text += ", moved";
  if (one.owner->wish && *one.owner->wish != one.priority) {
    cell.text += ", wished " + std::string(name_of(*one.owner->wish));
  }
  return cell;
}

// Of the first of the background that ages; those behind it follow, one such time after the other.
std::string ageing_text(const std::vector<WaiterView>& queue) {
  const auto first = std::find_if(queue.begin(), queue.end(), [](const WaiterView& waiter) {
    return waiter.priority == Priority::background && !(waiter.owner && waiter.owner->rank);
  });
  if (first == queue.end() || !first->owner || !first->owner->max_wait || first == queue.begin()) return {};
  return "\n  " + printable(first->node) +
         " moves to the end of the foreground's queue when it has been the first of the background for " +
         duration_text(*first->owner->max_wait) + "\n";
}

// Ids that would look like nothing, or like several.
std::string shown_id(const std::string& id) {
  return id.find_first_of(" \t\n'\"") == std::string::npos ? id : "'" + id + "'";
}

std::vector<Cell> row_of(const MonitorSummary& summary) {
  std::vector<Cell> row = {{shown_id(summary.monitor), Style::heading}};
  if (summary.holder) {
    row.push_back({who(summary.holder->owner, summary.holder->session)});
    row.push_back(class_cell(summary.holder->priority));
    const bool overdue = is_overdue(summary.holder);
    row.push_back(
        {duration_text(summary.holder->held) + (overdue ? " (overdue)" : ""), overdue ? Style::warning : Style::plain});
  } else {
    row.insert(row.end(), {{"free", Style::faint}, {"-", Style::faint}, {"-", Style::faint}});
  }
  row.push_back({std::to_string(summary.waiting_foreground)});
  row.push_back({std::to_string(summary.waiting_background)});
  row.push_back({summary.oldest_wait ? duration_text(*summary.oldest_wait) : "-"});
  return row;
}

std::string holder_text(const HolderView& holder, const Console& console) {
  std::string text = "  holder    " + printable(who(holder.owner, holder.session)) + '\n';
  const auto line = [&text](const char* name, const std::string& value) {
    text += "  " + std::string(name) + printable(value) + '\n';
  };
  const Cell holder_class = class_cell_of(holder);
  text += "  class     " + console.styled(holder_class.text, holder_class.style) + '\n';
  std::string held = duration_text(holder.held);
  if (holder.owner && holder.owner->acquired_at)
    held += ", since " + records::format_wall_time(*holder.owner->acquired_at);
  line("held for  ", held);
  if (holder.owner && holder.owner->acquired_at) {
    const auto behind = *holder.owner->acquired_at - records::wall_time_now();
    if (behind > clock_tolerance) {
      line("clocks    ", "this machine's is at least " + duration_text(behind) +
                             " behind the holder's: the times that are shown here are wrong");
    }
  }
  if (holder.owner && holder.owner->expected_runtime) {
    const auto expected = *holder.owner->expected_runtime;
    line("expected  ", duration_text(expected) +
                           (holder.held > expected ? "; overdue by " + duration_text(holder.held - expected) : ""));
  }
  if (holder.owner && holder.owner->linger) {
    line("lingers   ", "its process may keep it for " + duration_text(*holder.owner->linger) +
                           " after each section, if no other contender comes: this is the record of the first");
  }
  line("node      ", holder.node.value_or("- (it left none: name it by its session)"));
  line("session   ", records::session_text(holder.session));
  line("token     ", std::to_string(holder.token));
  if (holder.owner) {
    for (const std::string& frame : holder.owner->stack) line("at        ", frame);
  }
  return text;
}

}  // namespace

std::string who(const std::optional<OwnerRecord>& owner, std::int64_t session) {
  if (!owner) return "no record (session " + records::session_text(session) + ")";
  if (owner->lock_info.empty()) return owner->instance;
  return owner->instance.empty() ? owner->lock_info : owner->lock_info + " (" + owner->instance + ")";
}

bool is_overdue(const std::optional<HolderView>& holder) {
  return holder && holder->owner && holder->owner->expected_runtime && holder->held > *holder->owner->expected_runtime;
}

std::string text_of(const std::vector<MonitorSummary>& summaries, const Console& console) {
  if (summaries.empty()) return {};
  TextTable table(
      {{"MONITOR"}, {"HOLDER"}, {"CLASS"}, {"HELD FOR", true}, {"FG", true}, {"BG", true}, {"OLDEST WAIT", true}});
  for (const MonitorSummary& summary : summaries) table.add(row_of(summary));
  return table.str(console);
}

std::string text_of(const LockSetView& set) {
  std::string text = "one of " + std::to_string(set.size) + " monitors that are locked together";
  const char* separator = ": ";
  for (const std::string& member : set.members) text += std::exchange(separator, ", ") + shown_id(member);
  if (set.members.size() < set.size) text += " and " + std::to_string(set.size - set.members.size()) + " more";
  if (set.held_count == set.size) return text + "; it holds them all";
  text += "; it holds " + std::to_string(set.held_count);
  if (!set.waits_for) return text;
  text += " and waits for " + shown_id(*set.waits_for);
  if (set.behind) {
    text += ", held by " + who(set.behind->owner, set.behind->session) + " for " + duration_text(set.behind->held);
  }
  return text;
}

std::string text_of(const MonitorView& monitor, const Console& console, std::optional<std::chrono::nanoseconds> pace) {
  std::string text =
      console.styled(printable(shown_id(monitor.monitor)), Style::heading) + "  " + printable(monitor.path) + '\n';
  text += monitor.holder ? holder_text(*monitor.holder, console) : "  free\n";
  if (monitor.queue.empty()) return text + "  no waiters\n";
  text += '\n';
  std::vector<TextTable::Column> columns = {{"#", true}, {"NODE"}, {"CLASS"}, {"WAITS FOR", true}, {"BEHIND"}, {"WHO"}};
  if (pace) columns.insert(columns.begin() + 4, {"EXPECTED", true});
  TextTable table(std::move(columns));
  for (const WaiterView& waiter : monitor.queue) {
    std::vector<Cell> row = {{std::to_string(waiter.position)},
                             {waiter.node},
                             class_cell_of(waiter),
                             {duration_text(waiter.waited)},
                             {waiter.behind == "privateLock" ? "the holder" : waiter.behind},
                             {who(waiter.owner, waiter.session)}};
    if (pace) row.insert(row.begin() + 4, {"about " + duration_text(Paces::expected_wait(waiter.position, *pace))});
    table.add(std::move(row));
  }
  return text + table.str(console) + ageing_text(monitor.queue);
}

}  // namespace forelock::cli
