// One engine with a canned server, and the cycles that are measured and guarded.
#pragma once

#include "bench/canned_server.h"
#include "lock/engine.h"

namespace forelock::bench {

class EngineCycles {
 public:
  explicit EngineCycles(std::size_t foreign = 0) : server_(foreign), engine_({}, server_) { server_.connect(engine_); }

  CannedServer& server() { return server_; }
  lock::Engine& engine() { return engine_; }

  void acquire(Priority priority = Priority::foreground) {
    engine_.acquire(next_++, typical_spec(priority), server_.time());
  }

  // Acquire, reply, release, reply.
  void uncontended() {
    acquire();
    server_.answer_all(engine_);
    engine_.release(server_.holder(), server_.time());
    server_.answer_all(engine_);
  }

  // The holder leaves and comes back at once, at the end of the queue; the next one gets the lock.
  void hand_over() {
    engine_.release(server_.holder(), server_.time());
    acquire();
    server_.answer_all(engine_);
  }

 private:
  CannedServer server_;
  lock::Engine engine_;
  lock::ContenderId next_ = 1;
};

}  // namespace forelock::bench
