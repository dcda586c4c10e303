// Dead letters on this machine's disk: durable before their acceptance is reported, in the order of arrival.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "forelock/dead_letter_sink.h"

namespace forelock::outbox {

struct OutboxOptions {
  std::filesystem::path path;
  std::int64_t max_bytes = 256 * 1024 * 1024;
  std::function<void(std::string_view level, std::string_view message)> log = {};
  // How long other processes are waited for: their transactions, and repairs. For some seconds after a wait in vain the
  // next ones are short.
  std::chrono::milliseconds patience = std::chrono::seconds(10);
  // Makes, repairs and changes nothing: an outbox that has never been there is an empty one; one that is there no more,
  // is damaged or cannot be read is an error, and so is every change. Needs the right to read the file, and no other;
  // except where a process was killed in the middle of a change: what that has begun is undone first, as the file's
  // next user would do.
  bool read_only = false;
};

// What a row is, beyond waiting.
enum class RowState { queued, parked };

// One certain row. Its number alone does not tell: where a file and its lock are removed, or an older copy is put into
// their place, other letters get the same numbers.
struct RowRef {
  std::int64_t sequence = 0;
  std::int64_t checksum = 0;
  bool operator==(const RowRef&) const = default;
};

struct Row {
  std::int64_t sequence = 0;  // rises strictly
  RowState state = RowState::queued;
  std::uint32_t tries = 0;  // replays begun and not finished well
  std::string id;
  std::string monitor;
  std::string record;  // JSON
  std::int64_t checksum = 0;

  RowRef ref() const { return {sequence, checksum}; }
};

struct OutboxDepth {
  std::uint64_t rows = 0;  // parked ones included
  std::uint64_t parked = 0;
  std::uint64_t bytes = 0;
  std::optional<WallTime> oldest;  // failed_at of the oldest row
};

// One SQLite file (journal_mode=PERSIST, synchronous=FULL), mode 0600, shared by any number of processes and objects,
// also by objects of several copies of this library in one process.
// Beside it stand PATH-journal (SQLite's) and PATH.lock (this room's: who needs a lock of his own takes another file).
// Thread-safe. Waits for other processes are bounded. After fork() the child must not use it: every call throws
// RequestRejectedException(forked).
//
// Every method throws Error(outbox_unavailable) when the file cannot be used (disk full, read-only, in use for too
// long, of a newer version, …), with what to do about it; it can be called again then. Damage is repaired where it is
// met: the file is kept as PATH.damaged-TIME, every letter that can be found in it is put into a new one with its
// number, and the log says how many were saved and how many were not.
//
// NOT guaranteed: that a letter survives a disk that says it has written what it has not.
class Outbox {
 public:
  // Opens or creates it, its directory included (mode 0700). A file that others can read is made private, with a
  // warning in the log: refusing it would turn letters away because of a flaw that can be fixed at once.
  explicit Outbox(OutboxOptions options);
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  // Durable when it returns: letters that threads add at the same time share one transaction and its fsync. A letter
  // that is there already (the same id, time of failure and replay count) replaces nothing and is no error; with the
  // same id alone it is another one, with a row of its own, whatever becomes of the earlier one. When it throws, the
  // letter is not in, unless the message says that this is not known.
  // \throws Error(outbox_full); RequestRejectedException(invalid_argument) for a letter that is there already with
  // another type, monitor or payload, and for letters that cannot be written (letter_json.h).
  void add(const DeadLetter& letter);

  // Rows behind `after`, in order, at least one if there is any, as many as fit into both limits.
  std::vector<Row> read(std::int64_t after, std::size_t max_rows, std::size_t max_bytes) const;
  // Of several letters with this id, the first that is queued; of parked ones, if none is.
  std::optional<Row> find(std::string_view id) const;
  // This very letter. \throws as add() for other contents.
  std::optional<Row> find(const DeadLetter& letter) const;

  // Durable when they return. Rows that are gone already are no error, also where others have their numbers.
  void remove(std::span<const RowRef> rows);
  // A row that is queued again has no tries behind it.
  void set_state(const RowRef& row, RowState state);
  // Counts one more replay of this row. \returns the new count; 0 if the row is gone.
  std::uint32_t count_try(const RowRef& row);
  // Takes one count back, of a replay that was no failure of the letter's. Never below none.
  void take_back_try(const RowRef& row);

  // Leaves nothing of rows that were removed in the file beside the outbox, from which the last transaction could be
  // rolled back.
  void clear_journal();

  // Looks at every page, index and row, where the other methods look at what they need. Damage is repaired.
  void check();

  OutboxDepth depth() const;
  const std::filesystem::path& path() const;

  // Calls back after each add() of this object, from the adding thread: for a forwarder that waits. Must be short, not
  // throw, and not call on_add(). When this returns, the callback before is not running any more.
  void on_add(std::function<void()> callback);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace forelock::outbox
