// Passes the C client's messages to a function object.
#pragma once

#include <zookeeper/zookeeper.h>

#include <functional>
#include <string_view>

namespace forelock::zookeeper {

// The C client's log callback gets the message and nothing else, so a session needs a C function of its own: there are
// as many as a process will hardly have sessions, and one that finds none left hears nothing. Thread-safe.
class LogHook {
 public:
  // `receiver` may be empty. `broken` is called on the client's I/O thread when a connection, or an attempt at one, has
  // failed, before the client itself acts on that; it may block the client and give it other servers, and must not send
  // anything. A host that mutes the C client (zoo_set_debug_level below ZOO_LOG_LEVEL_ERROR) mutes this, too.
  LogHook(std::function<void(std::string_view)> receiver, std::function<void()> broken);
  // The client that has the callback must be closed before.
  ~LogHook();
  LogHook(const LogHook&) = delete;
  LogHook& operator=(const LogHook&) = delete;

  // Never null: without a callback the C client writes to standard error.
  log_callback_fn callback() const { return callback_; }

 private:
  int slot_ = -1;
  log_callback_fn callback_;
};

}  // namespace forelock::zookeeper
