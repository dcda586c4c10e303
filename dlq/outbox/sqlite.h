// SQLite's handles as objects, and its result codes as exceptions.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace forelock::outbox {

// What SQLite answered. what() holds neither parameters nor contents.
class SqliteError : public std::runtime_error {
 public:
  SqliteError(int extended_code, int system_error, const std::string& message);
  // The extended result code, such as SQLITE_IOERR_FSYNC.
  int extended_code() const noexcept { return code_; }
  // The primary one, such as SQLITE_IOERR.
  int code() const noexcept { return code_ & 0xFF; }
  // errno of the call that failed; 0 where none did.
  int system_error() const noexcept { return system_error_; }

 private:
  int code_;
  int system_error_;
};

class Connection;

// A prepared statement. Parameters count from 1, columns from 0. Not thread-safe.
class Statement {
 public:
  Statement(const Connection& connection, std::string_view sql);

  Statement& bind(int parameter, std::int64_t value);
  // The text must live until reset().
  Statement& bind(int parameter, std::string_view text);

  // \returns whether there is a row to look at.
  bool step();
  // For those that return nothing: runs it, and is ready to be run again.
  void run();
  void reset() noexcept;

  bool is_null(int column) const;
  std::int64_t number(int column) const;
  std::string text(int column) const;
  std::size_t bytes(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// Resets a statement at the end of a scope, so that no read transaction stays open behind an exception.
class ResetLater {
 public:
  explicit ResetLater(Statement& statement) : statement_(statement) {}
  ~ResetLater() { statement_.reset(); }
  ResetLater(const ResetLater&) = delete;
  ResetLater& operator=(const ResetLater&) = delete;

 private:
  Statement& statement_;
};

// One connection. Not thread-safe. Waits for other processes' transactions at most as long as it was told.
class Connection {
 public:
  enum class Access { change, look };

  // The file must exist.
  Connection(const std::filesystem::path& path, std::chrono::milliseconds patience, Access access = Access::change);

  void run(const char* sql) const;
  std::int64_t number(const char* sql) const;
  std::string text(const char* sql) const;

  // How many rows the last statement changed.
  std::int64_t changes() const;
  bool in_transaction() const;
  // Forgets the handle without closing it: in a child after fork(), closing would disturb the parent.
  void abandon() noexcept;

 private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* handle) const noexcept;
  };
  struct Patience {
    std::chrono::milliseconds whole;
    std::chrono::steady_clock::time_point begun;
  };
  // Called by SQLite while another process has the file; `asked` counts within one wait. \returns whether to try again.
  static int wait(void* patience, int asked);

  std::unique_ptr<Patience> patience_;  // SQLite knows its address
  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace forelock::outbox
