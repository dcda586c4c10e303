// An outbox's file as the threads of this process use it: reading, and writing in groups whose outcome is certain.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "outbox/file_size_signal.h"
#include "outbox/group_commit.h"
#include "outbox/letter_table.h"
#include "outbox/outbox.h"
#include "outbox/outbox_error.h"
#include "outbox/outbox_file.h"
#include "outbox/sqlite.h"

namespace forelock::outbox {

// Thread-safe. Throws Error(outbox_unavailable), and whatever a job's work throws.
class SharedFile {
 public:
  // Opens it.
  explicit SharedFile(const OutboxOptions& options);

  const std::filesystem::path& path() const { return file_.path(); }

  // `reading` is given the table. Damage that it meets is repaired, and what a killed process has begun undone, and the
  // reading done again, once.
  template <class Reading>
  auto read(const Reading& reading) {
    const std::lock_guard lock(mutex_);
    try {
      return use(reading);
    } catch (const SqliteError& error) {
      if (!is_damage(error) && !needs_rollback(error)) throw unavailable(path(), "read", error);
    }
    try {
      return use(reading);
    } catch (const SqliteError& error) {
      throw unavailable(path(), "read", error);
    }
  }

  // Returns when the job's work is durable. Blocks for other threads' work that shares its transaction.
  void write(WriteJob& job) { commits_.submit(job); }

  // In a child after fork(): forgets everything.
  void abandon() noexcept { file_.abandon(); }

 private:
  // How a transaction ended.
  struct Outcome {
    std::optional<SqliteError> error;
    bool doubtful = false;  // with an error, and it may have been made all the same
  };
  using Jobs = std::vector<WriteJob*>;

  // Needs the mutex, as all below. After damage and errors of the disk the next one opens the file anew.
  template <class Work>
  auto use(const Work& work) {
    const FileSizeSignalBlocked quiet;
    const auto file = file_.use();
    try {
      return work(file.table());
    } catch (const SqliteError& error) {
      file.table().rollback();
      forget(error);
      throw;
    } catch (...) {
      file.table().rollback();
      throw;
    }
  }
  void forget(const SqliteError& error) noexcept;

  // Every job has its answer when it returns.
  void commit(const Jobs& jobs) noexcept;
  void commit_or_throw(const Jobs& jobs);
  Outcome transact(const Jobs& jobs);
  // After a failed COMMIT: what has come of it is on the disk, and the next opener of the file sees it. \returns the
  // jobs that are certain not to be done. \throws Error where that cannot be found out.
  Jobs settle(const Jobs& jobs, const SqliteError& error);

  std::mutex mutex_;
  OutboxFile file_;
  GroupCommit commits_;
};

}  // namespace forelock::outbox
