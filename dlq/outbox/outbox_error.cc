#include "outbox/outbox_error.h"

#include <sqlite3.h>

#include <cerrno>
#include <system_error>

namespace forelock::outbox {
namespace {

std::string hint_for(int system_error, const std::filesystem::path& path, bool reading = false) {
  const std::string directory = path.parent_path().string();
  switch (system_error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "Free space on the file system of " + directory + "; nothing has to be restarted.";
    case EROFS:
      return "Mount the file system of " + directory + " writable, or set dlq.outbox.path to a place that is.";
    case EACCES:
    case EPERM:
      if (reading) return "Read access is enough: run this as the user who owns it.";
      return "Give the user of this process write access to " + directory +
             " and the files there, or set dlq.outbox.path to a place of its own.";
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
      return "No outbox can be there: set dlq.outbox.path to another place.";
    case EMFILE:
    case ENFILE:
      return "This process, or the machine, has too many open files: raise the limit (ulimit -n).";
    default:
      return "Look at the kernel's log and the disk of " + directory + '.';
  }
}

std::string text_of(int system_error) {
  return std::system_category().message(system_error);
}

}  // namespace

bool is_damage(const SqliteError& error) {
  return error.code() == SQLITE_CORRUPT || error.code() == SQLITE_NOTADB;
}

bool is_shortage(const SqliteError& error) {
  return error.code() == SQLITE_FULL || error.code() == SQLITE_NOMEM || error.code() == SQLITE_TOOBIG;
}

bool is_busy(const SqliteError& error) {
  return error.code() == SQLITE_BUSY;
}

bool needs_rollback(const SqliteError& error) {
  return error.extended_code() == SQLITE_READONLY_ROLLBACK;
}

Error unavailable(const std::filesystem::path& path, const std::string& doing, const std::string& why,
                  const std::string& hint) {
  return {ErrorCode::outbox_unavailable, {}, "The outbox " + path.string() + " cannot be " + doing + ": " + why, hint};
}

Error unavailable(const std::filesystem::path& path, const std::string& doing, int system_error) {
  return unavailable(path, doing, text_of(system_error), hint_for(system_error, path, doing == "read"));
}

Error damaged(const std::filesystem::path& path, const std::string& doing, const SqliteError& error) {
  return unavailable(path, doing, std::string("it is damaged: ") + error.what(),
                     "Repair it: forelock dlq repair. The damaged file is kept, and what can be read of it is saved "
                     "into a new one.");
}

Error unavailable(const std::filesystem::path& path, const std::string& doing, const SqliteError& error) {
  switch (error.code()) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return damaged(path, doing, error);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return unavailable(path, doing, "another process has been using it for too long",
                         "See who: fuser -v " + path.string());
    case SQLITE_FULL:
      return unavailable(path, doing, "the disk is full", hint_for(ENOSPC, path));
    case SQLITE_READONLY:
      if (needs_rollback(error)) {
        return unavailable(path, doing,
                           "a process was killed in the middle of a change, and this one may not undo what is begun",
                           "Look once as the file's owner (forelock dlq stats --outbox), who may. Nothing is lost.");
      }
      return unavailable(path, doing, "it is read-only", hint_for(EROFS, path));
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return unavailable(path, doing, EACCES);
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN: {
      const int system_error = error.system_error();
      // SQLite takes a journal that it cannot open for writing for reading.
      if (system_error == EBADF) {
        return unavailable(path, doing, "its journal cannot be opened for writing", hint_for(EACCES, path));
      }
      if (system_error != 0) return unavailable(path, doing, system_error);
      return unavailable(path, doing, error.what(), hint_for(EIO, path));
    }
    default:
      return unavailable(path, doing,
                         std::string(error.what()) + " (SQLite code " + std::to_string(error.extended_code()) + ')',
                         hint_for(0, path));
  }
}

}  // namespace forelock::outbox
