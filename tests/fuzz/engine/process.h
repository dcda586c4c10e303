// One process: its engine, and its connection to the server with what travels on it.
#pragma once

#include "engine/caller.h"
#include "engine/server.h"

namespace forelock::fuzz {

class Process {
 public:
  Process(std::string name, const lock::EngineOptions& options, Caller::Judge& judge, Server& server);

  const Caller& caller() const { return caller_; }
  SessionId session() const { return session_; }
  bool idle() const { return inbox_.empty() && caller_.outbox.empty(); }

  void call(Bytes& bytes, TimePoint now) { caller_.call(bytes, now); }
  // The server takes the next request.
  void apply(TimePoint now, std::vector<Notice>& notices);
  // The server refuses the next request.
  void refuse(coordination::ReplyCode code);
  // The engine is handed the next thing that has arrived.
  void deliver(TimePoint now);
  void notify(const coordination::WatchEvent& event);
  void tick(TimePoint now) { caller_.engine().tick(now); }
  // The connection goes. Of the requests on their way some still get to the server, of what is on its way back some has
  // arrived.
  void cut(std::size_t applied, std::size_t arrived, TimePoint now, std::vector<Notice>& notices);
  // Connects again; or learns that the session has ended, and gets a new one when the engine has been told.
  void connect(TimePoint now);
  void give_up(TimePoint now) { caller_.give_up(now); }
  TimePoint next_timer() const { return caller_.engine().next_timer(); }

 private:
  struct Answer {
    coordination::RequestTag tag = 0;
    coordination::Reply reply;
  };
  using Event = std::variant<Answer, coordination::WatchEvent, coordination::SessionEvent>;

  void answer_all(coordination::ReplyCode code);
  void renew(TimePoint now);

  Server& server_;
  Caller caller_;
  SessionId session_ = 0;
  TimePoint opened_at_{};
  bool linked_ = false;
  bool expiry_told_ = false;  // it waits in the inbox
  std::deque<Event> inbox_;
  std::vector<coordination::WatchEvent> missed_;  // told after the reconnect
};

}  // namespace forelock::fuzz
