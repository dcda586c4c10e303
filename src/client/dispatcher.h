// A Dispatcher runs code of the host application on a separate thread, one call after the other.
//
// Such code may take any time, so no work on which a lock's certainty depends waits for this thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lock/engine_types.h"

namespace forelock::client {

class ClientLog;

class Dispatcher {
 public:
  struct Call {
    std::function<void()> run;
    const char* kind = "";                 // what it is, for messages
    const std::string* monitor = nullptr;  // whose it is; lives as long as `run`
  };
  // A call that has not returned yet.
  struct Running {
    std::uint64_t number = 0;  // counts the calls
    lock::TimePoint since{};
    std::string kind;
    std::string monitor;
  };

  // `before_call` gets the begin of each call.
  explicit Dispatcher(const char* thread_name, std::function<void(lock::TimePoint)> before_call = {});
  // Stops as by stop().
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  void start();
  // Runs the call on the thread, after those posted before. Thread-safe. \returns false, and has not taken it, after
  // stop().
  bool post(Call& call);
  bool post(Call&& call) { return post(call); }
  // As post(), but leaves it to a later wake() to wake the thread: for callers that hold a mutex which the call is
  // about to want.
  bool enqueue(Call& call);
  void wake() { changed_.notify_one(); }
  std::optional<Running> running() const;
  // Runs what was posted, then ends the thread. Not from a call.
  void stop();
  bool on_this_thread() const { return std::this_thread::get_id() == id_.load(); }

 private:
  void run();

  const char* const thread_name_;
  const std::function<void(lock::TimePoint)> before_call_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Call> calls_;
  const Call* current_ = nullptr;
  lock::TimePoint since_{};
  std::uint64_t number_ = 0;
  bool stopping_ = false;
  std::atomic<std::thread::id> id_;
  std::thread thread_;
};

// A CallWatch warns of code of the host application that keeps a dispatcher busy for long, while it still does. Not
// thread-safe: one thread looks. The dispatchers and the log outlive it.
class CallWatch {
 public:
  CallWatch(std::initializer_list<const Dispatcher*> dispatchers, ClientLog& log);

  // Warns once of each call that has been running for `limit`. Says when it wants to be asked again; `never` while
  // nothing runs.
  lock::TimePoint look(lock::TimePoint time, lock::Duration limit);

 private:
  struct Watched {
    const Dispatcher* dispatcher;
    std::uint64_t warned_of = 0;
  };
  std::vector<Watched> watched_;
  ClientLog& log_;
};

}  // namespace forelock::client
