// Brings the C client's messages to a function object.
#pragma once

#include <zookeeper/zookeeper.h>

#include <functional>
#include <string_view>

namespace forelock::zookeeper {

// The C client's log callback gets the message and nothing else, so a session needs a C function of its own: there are
// a few, and a session that finds none left is silent. Thread-safe.
class LogHook {
 public:
  explicit LogHook(std::function<void(std::string_view)> receiver);
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
