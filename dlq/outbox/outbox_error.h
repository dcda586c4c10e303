// Failures of SQLite and of the file system, as this library's errors: the problem, its place, and the next step.
#pragma once

#include <filesystem>
#include <string>

#include "forelock/error.h"
#include "outbox/sqlite.h"

namespace forelock::outbox {

// Whether the file itself is damaged, or no database at all.
bool is_damage(const SqliteError& error);
// Whether a smaller transaction may succeed where this one did not.
bool is_shortage(const SqliteError& error);

// Whether another connection has the file.
bool is_busy(const SqliteError& error);

// Whether a process was killed in the middle of a change, which who only reads cannot undo.
bool needs_rollback(const SqliteError& error);

// `doing` completes "The outbox PATH cannot be …"; "read" needs no more than the right to read it.
Error unavailable(const std::filesystem::path& path, const std::string& doing, const SqliteError& error);
Error unavailable(const std::filesystem::path& path, const std::string& doing, int system_error);
Error unavailable(const std::filesystem::path& path, const std::string& doing, const std::string& why,
                  const std::string& hint);
// The same, of damage.
Error damaged(const std::filesystem::path& path, const std::string& doing, const SqliteError& error);

}  // namespace forelock::outbox
