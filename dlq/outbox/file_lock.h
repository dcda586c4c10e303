// The file PATH.lock beside an outbox: who uses the outbox's file, who replaces it, and what is known about it.
#pragma once

#include <chrono>
#include <filesystem>

namespace forelock::outbox {

// flock() on a file that is never removed: many share it while they use the outbox; who creates, repairs or replaces
// the outbox's file has it alone. It belongs to the object, not to a process or a thread. Not thread-safe.
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
  // One that is there, to share it. \throws std::system_error.
  explicit FileLock(const std::filesystem::path& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  // \returns whether it was got within `patience`. \throws std::system_error.
  bool share(std::chrono::milliseconds patience);
  bool own(std::chrono::milliseconds patience);
  void release() noexcept;

  Note note() const;
  // \returns whether it could be written.
  bool set_note(Note note) noexcept;

 private:
  bool lock(int operation, std::chrono::milliseconds patience);

  int file_ = -1;
};

}  // namespace forelock::outbox
