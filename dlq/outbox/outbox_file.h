// An outbox's file: creates it, opens it, and detects its replacement or damage.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "outbox/file_lock.h"
#include "outbox/letter_table.h"
#include "outbox/outbox.h"

namespace forelock::outbox {

// The file at PATH is only ever made complete under another name and put into place at once; and it is only ever made,
// opened, read or written with PATH.lock held. So no process works on a file that has been put aside, and no two copies
// of this library in one process on the same file, whose SQLite's locks would not keep them apart. (A reading does not
// share the lock with others: it may have to roll back what a killed process has left, and many readings one after
// another would keep a writer out.) Not thread-safe.
class OutboxFile {
 public:
  // Nobody else uses the file while one of these lives.
  class Use {
   public:
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    LetterTable& table() const { return *file_.table_; }

   private:
    friend class OutboxFile;
    explicit Use(OutboxFile& file) : file_(file) {}
    OutboxFile& file_;
  };

  // \throws Error(outbox_unavailable) for an invalid path.
  explicit OutboxFile(const OutboxOptions& options);

  const std::filesystem::path& path() const { return path_; }

  // Opens the file if it is not open, makes it where there is none, repairs it where it is damaged.
  // \throws Error(outbox_unavailable).
  Use use();

  // Closes the file, and makes its next opener check it.
  void note_damage() noexcept;
  // The next use() opens the file again.
  void close() noexcept;
  // In a child after fork(): forgets everything without closing it, which would disturb the parent.
  void abandon() noexcept;

 private:
  struct Identity {
    dev_t device = 0;
    ino_t file = 0;
    bool operator==(const Identity&) const = default;
  };

  // Of the file at the path; nothing where there is none. \throws Error if it is no ordinary file.
  std::optional<Identity> identity() const;
  std::filesystem::path lock_path() const;
  void open_lock();
  // \throws Error if others keep it for too long. Right after that the next ones do not wait as long: many threads, or
  // one with many letters, would each in its turn.
  void own_lock(const std::string& doing);
  // Opens the file that is there. \returns false if it has to be made or repaired first.
  bool open();
  // Others could read the file: that ends here, and the log says so.
  void tighten_mode() const;
  void make_or_repair();
  bool holds_something() const;
  // \throws Error if there has been an outbox and is none: one that is gone must not look like one in which nothing is.
  void check_never_made() const;
  // Undoes what a killed process has begun, if this one may, and changes nothing else. \throws SqliteError.
  void open_to_look();
  // As use(), for looking alone.
  Use look();

  std::filesystem::path path_;
  std::function<void(std::string_view, std::string_view)> log_;
  std::chrono::milliseconds patience_;
  bool read_only_;
  std::unique_ptr<FileLock> lock_;
  std::unique_ptr<LetterTable> table_;
  Identity opened_;
  std::chrono::steady_clock::time_point impatient_until_{};
};

}  // namespace forelock::outbox
