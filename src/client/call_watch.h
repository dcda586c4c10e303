// A CallWatch warns of code of the host application that keeps a dispatcher busy for long, while it still does.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "client/client_log.h"
#include "client/dispatcher.h"
#include "lock/engine_types.h"

namespace forelock::client {

// Not thread-safe: one thread looks. The dispatchers and the log outlive it.
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
