// A WatchObserver receives the events of a client's session, in addition to the client itself.
#pragma once

#include <cstdint>

#include "coordination/session.h"

namespace forelock::client {

// Called in the order in which the server has said things: before the reply to any later request. Must not block, and
// must not call the client.
class WatchObserver {
 public:
  // Also those that the client has asked for itself.
  virtual void on_watch(const coordination::WatchEvent& event) = 0;
  // Connected, the first time or again. Another session than before has none of the watches of that one.
  virtual void on_session(std::int64_t session) = 0;

 protected:
  ~WatchObserver() = default;
};

}  // namespace forelock::client
