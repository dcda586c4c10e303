// The table of letters in an outbox's file, and its totals.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "outbox/outbox.h"
#include "outbox/sqlite.h"

namespace forelock::outbox {

// The file's schema (PRAGMA user_version): what this code writes, and the newest that it reads.
inline constexpr std::int64_t file_version = 1;
// PRAGMA application_id of every outbox.
inline constexpr std::int64_t application_id = 0x464C4F42;  // "FLOB"
// Of every outbox, so that its rows can be found where its first page is lost.
inline constexpr std::size_t page_bytes = 4096;

// A letter on its way into the table.
struct NewRow {
  // What the column `id` holds, which no two rows share: the letter's id; where another letter has that already, what
  // distinguishes this one stands behind it (later_key()).
  std::string key;
  std::string monitor;
  WallTime failed_at{};
  std::string record;
};

// The key of a letter whose id is the key of another one. No id has a line break in it.
std::string later_key(const DeadLetter& letter);

// What a row counts against `dlq.outbox.max.bytes`: its texts, and what SQLite needs around them.
std::int64_t cost_of(const NewRow& row);
// Of the stored form; a row that does not have it has been damaged.
std::int64_t checksum_of(std::string_view key, std::string_view monitor, std::string_view record);

// A connection with the statements on it. Methods that change something belong between begin() and commit(). All throw
// SqliteError; a row whose checksum is wrong counts as SQLITE_CORRUPT. Not thread-safe.
class LetterTable {
 public:
  // In an empty database, whose rows will be numbered from behind `last_sequence`.
  static void create(const Connection& connection, std::int64_t last_sequence);

  // Sets the connection up (journal, durability), unless it is for looking alone. It must be to a file of this version.
  explicit LetterTable(Connection connection, Connection::Access access = Connection::Access::change);

  const Connection& connection() const { return connection_; }
  void abandon() noexcept;

  void begin();
  void commit();
  // Never throws: what cannot be rolled back now is rolled back by the next opener of the file.
  void rollback() noexcept;

  // A sequence number of 0: the next one.
  void insert(const NewRow& row, std::int64_t sequence = 0, RowState state = RowState::queued, std::uint32_t tries = 0);
  // Of several letters with this id, the first that is queued; of parked ones, if none is.
  std::optional<Row> find(std::string_view id);
  std::optional<Row> find_key(std::string_view key);
  std::optional<Row> find(const RowRef& row);
  std::vector<Row> read(std::int64_t after, std::size_t max_rows, std::size_t max_bytes);
  void remove(const RowRef& row);
  // A row that is queued again has no tries behind it.
  void set_state(const RowRef& row, RowState state);
  // Adds to the count, which never falls below 0. \returns the new one; 0 if the row is gone.
  std::uint32_t count_try(const RowRef& row, std::int64_t change = 1);
  OutboxDepth depth();
  // Looks at every page, every index, and each row's checksum. \throws SqliteError for damage.
  void check();
  // A transaction of its own that changes nothing and is durable like every other.
  void touch();
  // Leaves an empty journal.
  void clear_journal();

 private:
  // The row that `statement`, one of those that select whole rows, has stepped to.
  static Row row_of(const Statement& statement);
  static std::optional<Row> first_of(Statement& statement, std::string_view text);

  Connection connection_;
  Statement begin_;
  Statement commit_;
  Statement insert_;
  Statement find_;
  Statement find_key_;
  Statement read_;
  Statement remove_;
  Statement set_state_;
  Statement count_try_;
  Statement depth_;
  Statement touch_;
};

}  // namespace forelock::outbox
