#include "cli/dlq/replay_progress.h"

#include <unistd.h>

#include <algorithm>

#include "base/counted.h"
#include "cli/output/quantity_text.h"
#include "cli/output/text_table.h"

namespace forelock::cli {
namespace {

constexpr std::chrono::milliseconds between_bars{100};
constexpr std::chrono::seconds between_progress_lines{5};
constexpr std::uint64_t lines_a_second = 10;  // about single letters
constexpr std::size_t bar_width = 24;

const char* word_of(drain::ReplayObserver::Event event) {
  using Event = drain::ReplayObserver::Event;
  switch (event) {
    case Event::replayed:
      return "replayed";
    case Event::later:
      return "later";
    case Event::failed:
      return "failed";
    case Event::parked:
      return "parked";
    case Event::locked_out:
      return "later: no lock";
    case Event::skipped:
    case Event::unreadable:  // is no event: it is counted
      break;
  }
  return "skipped";
}

// A bar that runs over into a second line could not be taken away.
std::string fitted(const std::string& text) {
  const int columns = Console::terminal_columns();
  return columns > 1 ? cut_to_width(text, static_cast<std::size_t>(columns) - 1) : text;
}

void write_stderr(const std::string& text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

ReplayProgress::ReplayProgress(const Console& console, std::uint64_t total)
    : console_(console), total_(total), has_bar_(!console.quiet() && isatty(STDERR_FILENO) == 1) {}

void ReplayProgress::event(Event event, const drain::StoredLetter& letter, const std::string& message) {
  const std::lock_guard guard(mutex_);
  ++ended_;
  if (event == Event::replayed) {
    ++replayed_;
  } else if (event == Event::failed) {
    ++failed_;
  } else if (event == Event::parked) {
    ++parked_;
  } else {
    ++waiting_;
  }
  // Those behind a letter that failed would only repeat what its line has said.
  if (event != Event::replayed && event != Event::skipped) {
    say(std::string(word_of(event)) + ": " + letter.letter.id + " (" + letter.letter.monitor + ")" +
        (message.empty() ? "" : ": " + message));
  }
  show(Clock::now());
}

void ReplayProgress::tick() {
  const std::lock_guard guard(mutex_);
  show(Clock::now());
}

void ReplayProgress::finish() {
  const std::lock_guard guard(mutex_);
  if (bar_is_shown_) write_stderr("\r\x1b[K");
  bar_is_shown_ = false;
  if (left_out_ > 0) console_.note("… and " + base::counted(left_out_, "more letter"));
  left_out_ = 0;
}

void ReplayProgress::say(const std::string& line) {
  if (console_.quiet()) return;
  const auto now = Clock::now();
  if (now - lines_since_ >= std::chrono::seconds(1)) {
    lines_since_ = now;
    lines_ = 0;
  }
  if (++lines_ > lines_a_second) {
    ++left_out_;
    return;
  }
  if (bar_is_shown_) write_stderr("\r\x1b[K");
  bar_is_shown_ = false;
  console_.note(printable(line));
}

void ReplayProgress::show(Clock::time_point now) {
  if (console_.quiet()) return;
  if (has_bar_) {
    if (bar_is_shown_ && ended_ < total_ && now - shown_at_ < between_bars) return;
    write_stderr('\r' + fitted(bar(now)) + "\x1b[K");
    bar_is_shown_ = true;
  } else {
    if (now - std::max(shown_at_, begin_) < between_progress_lines) return;
    console_.note(numbers());
  }
  shown_at_ = now;
}

std::string ReplayProgress::bar(Clock::time_point now) const {
  const std::uint64_t total = std::max(total_, ended_);
  const std::size_t full = total == 0 ? bar_width : static_cast<std::size_t>(ended_ * bar_width / total);
  std::string text = '[' + std::string(full, '#') + std::string(bar_width - full, '-') + "] " + numbers();
  const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(now - begin_);
  if (ended_ > 0 && ended_ < total)
    text += ", about " +
            duration_text(spent * static_cast<std::int64_t>(total - ended_) / static_cast<std::int64_t>(ended_)) +
            " left";
  return text;
}

std::string ReplayProgress::numbers() const {
  std::string text = std::to_string(replayed_) + " of " + std::to_string(std::max(total_, ended_)) + " replayed";
  if (failed_ > 0) text += ", " + std::to_string(failed_) + " failed";
  if (parked_ > 0) text += ", " + std::to_string(parked_) + " parked";
  if (waiting_ > 0) text += ", " + std::to_string(waiting_) + " for later";
  return text;
}

}  // namespace forelock::cli
