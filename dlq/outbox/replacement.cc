#include "outbox/replacement.h"

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

#include "outbox/letter_table.h"
#include "outbox/private_storage.h"
#include "outbox/salvage.h"
#include "records/wall_time.h"

namespace forelock::outbox {
namespace {

// No other process uses these files.
constexpr std::chrono::milliseconds patience{0};

// Numbers given out by the file that was here before must not be given out again: a process may still be about to
// remove such a row. No process adds a million rows a second, so this leaps over all of them.
std::int64_t leap() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

// "20260131T235959Z"
std::string compact_time() {
  std::string text = records::format_wall_time(records::wall_time_now());
  text.resize(text.find('.'));
  std::erase(text, '-');
  std::erase(text, ':');
  return text + 'Z';
}

// How many letters the damaged file says it holds, if that can still be read.
std::optional<std::int64_t> expected_letters(const std::filesystem::path& path) {
  try {
    return Connection(path, patience).number("SELECT letters FROM totals");
  } catch (const SqliteError&) {
    return std::nullopt;
  }
}

// A row may be met twice, once in a page that has gone out of use. The younger one of a key is the one that counts; of
// the same row, what happened to it later.
bool put(LetterTable& table, const SavedRow& row) {
  const std::optional<Row> known = table.find_key(row.letter.key);
  if (known && known->sequence > row.sequence) return false;
  RowState state = row.state;
  std::uint32_t tries = row.tries;
  if (known) {
    if (known->sequence == row.sequence) {
      tries = std::max(tries, known->tries);
      if (known->state == RowState::parked) state = RowState::parked;
    }
    table.remove(known->ref());
  }
  try {
    table.insert(row.letter, row.sequence, state, tries);
  } catch (const SqliteError& error) {
    if (error.code() != SQLITE_CONSTRAINT) throw;
    table.insert(row.letter, 0, state, tries);  // its number was damaged, and belongs to another row
  }
  return !known;
}

std::string letters(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " letter" : " letters");
}

}  // namespace

Replacement::Replacement(std::filesystem::path path, Log log) : path_(std::move(path)), log_(std::move(log)) {}

std::filesystem::path Replacement::beside(std::string_view suffix) const {
  return path_.string() + std::string(suffix);
}

void Replacement::log(std::string_view level, const std::string& message) const {
  if (log_) log_(level, message);
}

void Replacement::begin(const FileLock& lock) const {
  for (const char* const leftover : {".new", ".new-journal"}) std::filesystem::remove(beside(leftover));
  ::close(open_private(beside(".new"), path_, true));
  const Connection connection(beside(".new"), patience);
  LetterTable::create(connection, lock.note() == FileLock::Note::none ? 0 : leap());
}

void Replacement::put_into_place(FileLock& lock) const {
  std::filesystem::remove(beside(".new-journal"));
  std::filesystem::rename(beside(".new"), path_);
  sync_directory(path_.parent_path());
  lock.set_note(FileLock::Note::made);
}

void Replacement::keep_journal_aside(const std::filesystem::path& aside) const {
  const std::filesystem::path journal = beside("-journal");
  if (!std::filesystem::exists(journal)) return;
  std::filesystem::rename(journal, aside.string() + "-journal");
}

void Replacement::make(FileLock& lock) const {
  if (lock.note() != FileLock::Note::none) {
    log("warning", "The outbox " + path_.string() +
                       " was removed or emptied by another process; a new one is created. Its former contents are "
                       "unknown.");
  }
  begin(lock);
  keep_journal_aside(beside(".damaged-" + compact_time()));
  put_into_place(lock);
}

void Replacement::repair(FileLock& lock, const std::string& damage) const {
  const std::optional<std::int64_t> expected = expected_letters(path_);
  begin(lock);
  std::uint64_t saved = 0;
  SalvageReport report;
  {
    LetterTable table{Connection(beside(".new"), patience)};
    table.begin();
    report = salvage(path_, [&](const SavedRow& row) {
      if (put(table, row)) ++saved;
    });
    table.commit();
  }
  std::filesystem::path aside = beside(".damaged-" + compact_time());
  for (int i = 2; std::filesystem::exists(aside); ++i) {
    aside = beside(".damaged-" + compact_time() + '-' + std::to_string(i));
  }
  // A second name first, so that the file is never without one; where the file system has no such names, a copy.
  std::error_code no_links;
  std::filesystem::create_hard_link(path_, aside, no_links);
  if (no_links) std::filesystem::copy_file(path_, aside);
  keep_journal_aside(aside);
  put_into_place(lock);

  std::string message = "The outbox " + path_.string() + " was damaged (" + damage + "). It is kept as " +
                        aside.string() + "; " + letters(saved) + " could be saved into a new one.";
  const auto whole = static_cast<std::uint64_t>(expected.value_or(0));
  if (whole > saved) message += ' ' + letters(whole - saved) + " of " + std::to_string(whole) + " could not.";
  if (!expected) message += " How many it held is not known.";
  if (report.unreadable > 0) message += " Of " + letters(report.unreadable) + " only parts were found.";
  log("error", message);
}

}  // namespace forelock::outbox
