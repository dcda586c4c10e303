// A session over a tree in memory: requests wait until the test has them answered, in their order.
#pragma once

#include "client/client_core.h"
#include "client/clock.h"
#include "coordination/session.h"
#include "model/tree.h"

namespace forelock::client {

// Sets no watches and tells of no events but those that a test asks for.
class TreeSession final : public coordination::Session {
 public:
  static constexpr coordination::SessionId id = 7;

  explicit TreeSession(ClientCore& core) : core_(core), ensemble_(core.ensemble()) {}
  // The core sends its last requests here when it is closed.
  ~TreeSession() override { core_.close(); }
  TreeSession(const TreeSession&) = delete;
  TreeSession& operator=(const TreeSession&) = delete;

  // The core uses this session from now on, and is connected.
  void connect(std::chrono::milliseconds timeout, coordination::SessionId session = id) {
    ensemble_.use_session(this);
    reconnect(timeout, session);
  }

  // A server accepts the session, again if it had been connected before.
  void reconnect(std::chrono::milliseconds timeout, coordination::SessionId session = id) {
    coordination::SessionEvent event;
    event.kind = coordination::SessionEvent::Kind::connected;
    event.session = session;
    event.timeout = timeout;
    event.asked_at = now();
    ensemble_.on_session(event);
  }

  void submit(coordination::RequestTag tag, coordination::Request request) override {
    const std::lock_guard guard(mutex_);
    waiting_.emplace_back(tag, std::move(request));
  }

  std::size_t waiting() {
    const std::lock_guard guard(mutex_);
    return waiting_.size();
  }

  // What the server would answer now.
  coordination::Reply read(const coordination::Request& request) const { return tree_.read(request, true); }

  // What another client has the server do at once.
  coordination::Reply write(const coordination::Request& request) { return write(request, id + 1); }

  // Answers what waits, and what is sent because of the answers.
  void answer_all() {
    while (answer_one()) continue;
  }

  bool answer_one() {
    const auto next = take();
    if (!next) return false;
    ensemble_.on_reply(next->first, answer_to(next->second), true);
    return true;
  }

  // What waits is lost with the connection, and so it is not done.
  void disconnect() {
    ensemble_.on_session({.kind = coordination::SessionEvent::Kind::disconnected});
    coordination::Reply lost;
    lost.code = coordination::ReplyCode::connection_loss;
    while (const auto next = take()) ensemble_.on_reply(next->first, lost, true);
  }

 private:
  using Waiting = std::pair<coordination::RequestTag, coordination::Request>;

  std::optional<Waiting> take() {
    const std::lock_guard guard(mutex_);
    if (waiting_.empty()) return std::nullopt;
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    return next;
  }

  coordination::Reply answer_to(const coordination::Request& request) {
    if (std::holds_alternative<coordination::Get>(request) || std::holds_alternative<coordination::Exists>(request) ||
        std::holds_alternative<coordination::List>(request)) {
      return tree_.read(request, true);
    }
    if (std::holds_alternative<coordination::Sync>(request) ||
        std::holds_alternative<coordination::RemoveDataWatch>(request))
      return {};
    return write(request, id);
  }

  coordination::Reply write(const coordination::Request& request, coordination::SessionId session) {
    coordination::Reply reply;
    model::Writer writer;
    writer.session = session;
    writer.zxid = ++zxid_;
    std::vector<model::Change> changes;
    reply.code = tree_.write(request, writer, reply, changes);
    return reply;
  }

  ClientCore& core_;
  EnsembleLink& ensemble_;
  std::mutex mutex_;
  std::deque<Waiting> waiting_;
  model::TreeRules rules_;
  model::Tree tree_{rules_};
  std::int64_t zxid_ = 0;
};

}  // namespace forelock::client
