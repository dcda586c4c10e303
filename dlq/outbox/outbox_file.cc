#include "outbox/outbox_file.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include "outbox/outbox_error.h"
#include "outbox/private_storage.h"
#include "outbox/replacement.h"

namespace forelock::outbox {
namespace {

// How often the file may be replaced under our hands before that is an error.
constexpr int max_openings = 5;
// Behind a wait in vain: for how long the next ones are short, and how short.
constexpr std::chrono::seconds impatience{5};
constexpr std::chrono::milliseconds short_patience{250};

std::filesystem::path resolved(const std::filesystem::path& path) {
  if (path.empty()) {
    throw Error(ErrorCode::outbox_unavailable, {}, "There is no place for the outbox: dlq.outbox.path is empty",
                "Set dlq.outbox.path, or HOME or XDG_STATE_HOME in the environment of this process.");
  }
  std::error_code failed;
  // The file that a link leads to: replacing must not replace the link.
  const auto whole = std::filesystem::weakly_canonical(std::filesystem::absolute(path), failed);
  return failed ? std::filesystem::absolute(path) : whole;
}

// \returns whether these are our tables. \throws SqliteError, also for damage; Error if it is another application's
// file.
void check_kind(const Connection& connection, const std::filesystem::path& path) {
  const std::int64_t version = connection.number("PRAGMA user_version");
  const bool ours = connection.number("PRAGMA application_id") == application_id;
  if (!ours && connection.number("SELECT count(*) FROM sqlite_master") > 0) {
    throw unavailable(path, "used", "it is a database of another program",
                      "Set dlq.outbox.path to another place. The file is left as it is.");
  }
  if (ours && version > file_version) {
    throw unavailable(path, "used",
                      "its format has version " + std::to_string(version) +
                          ", and this version of forelock knows up to " + std::to_string(file_version),
                      "Use the version of forelock that wrote it, or a newer one. The file is left as it is.");
  }
  if (!ours || version != file_version) throw SqliteError(SQLITE_CORRUPT, 0, "the outbox's marks are gone");
}

// Missing tables are damage too: the marks said that they are there.
bool means_damage(const SqliteError& error) {
  return is_damage(error) || error.code() == SQLITE_ERROR;
}

}  // namespace

OutboxFile::Use::~Use() {
  if (file_.lock_) file_.lock_->release();
}

OutboxFile::OutboxFile(const OutboxOptions& options)
    : path_(resolved(options.path)), log_(options.log), patience_(options.patience), read_only_(options.read_only) {}

std::optional<OutboxFile::Identity> OutboxFile::identity() const {
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0) {
    if (errno == ENOENT) return std::nullopt;
    throw unavailable(path_, read_only_ ? "read" : "opened", errno);
  }
  if (!S_ISREG(status.st_mode)) {
    throw unavailable(path_, "used", "it is not a regular file", "Set dlq.outbox.path to the path of a file.");
  }
  return Identity{status.st_dev, status.st_ino};
}

std::filesystem::path OutboxFile::lock_path() const {
  return path_.string() + ".lock";
}

void OutboxFile::open_lock() {
  make_private_directory(path_.parent_path());
  lock_ = std::make_unique<FileLock>(lock_path(), path_);
}

void OutboxFile::own_lock(const std::string& doing) {
  const bool impatient = std::chrono::steady_clock::now() < impatient_until_;
  if (lock_->own(impatient ? std::min(patience_, short_patience) : patience_)) {
    impatient_until_ = {};
    return;
  }
  impatient_until_ = std::chrono::steady_clock::now() + impatience;
  throw unavailable(path_, doing, "another process has been using it for too long",
                    "See who: fuser -v " + path_.string());
}

void OutboxFile::tighten_mode() const {
  for (const char* const suffix : {"", "-journal"}) {
    const std::string name = path_.string() + suffix;
    struct stat status {};
    if (::stat(name.c_str(), &status) != 0 || (status.st_mode & (S_IRWXG | S_IRWXO)) == 0) continue;
    if (::chmod(name.c_str(), S_IRUSR | S_IWUSR) != 0) {
      throw unavailable(
          path_, "used", "others can read " + name,
          "Take the others' permissions away: chmod 600 " + name + ". It holds the operations' payloads.");
    }
    if (log_) {
      log_("warning", "Others could read " + name + ", which holds operations' payloads; its mode is 0600 now.");
    }
  }
}

bool OutboxFile::open() {
  table_.reset();
  const std::optional<Identity> found = identity();
  if (!found || std::filesystem::file_size(path_) == 0 || lock_->note() == FileLock::Note::damaged) return false;
  tighten_mode();
  try {
    Connection connection(path_, patience_);
    check_kind(connection, path_);
    table_ = std::make_unique<LetterTable>(std::move(connection));
  } catch (const SqliteError& error) {
    if (means_damage(error)) return false;
    throw unavailable(path_, "opened", error);
  }
  if (lock_->note() == FileLock::Note::none) lock_->set_note(FileLock::Note::made);
  opened_ = *found;
  return true;
}

void OutboxFile::make_or_repair() {
  std::string damage;
  try {
    if (identity() && std::filesystem::file_size(path_) > 0) {
      try {
        Connection connection(path_, patience_);
        check_kind(connection, path_);
        LetterTable table(std::move(connection));
        table.check();
        // Another process was faster, or the damage was not in the file.
        if (!lock_->set_note(FileLock::Note::made)) throw unavailable(path_, "used", errno);
        return;
      } catch (const SqliteError& error) {
        if (!means_damage(error)) throw;
        damage = error.what();
      }
    }
    const Replacement replacement(path_, log_);
    if (damage.empty()) {
      replacement.make(*lock_);
    } else {
      replacement.repair(*lock_, damage);
    }
  } catch (const SqliteError& error) {
    throw unavailable(path_, "made or repaired", error);
  } catch (const std::system_error& error) {
    throw unavailable(path_, "made or repaired", error.code().value());
  }
}

bool OutboxFile::holds_something() const {
  std::error_code none;
  return std::filesystem::file_size(path_, none) > 0 && !none;
}

void OutboxFile::check_never_made() const {
  try {
    if (!std::filesystem::exists(lock_path()) || FileLock(lock_path()).note() == FileLock::Note::none) return;
    if (holds_something()) return;  // it has been made since
  } catch (const std::system_error& error) {
    throw unavailable(path_, "read", error.code().value());
  }
  throw unavailable(path_, "read", "it was removed or emptied by another process; what it held is not known",
                    "Find out by whom, and compare with the applications' logs, which name the id of every letter. The "
                    "next process that writes makes a new one, and this message ends.");
}

void OutboxFile::open_to_look() {
  table_.reset();
  const auto opened = [this] {
    Connection connection(path_, patience_, Connection::Access::look);
    check_kind(connection, path_);
    return std::make_unique<LetterTable>(std::move(connection), Connection::Access::look);
  };
  try {
    table_ = opened();
  } catch (const SqliteError& error) {
    if (!needs_rollback(error) || !lock_) throw;
    // Reading is what makes SQLite do it, where it may.
    Connection(path_, patience_).number("PRAGMA user_version");
    table_ = opened();
  }
}

OutboxFile::Use OutboxFile::look() {
  if (!holds_something()) check_never_made();
  const std::optional<Identity> found = identity();
  if (!found || !holds_something()) {
    Connection nothing(":memory:", patience_);
    LetterTable::create(nothing, 0);
    table_ = std::make_unique<LetterTable>(std::move(nothing), Connection::Access::look);
    opened_ = {};
    lock_.reset();
    return Use(*this);
  }
  try {
    // Where there is none, no process of ours has opened the file yet.
    if (lock_ && !lock_->is_at(lock_path())) lock_.reset();
    if (!lock_ && std::filesystem::exists(lock_path())) lock_ = std::make_unique<FileLock>(lock_path());
    if (lock_) own_lock("read");
    if (!table_ || identity() != opened_) {
      open_to_look();
      opened_ = *found;
    }
  } catch (const std::system_error& error) {
    throw unavailable(path_, "read", error.code().value());
  } catch (const SqliteError& error) {
    if (lock_) lock_->release();
    throw means_damage(error) ? damaged(path_, "read", error) : unavailable(path_, "read", error);
  } catch (...) {
    if (lock_) lock_->release();
    throw;
  }
  return Use(*this);
}

OutboxFile::Use OutboxFile::use() {
  if (read_only_) return look();
  try {
    for (int i = 0; i < max_openings; ++i) {
      if (!lock_) open_lock();
      own_lock("used");
      // It may have been taken away together with the outbox.
      if (!lock_->is_at(lock_path())) {
        lock_.reset();
        continue;
      }
      if ((table_ && identity() == opened_) || open()) return Use(*this);
      make_or_repair();
    }
  } catch (const std::system_error& error) {
    lock_.reset();
    throw unavailable(path_, "opened", error.code().value());
  } catch (...) {
    lock_.reset();
    throw;
  }
  lock_.reset();
  throw unavailable(path_, "used", "its file is replaced or damaged again and again",
                    "Look at the kernel's log and the disk of " + path_.parent_path().string() + '.');
}

void OutboxFile::note_damage() noexcept {
  table_.reset();
  if (lock_ && !read_only_) lock_->set_note(FileLock::Note::damaged);
}

void OutboxFile::close() noexcept {
  table_.reset();
}

void OutboxFile::abandon() noexcept {
  if (table_) table_->abandon();
  static_cast<void>(table_.release());
  static_cast<void>(lock_.release());
}

}  // namespace forelock::outbox
