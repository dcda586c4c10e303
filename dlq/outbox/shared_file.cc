#include "outbox/shared_file.h"

#include <sqlite3.h>

#include <exception>
#include <string>

namespace forelock::outbox {

SharedFile::SharedFile(const OutboxOptions& options)
    : file_(options), commits_([this](const Jobs& jobs) {
        const std::lock_guard lock(mutex_);
        commit(jobs);
      }) {
  const FileSizeSignalBlocked quiet;
  const auto opened = file_.use();
}

void SharedFile::forget(const SqliteError& error) noexcept {
  if (is_damage(error)) {
    file_.note_damage();
  } else if (error.code() == SQLITE_IOERR || error.code() == SQLITE_CANTOPEN || needs_rollback(error)) {
    file_.close();
  }
}

void SharedFile::commit(const Jobs& jobs) noexcept {
  try {
    commit_or_throw(jobs);
  } catch (...) {
    for (WriteJob* const job : jobs) {
      if (!job->error) job->error = std::current_exception();
    }
  }
}

void SharedFile::commit_or_throw(const Jobs& jobs) {
  Outcome outcome = transact(jobs);
  // The damage was noted: the next transaction finds a repaired file.
  if (outcome.error && is_damage(*outcome.error) && !outcome.doubtful) outcome = transact(jobs);
  if (!outcome.error) return;
  Jobs undone = outcome.doubtful ? settle(jobs, *outcome.error) : jobs;
  std::erase_if(undone, [](const WriteJob* job) { return job->error != nullptr; });
  if (is_shortage(*outcome.error) && jobs.size() > 1) {
    // Smaller transactions may fit where this one did not.
    for (WriteJob* const job : undone) commit({job});
  } else {
    const auto told = std::make_exception_ptr(unavailable(path(), "written", *outcome.error));
    for (WriteJob* const job : undone) job->error = told;
  }
}

SharedFile::Outcome SharedFile::transact(const Jobs& jobs) {
  bool committing = false;
  for (WriteJob* const job : jobs) job->error = nullptr;
  try {
    use([&](LetterTable& table) {
      table.begin();
      for (WriteJob* const job : jobs) {
        try {
          job->work(table);
        } catch (const SqliteError&) {
          throw;
        } catch (...) {
          job->error = std::current_exception();
        }
      }
      committing = true;
      table.commit();
    });
  } catch (const SqliteError& error) {
    return {error, committing && error.code() != SQLITE_BUSY};
  }
  return {};
}

SharedFile::Jobs SharedFile::settle(const Jobs& jobs, const SqliteError& error) {
  file_.close();
  try {
    return use([&](LetterTable& table) {
      // What is to count must have been made durable by a transaction that succeeded.
      table.touch();
      Jobs undone;
      for (WriteJob* const job : jobs) {
        if (job->error == nullptr && !job->is_done(table)) undone.push_back(job);
      }
      return undone;
    });
  } catch (const std::exception&) {
    const Error known = unavailable(path(), "written", error);
    throw Error(ErrorCode::outbox_unavailable, {},
                std::string(known.what()) + "; whether the change was made is not known, as it cannot be read back",
                known.hint() + " Then do the same again, with the same id: it is done once.");
  }
}

}  // namespace forelock::outbox
