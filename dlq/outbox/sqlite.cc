#include "outbox/sqlite.h"

#include <sqlite3.h>

#include <algorithm>
#include <thread>

namespace forelock::outbox {
namespace {

[[noreturn]] void fail(sqlite3* handle, int code) {
  const int extended = handle ? sqlite3_extended_errcode(handle) : code;
  const int primary = code & 0xFF;
  // SQLite remembers errno of earlier calls too; only with these codes it belongs to the failure.
  const bool from_system = primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN || primary == SQLITE_FULL;
  const int system_error = handle && from_system ? sqlite3_system_errno(handle) : 0;
  throw SqliteError((extended & 0xFF) == primary ? extended : code, system_error, sqlite3_errstr(code));
}

void check(sqlite3* handle, int code) {
  if (code != SQLITE_OK) fail(handle, code);
}

}  // namespace

SqliteError::SqliteError(int extended_code, int system_error, const std::string& message)
    : std::runtime_error(message), code_(extended_code), system_error_(system_error) {}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const noexcept {
  sqlite3_finalize(statement);
}

Statement::Statement(const Connection& connection, std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3* const handle = connection.handle_.get();
  check(handle, sqlite3_prepare_v3(handle, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                   &statement, nullptr));
  statement_.reset(statement);
}

Statement& Statement::bind(int parameter, std::int64_t value) {
  check(sqlite3_db_handle(statement_.get()), sqlite3_bind_int64(statement_.get(), parameter, value));
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
  check(sqlite3_db_handle(statement_.get()),
        sqlite3_bind_text64(statement_.get(), parameter, text.data() ? text.data() : "", text.size(), SQLITE_STATIC,
                            SQLITE_UTF8));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) fail(sqlite3_db_handle(statement_.get()), code);
  return false;
}

void Statement::run() {
  const ResetLater reset_later(*this);
  step();
}

void Statement::reset() noexcept {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::number(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string Statement::text(int column) const {
  const unsigned char* const text = sqlite3_column_text(statement_.get(), column);
  return text ? std::string(reinterpret_cast<const char*>(text), bytes(column)) : std::string();
}

std::size_t Statement::bytes(int column) const {
  return static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
}

void Connection::Close::operator()(sqlite3* handle) const noexcept {
  sqlite3_close_v2(handle);
}

int Connection::wait(void* patience, int asked) {
  // SQLite's own waiting sleeps up to 100 ms at a time: too long where several processes write all the time.
  constexpr std::chrono::microseconds longest = std::chrono::milliseconds(5);
  const auto now = std::chrono::steady_clock::now();
  Patience& waiting = *static_cast<Patience*>(patience);
  if (asked == 0) waiting.begun = now;
  if (now - waiting.begun >= waiting.whole) return 0;
  std::this_thread::sleep_for(std::min(longest, std::chrono::microseconds(100) * (1 << std::min(asked, 6))));
  return 1;
}

Connection::Connection(const std::filesystem::path& path, std::chrono::milliseconds patience, Access access)
    : patience_(std::make_unique<Patience>(Patience{patience, {}})) {
  sqlite3* handle = nullptr;
  const int flags = (access == Access::look ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX |
                    SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  handle_.reset(handle);
  check(handle, code);
  check(handle, sqlite3_busy_handler(handle, &Connection::wait, patience_.get()));
}

void Connection::run(const char* sql) const {
  // Not sqlite3_exec: its error text could quote what the statement holds.
  Statement statement(*this, sql);
  while (statement.step()) {
  }
}

std::int64_t Connection::number(const char* sql) const {
  Statement statement(*this, sql);
  return statement.step() ? statement.number(0) : 0;
}

std::string Connection::text(const char* sql) const {
  Statement statement(*this, sql);
  return statement.step() ? statement.text(0) : std::string();
}

std::int64_t Connection::changes() const {
  return sqlite3_changes64(handle_.get());
}

bool Connection::in_transaction() const {
  return sqlite3_get_autocommit(handle_.get()) == 0;
}

void Connection::abandon() noexcept {
  static_cast<void>(handle_.release());
  static_cast<void>(patience_.release());
}

}  // namespace forelock::outbox
