// The client behind a handle, with its events.
#pragma once

#include <memory>
#include <utility>

#include "capi/event_queue.h"
#include "capi/object.h"
#include "client/client_core.h"
#include "forelock/client.h"

namespace forelock::capi {

// What everything that was made with a client keeps alive. Destroyed in the order that the client's threads need: they
// may still tell the queue of something while the client closes.
struct ClientState {
  ClientState(Settings settings, std::shared_ptr<EventQueue> queue, LogSink log, LogDetail detail)
      : events(std::move(queue)), takes_lines(log != nullptr), client(std::move(settings), std::move(log), detail) {}

  const std::shared_ptr<EventQueue> events;
  const bool takes_lines;  // of the log, as events
  Client client;
};

class ClientObject final : public Object {
 public:
  static constexpr Kind object_kind = Kind::client;

  explicit ClientObject(std::shared_ptr<ClientState> state) : Object(object_kind), state_(std::move(state)) {}

  const std::shared_ptr<ClientState>& state() const { return state_; }
  Client& client() const { return state_->client; }
  EventQueue& events() const { return *state_->events; }
  // The queue's mutex may have been locked at the fork, and its descriptor is shared with the parent's.
  bool in_forked_child() const { return state_->client.core()->in_forked_child(); }
  void close() const {
    state_->client.close();
    if (!in_forked_child()) state_->events->end();
  }

 private:
  const std::shared_ptr<ClientState> state_;
};

}  // namespace forelock::capi
