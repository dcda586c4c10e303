#include "zookeeper/server_session.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "zookeeper/zookeeper_session.h"

namespace forelock::zookeeper {

using coordination::Reply;
using coordination::ReplyCode;
using coordination::RequestTag;
using coordination::SessionEvent;

class ServerSession::Listener final : public coordination::SessionListener {
 public:
  explicit Listener(SessionOptions options) : session_(std::move(options), *this) { session_.start(); }

  void on_reply(RequestTag tag, Reply reply) override {
    const std::lock_guard guard(mutex_);
    replies_[tag] = std::move(reply);
    changed_.notify_all();
  }
  void on_watch(const coordination::WatchEvent& /*event*/) override {}
  void on_session(const SessionEvent& event) override {
    const std::lock_guard guard(mutex_);
    event_ = event.kind;
    changed_.notify_all();
  }

  bool wait_connected(std::chrono::milliseconds timeout) {
    std::unique_lock guard(mutex_);
    const auto decided = [this] { return event_ && *event_ != SessionEvent::Kind::disconnected; };
    return changed_.wait_for(guard, timeout, decided) && *event_ == SessionEvent::Kind::connected;
  }

  std::optional<SessionProblem> last_problem() const { return session_.last_problem(); }

  Reply ask(coordination::Request request, std::chrono::milliseconds timeout) {
    const RequestTag tag = next_++;
    session_.submit(tag, std::move(request));
    std::unique_lock guard(mutex_);
    if (changed_.wait_for(guard, timeout, [&] { return replies_.contains(tag); })) return std::move(replies_[tag]);
    Reply none;
    none.code = ReplyCode::connection_loss;
    return none;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<SessionEvent::Kind> event_;  // the last one
  std::map<RequestTag, Reply> replies_;
  RequestTag next_ = 1;
  ZooKeeperSession session_;  // the last member: it calls the others until it has ended
};

ServerSession::ServerSession(SessionOptions options) : listener_(std::make_unique<Listener>(std::move(options))) {}

ServerSession::~ServerSession() = default;

bool ServerSession::wait_connected(std::chrono::milliseconds timeout) {
  return listener_->wait_connected(timeout);
}

std::optional<SessionProblem> ServerSession::last_problem() const {
  return listener_->last_problem();
}

Reply ServerSession::ask(coordination::Request request, std::chrono::milliseconds timeout) {
  return listener_->ask(std::move(request), timeout);
}

}  // namespace forelock::zookeeper
