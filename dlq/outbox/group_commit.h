// One transaction, and its waits for the disk, for all threads that want to write at the same moment.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

namespace forelock::outbox {

class LetterTable;

// One thread's part of a transaction.
struct WriteJob {
  // Done inside the transaction. May throw, before it has changed anything, to say that its caller's wish cannot be
  // met; the others' parts are not concerned. SqliteError ends the transaction for all.
  std::function<void(LetterTable&)> work;
  // Whether the work is in the file: asked, outside that transaction, when its outcome became doubtful.
  std::function<bool(LetterTable&)> is_done;
  std::size_t bytes = 0;  // how much it writes, about

  std::exception_ptr error = nullptr;  // the answer
  bool finished = false;
  std::condition_variable wake = {};
};

// The first thread that comes leads: it runs what has gathered while the previous leader was busy. No thread of its
// own. Thread-safe.
class GroupCommit {
 public:
  // `run` gives every job its answer (no error: durable). Called by one thread at a time; must not throw.
  using Run = std::function<void(const std::vector<WriteJob*>&)>;
  explicit GroupCommit(Run run);

  // Returns, or throws the job's error, once a leader has run it.
  void submit(WriteJob& job);

 private:
  // Threads that have just been answered come back at once where many write: to begin without them would make two
  // half-empty transactions out of one. Waits for as many as there were last time, a fraction of what that took.
  void linger(std::unique_lock<std::mutex>& lock);
  // Those at the front that go into one transaction. Needs the mutex. Allocates nothing: a leader that left now would
  // leave its own job, and those behind it, in the queue for ever.
  void gather();

  Run run_;
  std::mutex mutex_;
  std::deque<WriteJob*> waiting_;  // the first one's thread leads
  std::vector<WriteJob*> group_;   // the leader's; with room for as many as there can be
  std::condition_variable arrived_;
  std::size_t last_size_ = 1;
  std::chrono::steady_clock::duration last_duration_{0};
};

}  // namespace forelock::outbox
