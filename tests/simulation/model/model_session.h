// The client's end: what the real client library does with one session, over the model's connections.
//
// Reconnects by itself and takes its watches along. Calls the listener from the timeline, never from inside submit().
#pragma once

#include "coordination/session.h"
#include "model/ensemble.h"

namespace forelock::model {

struct ClientOptions {
  std::chrono::milliseconds timeout{400};
  bool pings = false;      // keeps the session alive by itself
  bool privileged = true;  // may use the nodes of those who keep theirs to themselves
  bool closes = false;     // keeps its own nodes to itself
  int home = -1;           // the server that it goes to nearly always
  // Between the arrival of an answer and its handling by the listener.
  Span longest_handling = std::chrono::microseconds(300);
  Span shortest_retry = std::chrono::milliseconds(1);
  Span longest_retry = std::chrono::milliseconds(20);
};

class ModelSession final : public coordination::Session, public Actor, public ClientEnd {
 public:
  // Begins to connect. The ensemble and the listener outlive the session's last event.
  ModelSession(Ensemble& ensemble, coordination::SessionListener& listener, ClientOptions options);

  void submit(coordination::RequestTag tag, coordination::Request request) override;

  coordination::SessionId id() const { return id_; }
  bool connected() const { return state_ == State::connected; }
  bool ended() const { return state_ == State::expired || state_ == State::closed; }

  // Asks the server to end the session; `closed()` turns true when it has, or when there is no connection.
  void begin_close();
  bool closed() const { return state_ == State::closed; }
  // Answers everything outstanding, delivers what waits, and makes no further calls.
  void finish_close();

  // --- faults ---

  // Drops the connection. Of the messages on their way the first `keep` may still arrive.
  void cut(std::size_t keep);
  // No connection is made before this instant.
  void block_until(Instant until) { blocked_ = std::max(blocked_, until); }
  // The way is free again, blocks and stalls are over.
  void unblock();
  void prefer_server(int server) { preferred_ = server; }
  void stall(bool up, bool down, Instant until);
  // The server answers pings, and everything else only after this instant.
  void hold_requests(Instant until) {
    if (connection_ != nullptr) connection_->hold_requests(until);
  }
  // How the next submitted request is to fare.
  void set_fate(Fate fate) { fate_ = fate; }
  std::size_t underway() const { return connection_ == nullptr ? 0 : connection_->underway(); }
  // The process stands still until then: nothing is received or handled.
  void pause(Instant until);
  // The process is gone; its session runs out by itself.
  void crash(std::size_t keep);

  void fire(std::uint32_t what, std::uint64_t detail) override;
  bool ready_to_receive() const override { return !paused(); }
  void receive(Connection& connection, Downstream message) override;

 private:
  enum class State { connecting, connected, expired, closed };
  enum What : std::uint32_t { deliver, attempt, attempt_over, silence, ping, resume };
  enum class Asked { nothing, data_watch, absent_watch, child_watch, no_data_watch };

  struct Pending {
    coordination::RequestTag tag = 0;
    std::uint64_t number = 0;
    Asked asked = Asked::nothing;
    std::string path;
  };
  struct Answer {
    coordination::RequestTag tag = 0;
    coordination::Reply reply;
  };
  using Event = std::variant<Answer, coordination::WatchEvent, coordination::SessionEvent>;

  bool paused() const { return paused_until_ > timeline_.now(); }
  void wake();
  void connect();
  void retry();
  void lose_connection(std::size_t keep);
  void on_connected(coordination::SessionId session);
  void on_reply(Downstream message);
  void on_watch(coordination::WatchEvent event);
  void answer(coordination::RequestTag tag, coordination::ReplyCode code);
  void answer_all(coordination::ReplyCode code);
  void tell(coordination::SessionEvent::Kind kind);
  void push(Event event);
  void deliver_one();

  Ensemble& ensemble_;
  Timeline& timeline_;
  Random& random_;
  coordination::SessionListener* listener_;
  ClientOptions options_;
  State state_ = State::connecting;
  Connection* connection_ = nullptr;
  coordination::SessionId id_ = 0;
  std::uint64_t next_number_ = 1;
  std::uint64_t attempts_ = 0;
  std::int64_t seen_zxid_ = 0;
  const Instant asked_at_;
  Instant heard_{};
  Instant blocked_{};
  int preferred_ = -1;
  Instant paused_until_{};
  bool silence_watched_ = false;
  Fate fate_;
  std::deque<Pending> pending_;
  std::set<std::string> data_watches_;
  std::set<std::string> absent_watches_;
  std::set<std::string> child_watches_;
  std::deque<Event> inbox_;
  std::size_t held_ = 0;  // deliveries that fell due while paused
  Instant last_delivery_ = Timeline::start;
};

}  // namespace forelock::model
