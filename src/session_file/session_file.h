// A SessionFile is the file in which a process keeps a record of its ZooKeeper sessions, locked as long as the process
// lives: a process that gets the lock knows that the recorded sessions are a dead process's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

#include "session_file/record.h"

namespace forelock::session_file {

// Why the file is not used.
struct Refusal {
  enum class Reason {
    absent,  // there is none, and none was to be made
    locked,  // who has it lives, or something that he has left the descriptor to
    unusable
  };
  Reason reason = Reason::unusable;
  std::string message;  // what and where; of the record nothing
  std::string hint;
};

// What the record said of those before.
enum class Found {
  nothing,
  sessions,
  other_boot,  // it is from before the machine's last start
  copied,      // it was written to another file, whose lock may be held
  torn
};

// The lock is a flock() on the open file: the kernel frees it when the last descriptor is closed of those that go back
// to this open(), so it outlives a process that is stopped or dumps its core, and lasts as long as a forked child, or a
// command that has been left the descriptor. No process id is involved.
//
// Thread-safe. An owner is any address; it stands for a session that is replaced in the record when its owner has
// another one.
class SessionFile {
 public:
  using Opened = std::variant<std::shared_ptr<SessionFile>, Refusal>;

  // Opens and locks it; never waits. `make`: whether it is made if there is none, with mode 0600. Symbolic links,
  // other people's files, files that others can access, and those with anything else in them, are refused.
  static Opened open(const std::filesystem::path& path, bool make);
  // The same; all callers in a process share one per path. A forked child shares nothing with its parent, whose lock
  // keeps it out.
  static Opened of_process(const std::filesystem::path& path);

  // Closes it; the record stays.
  ~SessionFile();
  SessionFile(const SessionFile&) = delete;
  SessionFile& operator=(const SessionFile&) = delete;

  Found found() const { return found_; }
  // For a command that is to keep the lock: close-on-exec is set.
  int descriptor() const { return descriptor_; }

  // The sessions in the record whose processes are gone.
  std::vector<RecordedSession> left_behind() const;
  // Those of an ensemble that nobody has been given yet. They stay in the record until they are forgotten.
  std::vector<RecordedSession> claim(const std::string& ensemble);

  // The next three write the record anew. What went wrong is returned; the record counts as torn then.
  std::error_code forget(std::int64_t session);
  // The owner's session, in the place of its last one. If too many live already, no_buffer_space.
  std::error_code record(const void* owner, RecordedSession session);
  // The owner has no session any more. `ended`: for certain; otherwise it stays in the record.
  std::error_code drop(const void* owner, bool ended);

 private:
  struct Entry {
    RecordedSession session;
    const void* owner = nullptr;  // nobody's: left behind
    bool claimed = false;
  };

  SessionFile(int descriptor, std::string boot, std::string place, ReadRecord record);
  std::error_code write() const;

  const int descriptor_;
  const std::string boot_;
  const std::string place_;
  Found found_ = Found::nothing;
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace forelock::session_file
