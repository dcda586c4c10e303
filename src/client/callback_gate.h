// A CallbackGate runs the callbacks of one lock object on the dispatcher, and none after the object is gone.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "client/client_core.h"

namespace forelock::client {

// As the log names a callback that takes long.
inline constexpr const char* acquire_callback = "the callback of acquire()";
inline constexpr const char* release_callback = "the callback of release()";

class CallbackGate {
 public:
  using Done = std::function<void(std::exception_ptr)>;

  // An asynchronous caller's result, decided but not yet delivered by the dispatcher.
  struct Answer {
    Done done = {};
    const char* kind = "";
    bool held = false;                               // of an acquisition that was granted
    std::function<std::exception_ptr()> error = {};  // asked when it is given, on that thread; empty: none
  };

  // `name`: the lock's, for messages; outlives the gate.
  CallbackGate(ClientCore& core, const std::string& name) : core_(core), name_(name) {}

  // A callback as the dispatcher runs it: unless the lock object is gone, and with its exceptions caught. `owner` keeps
  // this gate alive.
  template <class Callback>
  Dispatcher::Call call(const char* kind, std::shared_ptr<const void> owner, Callback callback) {
    auto run = [this, owner = std::move(owner), kind, callback = std::move(callback)] {
      const std::lock_guard guard(running_);
      if (!closed_) run_guarded(kind, callback);
    };
    return {.run = std::move(run), .kind = kind, .monitor = &name_};
  }

  // The answer waits for its turn; next_answer() is the call that gives the oldest one.
  void owe(Answer answer);
  Dispatcher::Call next_answer(const char* kind, std::shared_ptr<const void> owner);
  std::vector<Answer> take_answers();
  // Gives them on this thread.
  void give(const std::vector<Answer>& answers) noexcept;

  // No callback runs after this, or it is the one that runs now.
  void close();

 private:
  void run_guarded(const char* kind, const std::function<void()>& callback) noexcept;

  ClientCore& core_;
  const std::string& name_;

  std::mutex mutex_;
  std::vector<Answer> answers_;

  // Held while a callback runs, so that close() can wait for it; recursive, since a callback may be the one that
  // destroys the lock object.
  std::recursive_mutex running_;
  bool closed_ = false;
};

}  // namespace forelock::client
