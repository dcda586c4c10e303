// The log of a dead-letter queue, for hosts of the C interface.
#pragma once

#include <unistd.h>

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "capi/event_queue.h"

namespace forelock::capi {

struct ClientState;

// Lines become events of the client that has used the queue last, of those that take lines and are open. What is said
// while there is none, as when the queue is opened, waits for the next. Thread-safe; does nothing in a forked child.
class QueueLog {
 public:
  void used_by(const ClientState& client);
  // Called by the queue, from any of its threads.
  void say(std::string_view level, std::string_view message);

 private:
  struct Line {
    std::string level;
    std::string message;
  };
  bool belongs_here() const { return ::getpid() == process_; }
  // Requires mutex_. \returns nullptr if there is none.
  std::shared_ptr<EventQueue> listener();

  const pid_t process_ = ::getpid();
  std::mutex mutex_;
  std::vector<std::weak_ptr<EventQueue>> clients_;  // the last one has used it last
  std::deque<Line> unheard_;
};

}  // namespace forelock::capi
