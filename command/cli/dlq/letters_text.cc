#include "cli/dlq/letters_text.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/counted.h"
#include "cli/output/quantity_text.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

using Cell = TextTable::Cell;
using Counts = std::map<std::string, std::uint64_t>;

constexpr std::size_t shown_names = 10;  // of reasons, types and monitors each

std::string failed_text(WallTime instant, WallTime now) {
  return records::format_wall_time(instant) + " (" + duration_text(age_of(instant, now)) + " ago)";
}

std::string attempts_text(const DeadLetter& letter) {
  return std::to_string(letter.attempts.size()) + " of " + std::to_string(letter.max_attempts);
}

void append_line(std::string& text, std::string_view name, const std::string& value) {
  constexpr std::size_t width = 14;
  text += "  " + std::string(name) + std::string(width - name.size(), ' ') + printable(value) + '\n';
}

std::string attempts_table(const std::vector<FailedAttempt>& attempts, const Console& console) {
  TextTable table({{"#", true}, {"AT"}, {"CODE"}, {"WAITED", true}, {"MESSAGE"}});
  for (const FailedAttempt& attempt : attempts) {
    table.add({{std::to_string(attempt.number)},
               {records::format_wall_time(attempt.at)},
               {attempt.code},
               {duration_text(attempt.waited)},
               {}});
  }
  // The message is the last column and no cell: it is what people want to read to its end.
  const std::vector<std::size_t> widths = table.widths();
  std::string text = table.line({{"#", Style::heading},
                                 {"AT", Style::heading},
                                 {"CODE", Style::heading},
                                 {"WAITED", Style::heading},
                                 {"MESSAGE", Style::heading}},
                                widths, console);
  for (const FailedAttempt& attempt : attempts) {
    std::string line = table.line({{std::to_string(attempt.number)},
                                   {records::format_wall_time(attempt.at)},
                                   {attempt.code},
                                   {duration_text(attempt.waited)},
                                   {}},
                                  widths, console);
    line.pop_back();
    text += line + printable(attempt.message) + '\n';
  }
  return text;
}

std::string names_table(const char* heading, const Counts& names, std::uint64_t others, const Console& console) {
  std::vector<std::pair<std::string, std::uint64_t>> most(names.begin(), names.end());
  const auto more = [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  };
  std::sort(most.begin(), most.end(), more);
  std::size_t left_out = others > 0 ? 1 : 0;
  for (; most.size() > shown_names; most.pop_back(), ++left_out) others += most.back().second;
  TextTable table({{heading}, {"LETTERS", true}});
  for (const auto& [name, count] : most) table.add({{name.empty() ? "-" : name}, {std::to_string(count)}});
  if (left_out > 0) table.add({{"others", Style::faint}, {std::to_string(others)}});
  return table.str(console);
}

}  // namespace

std::string_view text_of(drain::LetterState state) {
  return state == drain::LetterState::parked ? "parked" : "queued";
}

std::chrono::milliseconds age_of(WallTime instant, WallTime now) {
  return std::max(now - instant, std::chrono::milliseconds(0));
}

std::string count_of_letters(std::uint64_t count) {
  return base::counted(count, "letter");
}

std::vector<TextTable::Column> letter_columns() {
  return {{"ID"}, {"TYPE"}, {"MONITOR"}, {"REASON"}, {"ATTEMPTS", true}, {"FAILED", true}, {"REPLAYS", true}};
}

std::vector<Cell> row_of(const drain::StoredLetter& stored, WallTime now) {
  const DeadLetter& letter = stored.letter;
  const std::uint64_t replays = std::uint64_t{letter.replay_count} + stored.tries;
  return {{letter.id, Style::heading},
          {letter.type},
          {letter.monitor},
          {letter.reason, Style::warning},
          {attempts_text(letter)},
          {duration_text(age_of(letter.failed_at, now)) + " ago"},
          {std::to_string(replays), replays > 0 ? Style::bad : Style::plain}};
}

std::vector<Cell> row_of(const drain::UnreadableLetter& letter) {
  return {{letter.position, Style::heading},
          {"(unreadable)", Style::bad},
          {letter.monitor.empty() ? "-" : letter.monitor},
          {letter.code, Style::bad},
          {"-"},
          {"-"},
          {"-"}};
}

std::string text_of(const drain::StoredLetter& stored, WallTime now, const Console& console) {
  const DeadLetter& letter = stored.letter;
  std::string text = console.styled(printable(letter.id), Style::heading) + "  " + std::string(text_of(stored.state)) +
                     ", position " + printable(stored.position) + '\n';
  append_line(text, "type", letter.type);
  append_line(text, "monitor", letter.monitor);
  append_line(text, "priority", std::string(name_of(letter.priority)));
  append_line(text, "for", letter.lock_info);
  text += "  reason        " + console.styled(printable(letter.reason), Style::warning) + '\n';
  append_line(text, "failed", failed_text(letter.failed_at, now));
  append_line(text, "asked for", failed_text(letter.enqueued_at, now));
  append_line(text, "attempts", attempts_text(letter));
  append_line(text, "replays",
              std::to_string(stored.tries) + " from here" +
                  (letter.replay_count > 0 ? ", " + std::to_string(letter.replay_count) + " before" : ""));
  append_line(text, "given up by", letter.client.instance + " (forelock " + letter.client.version + ")");
  if (!letter.traceparent.empty()) append_line(text, "traceparent", letter.traceparent);
  append_line(text, "payload", size_text(letter.payload.size()));
  return text + '\n' + attempts_table(letter.attempts, console);
}

std::string text_of(const drain::UnreadableLetter& letter, const Console& console) {
  std::string text = console.styled(printable(letter.position), Style::heading) + "  " +
                     console.styled("unreadable", Style::bad) + '\n';
  append_line(text, "reason", letter.code);
  append_line(text, "message", letter.message);
  append_line(text, "monitor", letter.monitor.empty() ? "-" : letter.monitor);
  append_line(text, "record", size_text(letter.record.size()));
  return text;
}

std::string histogram_of(const drain::LetterStatistics& statistics, const Console& console) {
  if (statistics.letters == 0) return {};
  return names_table("REASON", statistics.by_reason, statistics.other_reasons, console) + '\n' +
         names_table("TYPE", statistics.by_type, statistics.other_types, console) + '\n' +
         names_table("MONITOR", statistics.by_monitor, statistics.other_monitors, console);
}

}  // namespace forelock::cli
