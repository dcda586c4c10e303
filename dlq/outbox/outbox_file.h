// An outbox's file: making it, opening it, noticing that it was replaced or damaged.
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

// The file at PATH is only ever made complete under another name and put into place at once, with PATH.lock held
// alone; it is only ever read or written with PATH.lock shared. So no process works on a file that has been put aside.
// Not thread-safe.
class OutboxFile {
 public:
  // The file is not replaced while one of these lives.
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
  void open_lock();
  bool share_and_open();
  // Opens the file that is there. \returns false if it has to be made or repaired first.
  bool open();
  // Others could read the file: that ends here, and the log says so.
  void tighten_mode() const;
  // Needs the lock alone.
  void make_or_repair();
  // As use(), for looking alone.
  Use look();

  std::filesystem::path path_;
  std::function<void(std::string_view, std::string_view)> log_;
  std::chrono::milliseconds patience_;
  bool read_only_;
  std::unique_ptr<FileLock> lock_;
  std::unique_ptr<LetterTable> table_;
  Identity opened_;
};

}  // namespace forelock::outbox
