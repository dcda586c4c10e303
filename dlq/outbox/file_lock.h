// The file PATH.lock beside an outbox: locks for users and replacers of the outbox's file, and data about it.
#pragma once

#include <chrono>
#include <filesystem>

#include "outbox/own_descriptor.h"

namespace forelock::outbox {

// flock() on a file that is never removed: who uses the outbox, creates, repairs or replaces its file has it alone.
// It belongs to the object, not to a process or a thread: so it keeps apart what SQLite's locks, which belong to the
// process, do not, two copies of this library in one process. A child of fork() does not keep it (own_descriptor.h).
// Not thread-safe.
class FileLock {
 public:
  // What the file says about the outbox.
  enum class Note : char {
    none = ' ',     // there has been no outbox here
    made = 'o',     // there has been one
    damaged = 'd',  // damage was found: check the file before it is used again
  };

  // Makes the file if it is not there; `neighbour` is the outbox (private_storage.h). \throws std::system_error.
  FileLock(const std::filesystem::path& path, const std::filesystem::path& neighbour);
  // One that is there. \throws std::system_error.
  explicit FileLock(const std::filesystem::path& path);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  // \returns whether it was got within `patience`. \throws std::system_error.
  bool own(std::chrono::milliseconds patience);
  void release() noexcept;

  // Whether the file at this path is still the one that was opened.
  bool is_at(const std::filesystem::path& path) const noexcept;

  Note note() const;
  // \returns whether it could be written.
  bool set_note(Note note) noexcept;

 private:
  OwnDescriptor file_;
};

}  // namespace forelock::outbox
