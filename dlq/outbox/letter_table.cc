#include "outbox/letter_table.h"

#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace forelock::outbox {
namespace {

// What SQLite adds to a row, at most, in the table and in the index of ids, when pages are two thirds full.
constexpr std::int64_t row_overhead = 256;

// The totals are kept by triggers, so that they are right for every writer of the table.
constexpr const char* schema[] = {
    R"(CREATE TABLE letter(
         sequence INTEGER PRIMARY KEY AUTOINCREMENT,
         id TEXT NOT NULL UNIQUE,
         monitor TEXT NOT NULL,
         state INTEGER NOT NULL,
         tries INTEGER NOT NULL,
         failed_at INTEGER NOT NULL,
         cost INTEGER NOT NULL,
         checksum INTEGER NOT NULL,
         record TEXT NOT NULL) STRICT)",
    "CREATE TABLE totals(letters INTEGER NOT NULL, parked INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT",
    "INSERT INTO totals VALUES(0, 0, 0)",
    R"(CREATE TRIGGER letter_added AFTER INSERT ON letter BEGIN
         UPDATE totals SET letters = letters + 1, parked = parked + (new.state = 1), bytes = bytes + new.cost;
       END)",
    R"(CREATE TRIGGER letter_removed AFTER DELETE ON letter BEGIN
         UPDATE totals SET letters = letters - 1, parked = parked - (old.state = 1), bytes = bytes - old.cost;
       END)",
    R"(CREATE TRIGGER letter_moved AFTER UPDATE OF state, cost ON letter BEGIN
         UPDATE totals SET parked = parked + (new.state = 1) - (old.state = 1), bytes = bytes + new.cost - old.cost;
       END)",
};

// Behind the id in a key. Neither is part of an id (letter_limits.h).
constexpr char key_separator = '\n';
constexpr const char* with_id =
    "WHERE sequence = (SELECT sequence FROM letter WHERE id = ?1 OR (id > ?1 || char(10) AND id < ?1 || char(11)) "
    "ORDER BY state, sequence LIMIT 1)";

constexpr std::string_view columns = "sequence, state, tries, id, monitor, record, checksum";

std::string select(std::string_view rest) {
  return "SELECT " + std::string(columns) + " FROM letter " + std::string(rest);
}

int number_of(RowState state) {
  return state == RowState::parked ? 1 : 0;
}

// What a burst needed is given back.
constexpr const char* journal_limit = "PRAGMA journal_size_limit=4194304";

Connection prepared(Connection connection, Connection::Access access) {
  connection.run("PRAGMA temp_store=MEMORY");
  if (access == Connection::Access::look) return connection;
  if (connection.text("PRAGMA journal_mode=PERSIST") != "persist") {
    throw SqliteError(SQLITE_BUSY, 0, "the file's journal mode cannot be changed while others use it");
  }
  connection.run("PRAGMA synchronous=FULL");
  connection.run(journal_limit);
  // A letter that is gone leaves nothing behind in the file, so that saving rows from a damaged file brings none back.
  // (The journal keeps what the last transaction took out: clear_journal().)
  connection.run("PRAGMA secure_delete=ON");
  return connection;
}

}  // namespace

std::string later_key(const DeadLetter& letter) {
  return letter.id + key_separator + std::to_string(letter.failed_at.time_since_epoch().count()) + '#' +
         std::to_string(letter.replay_count);
}

std::int64_t cost_of(const NewRow& row) {
  return static_cast<std::int64_t>(row.record.size() + 2 * row.key.size() + row.monitor.size()) + row_overhead;
}

std::int64_t checksum_of(std::string_view key, std::string_view monitor, std::string_view record) {
  // FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/ (public domain).
  std::uint64_t hash = 0xCBF29CE484222325U;
  const auto add = [&hash](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    hash = (hash ^ 0xFFU) * 0x100000001B3U;  // no byte of UTF-8: keeps the texts apart
  };
  add(key);
  add(monitor);
  add(record);
  return static_cast<std::int64_t>(hash);
}

void LetterTable::create(const Connection& connection, std::int64_t last_sequence) {
  connection.run(("PRAGMA page_size=" + std::to_string(page_bytes)).c_str());
  connection.run("BEGIN IMMEDIATE");
  connection.run(("PRAGMA application_id=" + std::to_string(application_id)).c_str());
  connection.run(("PRAGMA user_version=" + std::to_string(file_version)).c_str());
  for (const char* const statement : schema) connection.run(statement);
  Statement(connection, "INSERT INTO sqlite_sequence(name, seq) VALUES('letter', ?)").bind(1, last_sequence).run();
  connection.run("COMMIT");
}

LetterTable::LetterTable(Connection connection, Connection::Access access)
    : connection_(prepared(std::move(connection), access)),
      begin_(connection_, "BEGIN IMMEDIATE"),
      commit_(connection_, "COMMIT"),
      insert_(connection_,
              "INSERT INTO letter(sequence, id, monitor, state, tries, failed_at, cost, checksum, record) "
              "VALUES(nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?)"),
      find_(connection_, select(with_id)),
      find_key_(connection_, select("WHERE id = ?")),
      read_(connection_, select("WHERE sequence > ? ORDER BY sequence LIMIT ?")),
      remove_(connection_, "DELETE FROM letter WHERE sequence = ? AND checksum = ?"),
      set_state_(connection_,
                 "UPDATE letter SET state = ?1, tries = CASE ?1 WHEN 0 THEN 0 ELSE tries END "
                 "WHERE sequence = ?2 AND checksum = ?3"),
      count_try_(connection_,
                 "UPDATE letter SET tries = max(tries + ?, 0) WHERE sequence = ? AND checksum = ? RETURNING tries"),
      depth_(connection_,
             "SELECT letters, parked, bytes, (SELECT failed_at FROM letter ORDER BY sequence LIMIT 1) FROM totals"),
      touch_(connection_, "UPDATE totals SET letters = letters + ?") {}

void LetterTable::abandon() noexcept {
  connection_.abandon();
}

void LetterTable::begin() {
  begin_.run();
}

void LetterTable::commit() {
  commit_.run();
}

void LetterTable::rollback() noexcept {
  try {
    if (connection_.in_transaction()) connection_.run("ROLLBACK");
  } catch (const SqliteError&) {
    // The journal is on the disk: the next opener of the file rolls back.
  }
}

void LetterTable::insert(const NewRow& row, std::int64_t sequence, RowState state, std::uint32_t tries) {
  const ResetLater reset_later(insert_);
  insert_.bind(1, sequence).bind(2, row.key).bind(3, row.monitor).bind(4, number_of(state)).bind(5, tries);
  insert_.bind(6, row.failed_at.time_since_epoch().count()).bind(7, cost_of(row));
  insert_.bind(8, checksum_of(row.key, row.monitor, row.record)).bind(9, row.record);
  insert_.step();
}

Row LetterTable::row_of(const Statement& statement) {
  Row row;
  row.sequence = statement.number(0);
  row.state = statement.number(1) == number_of(RowState::parked) ? RowState::parked : RowState::queued;
  row.tries = static_cast<std::uint32_t>(statement.number(2));
  row.id = statement.text(3);
  row.monitor = statement.text(4);
  row.record = statement.text(5);
  row.checksum = statement.number(6);
  if (checksum_of(row.id, row.monitor, row.record) != row.checksum) {
    throw SqliteError(SQLITE_CORRUPT, 0, "row " + std::to_string(row.sequence) + " is damaged");
  }
  row.id.resize(std::min(row.id.size(), row.id.find(key_separator)));
  return row;
}

std::optional<Row> LetterTable::first_of(Statement& statement, std::string_view text) {
  const ResetLater reset_later(statement);
  statement.bind(1, text);
  if (!statement.step()) return std::nullopt;
  return row_of(statement);
}

std::optional<Row> LetterTable::find(std::string_view id) {
  return first_of(find_, id);
}

std::optional<Row> LetterTable::find_key(std::string_view key) {
  return first_of(find_key_, key);
}

std::optional<Row> LetterTable::find(const RowRef& row) {
  const ResetLater reset_later(read_);
  read_.bind(1, row.sequence - 1).bind(2, std::int64_t{1});
  if (!read_.step() || read_.number(0) != row.sequence) return std::nullopt;
  std::optional<Row> found = row_of(read_);
  if (found->ref() != row) found.reset();
  return found;
}

std::vector<Row> LetterTable::read(std::int64_t after, std::size_t max_rows, std::size_t max_bytes) {
  constexpr auto largest = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  const ResetLater reset_later(read_);
  read_.bind(1, after).bind(2, static_cast<std::int64_t>(std::clamp<std::size_t>(max_rows, 1, largest)));
  std::vector<Row> rows;
  for (std::size_t bytes = 0; read_.step();) {
    bytes += read_.bytes(5);
    if (!rows.empty() && bytes > max_bytes) break;
    rows.push_back(row_of(read_));
  }
  return rows;
}

void LetterTable::remove(const RowRef& row) {
  remove_.bind(1, row.sequence).bind(2, row.checksum).run();
}

void LetterTable::set_state(const RowRef& row, RowState state) {
  set_state_.bind(1, number_of(state)).bind(2, row.sequence).bind(3, row.checksum).run();
}

std::uint32_t LetterTable::count_try(const RowRef& row, std::int64_t change) {
  const ResetLater reset_later(count_try_);
  count_try_.bind(1, change).bind(2, row.sequence).bind(3, row.checksum);
  if (!count_try_.step()) return 0;
  const auto tries = static_cast<std::uint32_t>(count_try_.number(0));
  count_try_.step();
  return tries;
}

OutboxDepth LetterTable::depth() {
  const ResetLater reset_later(depth_);
  if (!depth_.step()) throw SqliteError(SQLITE_CORRUPT, 0, "the totals are gone");
  OutboxDepth depth;
  depth.rows = static_cast<std::uint64_t>(depth_.number(0));
  depth.parked = static_cast<std::uint64_t>(depth_.number(1));
  depth.bytes = static_cast<std::uint64_t>(depth_.number(2));
  if (!depth_.is_null(3)) depth.oldest = WallTime(std::chrono::milliseconds(depth_.number(3)));
  return depth;
}

void LetterTable::check() {
  constexpr std::size_t rows_at_once = 1000;
  constexpr std::size_t bytes_at_once = 1024 * 1024;
  const std::string findings = connection_.text("PRAGMA integrity_check(1)");
  if (findings != "ok") throw SqliteError(SQLITE_CORRUPT, 0, findings.substr(0, 200));
  std::int64_t after = std::numeric_limits<std::int64_t>::min();
  std::uint64_t rows = 0;
  for (auto batch = read(after, rows_at_once, bytes_at_once); !batch.empty();
       batch = read(after, rows_at_once, bytes_at_once)) {
    rows += batch.size();
    after = batch.back().sequence;
  }
  if (depth().rows != rows) throw SqliteError(SQLITE_CORRUPT, 0, "the totals are wrong");
}

void LetterTable::clear_journal() {
  // With this limit the journal is cut to nothing when the transaction ends.
  connection_.run("PRAGMA journal_size_limit=0");
  touch();
  connection_.run(journal_limit);
}

void LetterTable::touch() {
  begin();
  // There and back: SQLite writes nothing, and waits for no disk, where a row stays as it is.
  for (const std::int64_t change : {1, -1}) touch_.bind(1, change).run();
  commit();
}

}  // namespace forelock::outbox
