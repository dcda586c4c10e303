// One connection between a client and a server: two pipes that keep order, lose things and stand still.
#pragma once

#include "model/message.h"
#include "model/timeline.h"

namespace forelock::model {

class Connection;

struct WireOptions {
  Span shortest = std::chrono::microseconds(50);
  Span longest = std::chrono::microseconds(800);
  // Now and then a message takes much longer, and all behind it with it.
  double hiccup = 0.01;
  Span longest_hiccup = std::chrono::milliseconds(20);
};

class ClientEnd {
 public:
  // False while the client's process stands still: what has arrived waits.
  virtual bool ready_to_receive() const = 0;
  virtual void receive(Connection& connection, Downstream message) = 0;

 protected:
  ~ClientEnd() = default;
};

class ServerEnd {
 public:
  virtual void receive(Connection& connection, Upstream message) = 0;
  virtual void forwarded(Connection& connection) = 0;

 protected:
  ~ServerEnd() = default;
};

class Connection final : public Actor {
 public:
  // What the server still has to answer over this connection, in order.
  struct Waiting {
    bool write = false;  // the leader has to answer first
    Upstream message;    // of a write only the number
  };

  Connection(Timeline& timeline, Random& random, const WireOptions& wire, ServerEnd& server, ClientEnd& client);

  // --- the client's end ---
  void send(Upstream message);
  // The client has dropped the connection; the first `keep` messages on their way may still arrive.
  void abandon(std::size_t keep);
  std::size_t underway() const { return up_.size(); }
  void stall_up(Instant until) { up_stalled_ = until; }
  void stall_down(Instant until) { down_stalled_ = until; }
  bool stalled() const { return up_stalled_ > timeline_.now() || down_stalled_ > timeline_.now(); }
  // What is no ping comes to the server after this instant only.
  void hold_requests(Instant until);
  // The client can receive again.
  void poke();

  // --- the server's end ---
  void reply(Downstream message);
  // From now on nothing that came over this connection counts.
  void doom();
  bool doomed() const { return doomed_; }
  bool abandoned() const { return client_ == nullptr; }
  ServerEnd& server() { return server_; }
  // Passes a write on to the leader; ServerEnd::forwarded() is called when it is there.
  void forward(Upstream message, Span delay);

  coordination::SessionId session = 0;
  bool privileged = true;
  std::deque<Waiting> waiting;
  std::deque<Upstream> on_forward;

  void fire(std::uint32_t what, std::uint64_t detail) override;

 private:
  enum What : std::uint32_t { up_due, down_due, forward_due, held_due };
  Instant due(Instant& last);
  void drain_up();
  void drain_down();

  Timeline& timeline_;
  Random& random_;
  const WireOptions& wire_;
  ServerEnd& server_;
  ClientEnd* client_;
  bool doomed_ = false;
  std::deque<std::pair<Instant, Upstream>> up_;
  std::deque<std::pair<Instant, Downstream>> down_;
  Instant last_up_ = Timeline::start;
  Instant last_down_ = Timeline::start;
  Instant last_forward_ = Timeline::start;
  std::deque<Upstream> held_;
  Instant held_until_{};
  Instant up_stalled_{};
  Instant down_stalled_{};
};

}  // namespace forelock::model
