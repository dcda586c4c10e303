#include "cli/serve/history/history_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <system_error>

#include "outbox/outbox_error.h"
#include "outbox/private_storage.h"

namespace forelock::cli {
namespace {

using outbox::SqliteError;
using outbox::Statement;

constexpr std::int64_t history_mark = 0x466c4869;  // "FlHi": which program's file it is
constexpr std::int64_t history_version = 3;        // 1 had no stacks, 2 not since when something was not seen
constexpr std::int64_t page_bytes = 4096;
constexpr std::int64_t fullest_percent = 90;
constexpr std::chrono::hours between_stack_removals{1};

std::string stays_where(const char* rest) {
  // A stack is kept once, however many have it.
  std::string query =
      "SELECT stay.id, kind, monitor, identity, who, info, class, token, began, ended, outcome, reason, stack.text, "
      "unseen_since FROM stay LEFT JOIN stack ON stack.id = stay.stack WHERE ";
  query += rest;
  return query;
}

std::int64_t number_of(WallTime time) {
  return time.time_since_epoch().count();
}

WallTime time_of(std::int64_t number) {
  return WallTime(std::chrono::milliseconds(number));
}

Stay stay_in(const Statement& row) {
  Stay stay;
  stay.id = row.number(0);
  stay.kind = row.number(1) == 0 ? Stay::Kind::hold : Stay::Kind::wait;
  stay.monitor = row.text(2);
  stay.identity = row.text(3);
  stay.who = row.text(4);
  stay.info = row.text(5);
  if (!row.is_null(6)) stay.priority = row.number(6) == 0 ? Priority::foreground : Priority::background;
  stay.token = row.number(7);
  stay.from = time_of(row.number(8));
  if (!row.is_null(9)) stay.to = time_of(row.number(9));
  stay.outcome = row.text(10);
  stay.reason = row.text(11);
  if (!row.is_null(12)) {
    RecordTexts texts;
    std::istringstream lines(row.text(12));
    for (std::string line; std::getline(lines, line);) texts.stack.push_back(std::move(line));
    stay.texts = std::make_shared<const RecordTexts>(std::move(texts));
  }
  if (!row.is_null(13)) stay.unseen_since = time_of(row.number(13));
  return stay;
}

void bind(Statement& row, const Stay& stay) {
  row.bind(1, stay.id)
      .bind(2, static_cast<std::int64_t>(stay.kind == Stay::Kind::hold ? 0 : 1))
      .bind(3, stay.monitor)
      .bind(4, stay.identity)
      .bind(5, stay.who)
      .bind(6, stay.info)
      .bind(8, stay.token)
      .bind(9, number_of(stay.from))
      .bind(11, stay.outcome)
      .bind(12, stay.reason);
  if (stay.priority) row.bind(7, static_cast<std::int64_t>(*stay.priority == Priority::foreground ? 0 : 1));
  if (stay.to) row.bind(10, number_of(*stay.to));
  if (stay.unseen_since) row.bind(14, number_of(*stay.unseen_since));
}

std::string advice(const SqliteError& error) {
  if (outbox::is_damage(error)) return "; it is damaged: move it away, and a new one is made";
  if (outbox::is_shortage(error)) return "; free space on its disk, or give --history-size more";
  return outbox::is_busy(error) ? "; another process has it: give each a file of its own" : "";
}

}  // namespace

template <class Fn>
auto HistoryFile::guarded(const char* doing, Fn fn) {
  const std::string where = path_.string() + " cannot be " + doing + ": ";
  try {
    return fn();
  } catch (const SqliteError& error) {
    const std::string system =
        error.system_error() == 0 ? "" : " (" + std::system_category().message(error.system_error()) + ')';
    throw HistoryProblem(where + error.what() + system + advice(error));
  } catch (const std::system_error& error) {
    throw HistoryProblem(where + error.code().message());
  }
}

HistoryFile::HistoryFile(std::filesystem::path path, const HistoryLimits& limits)
    : path_(std::move(path)), limits_(limits) {
  guarded("opened", [this] {
    struct stat status {};
    if (::stat(path_.c_str(), &status) != 0) {
      ::close(outbox::open_private(path_, path_.parent_path(), true));
    } else if (!S_ISREG(status.st_mode)) {
      throw HistoryProblem(path_.string() + " cannot be opened: it is not a file");
    }
    connection_.emplace(path_, std::chrono::milliseconds(0));
    set_up();
  });
}

void HistoryFile::set_up() {
  const std::int64_t mark = connection_->number("PRAGMA application_id");
  const std::int64_t version = connection_->number("PRAGMA user_version");
  const bool fresh = mark == 0 && connection_->number("SELECT count(*) FROM sqlite_master") == 0;
  if (!fresh && mark != history_mark)
    throw HistoryProblem(path_.string() + " cannot be used: it is a database of another program, and is left as it is");
  if (!fresh && (version < 1 || version > history_version))
    throw HistoryProblem(path_.string() + " cannot be used: its format has version " + std::to_string(version) +
                         ", and this program knows " + std::to_string(history_version) + "; name another file");
  if (fresh) connection_->run("PRAGMA page_size = 4096");
  connection_->run("PRAGMA locking_mode = EXCLUSIVE");
  connection_->run("PRAGMA journal_mode = WAL");
  connection_->run("PRAGMA synchronous = NORMAL");  // a power failure may cost the last seconds, and damages nothing
  connection_->run("PRAGMA journal_size_limit = 4194304");
  connection_->run(("PRAGMA max_page_count = " + std::to_string(limits_.size / page_bytes)).c_str());
  connection_->run("BEGIN IMMEDIATE");
  if (fresh) {
    connection_->run(
        "CREATE TABLE stay (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, monitor TEXT NOT NULL, "
        "identity TEXT NOT NULL, who TEXT NOT NULL, info TEXT NOT NULL, class INTEGER, token INTEGER NOT NULL, "
        "began INTEGER NOT NULL, ended INTEGER, outcome TEXT NOT NULL, reason TEXT NOT NULL)");
    connection_->run("CREATE INDEX stay_of_monitor ON stay (monitor, began, ended)");
    connection_->run("CREATE INDEX stay_by_end ON stay (ended)");
    connection_->run("CREATE TABLE look (began INTEGER PRIMARY KEY, ended INTEGER NOT NULL)");
    connection_->run(("PRAGMA application_id = " + std::to_string(history_mark)).c_str());
  }
  if (fresh || version < 2) {
    connection_->run("ALTER TABLE stay ADD COLUMN stack INTEGER");
    connection_->run("CREATE TABLE stack (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)");
  }
  if (fresh || version < history_version) {
    connection_->run("ALTER TABLE stay ADD COLUMN unseen_since INTEGER");
    connection_->run(("PRAGMA user_version = " + std::to_string(history_version)).c_str());
  }
  connection_->run("COMMIT");
}

std::int64_t HistoryFile::next_id() {
  return guarded("read", [this] { return connection_->number("SELECT coalesce(max(id), 0) + 1 FROM stay"); });
}

std::vector<Stay> HistoryFile::open(std::size_t most) {
  return guarded("read", [&] {
    Statement rest(*connection_,
                   "UPDATE stay SET ended = coalesce(unseen_since, began), unseen_since = NULL, outcome = 'unseen' "
                   "WHERE ended IS NULL AND id <= "
                   "(SELECT id FROM stay WHERE ended IS NULL ORDER BY id DESC LIMIT 1 OFFSET ?)");
    rest.bind(1, static_cast<std::int64_t>(most)).run();
    std::vector<Stay> stays;
    Statement rows(*connection_, stays_where("ended IS NULL ORDER BY stay.id DESC LIMIT ?"));
    rows.bind(1, static_cast<std::int64_t>(most));
    while (rows.step()) stays.push_back(stay_in(rows));
    return stays;
  });
}

std::optional<WallTime> HistoryFile::last_look() {
  return guarded("read", [this]() -> std::optional<WallTime> {
    Statement row(*connection_, "SELECT max(ended) FROM look");
    if (!row.step() || row.is_null(0)) return std::nullopt;
    return time_of(row.number(0));
  });
}

void HistoryFile::write(const std::vector<Stay>& stays, const std::optional<StayTracker::Watch>& watched,
                        std::optional<WallTime> now) {
  guarded("written", [&] {
    connection_->run("BEGIN IMMEDIATE");
    try {
      remove_old(now);
      remove_much();
      Statement row(*connection_,
                    "INSERT OR REPLACE INTO stay (id, kind, monitor, identity, who, info, class, token, began, ended, "
                    "outcome, reason, stack, unseen_since) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
      for (const Stay& stay : stays) {
        bind(row, stay);
        if (const auto stack = stack_id(stay.stack())) row.bind(13, *stack);
        row.run();
      }
      if (watched) {
        Statement look(*connection_, "INSERT OR REPLACE INTO look (began, ended) VALUES (?, ?)");
        look.bind(1, number_of(watched->from)).bind(2, number_of(watched->to)).run();
      }
      connection_->run("COMMIT");
    } catch (...) {
      // SQLite has rolled back by itself where it had to.
      if (connection_->in_transaction()) connection_->run("ROLLBACK");
      throw;
    }
  });
}

std::optional<std::int64_t> HistoryFile::stack_id(const std::vector<std::string>& stack) {
  if (stack.empty()) return std::nullopt;
  std::string text;
  for (std::string line : stack) {
    std::replace(line.begin(), line.end(), '\n', ' ');
    text += (text.empty() ? "" : "\n") + line;
  }
  Statement known(*connection_, "SELECT id FROM stack WHERE text = ?");
  known.bind(1, text);
  if (known.step()) return known.number(0);
  Statement row(*connection_, "INSERT INTO stack (text) VALUES (?)");
  row.bind(1, text).run();
  return connection_->number("SELECT last_insert_rowid()");
}

// Nobody's any more. It looks at every row: not often.
void HistoryFile::remove_stacks() {
  connection_->run("DELETE FROM stack WHERE id NOT IN (SELECT stack FROM stay WHERE stack IS NOT NULL)");
}

// A bounded piece for each write: none of them takes long. Removed pages are used again; the file does not shrink.
void HistoryFile::remove_old(std::optional<WallTime> now) {
  if (!now) return;
  Statement old(*connection_, "DELETE FROM stay WHERE id IN (SELECT id FROM stay WHERE ended < ? LIMIT 20000)");
  old.bind(1, number_of(*now - limits_.keep)).run();
  Statement looks(*connection_, "DELETE FROM look WHERE ended < ?");
  looks.bind(1, number_of(*now - limits_.keep)).run();
  if (*now < next_stacks_.value_or(*now)) return;
  next_stacks_ = *now + between_stack_removals;
  remove_stacks();
}

void HistoryFile::remove_much() {
  const std::int64_t used = connection_->number("PRAGMA page_count") - connection_->number("PRAGMA freelist_count");
  if (used * 100 < limits_.size / page_bytes * fullest_percent) return;
  connection_->run(
      "DELETE FROM stay WHERE id IN (SELECT id FROM stay WHERE ended IS NOT NULL ORDER BY ended "
      "LIMIT max(1000, (SELECT count(*) / 10 FROM stay)))");
  remove_stacks();  // until those have gone as well there is no more room, and the next write would remove more
}

HistoryFile::Found HistoryFile::find(const std::string& monitor, WallTime from, WallTime to, std::size_t most) {
  return guarded("read", [&] {
    Found found;
    Statement rows(*connection_, stays_where("monitor = ? AND began <= ? AND (ended IS NULL OR ended >= ?) "
                                             "ORDER BY began DESC, stay.id DESC LIMIT ?"));
    rows.bind(1, monitor).bind(2, number_of(to)).bind(3, number_of(from)).bind(4, static_cast<std::int64_t>(most + 1));
    while (rows.step()) found.stays.push_back(stay_in(rows));
    found.more = found.stays.size() > most;
    if (found.more) found.stays.resize(most);
    Statement looks(*connection_, "SELECT began, ended FROM look WHERE began <= ? AND ended >= ? ORDER BY began");
    looks.bind(1, number_of(to)).bind(2, number_of(from));
    while (looks.step()) found.watched.push_back({time_of(looks.number(0)), time_of(looks.number(1))});
    return found;
  });
}

std::vector<GrantedWait> HistoryFile::waits(const std::string& monitor, WallTime from, WallTime to, std::size_t most) {
  return guarded("read", [&] {
    std::vector<GrantedWait> waits;
    Statement rows(*connection_,
                   "SELECT class, ended, ended - began FROM stay WHERE monitor = ? AND began <= ? AND ended >= ? AND "
                   "ended <= ? AND kind = 1 AND outcome = 'granted' AND class IS NOT NULL ORDER BY began DESC LIMIT ?");
    rows.bind(1, monitor).bind(2, number_of(to)).bind(3, number_of(from)).bind(4, number_of(to));
    rows.bind(5, static_cast<std::int64_t>(most));
    while (rows.step()) {
      waits.push_back({rows.number(0) == 0 ? Priority::foreground : Priority::background, time_of(rows.number(1)),
                       std::chrono::milliseconds(rows.number(2))});
    }
    return waits;
  });
}

std::vector<SeenHold> HistoryFile::holds(const std::string& monitor, WallTime from, WallTime to, std::size_t most) {
  return guarded("read", [&] {
    std::vector<SeenHold> holds;
    Statement rows(*connection_,
                   "SELECT class, began, CASE WHEN outcome IN ('forced', 'unlocked') THEN ended END FROM stay "
                   "WHERE monitor = ? AND began <= ? AND (ended IS NULL OR ended >= ?) AND kind = 0 "
                   "ORDER BY began DESC LIMIT ?");
    rows.bind(1, monitor).bind(2, number_of(to)).bind(3, number_of(from)).bind(4, static_cast<std::int64_t>(most));
    while (rows.step()) {
      SeenHold& hold = holds.emplace_back();
      if (!rows.is_null(0)) hold.priority = rows.number(0) == 0 ? Priority::foreground : Priority::background;
      hold.from = time_of(rows.number(1));
      if (!rows.is_null(2)) hold.taken_away = time_of(rows.number(2));
    }
    return holds;
  });
}

}  // namespace forelock::cli
