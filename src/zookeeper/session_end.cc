#include "zookeeper/session_end.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "zookeeper/zookeeper_session.h"

namespace forelock::zookeeper {
namespace {

using coordination::SessionEvent;
using Clock = std::chrono::steady_clock;

// What the session has left is this from now on.
constexpr std::chrono::milliseconds last_timeout{4000};

class EndListener final : public coordination::SessionListener {
 public:
  void on_reply(coordination::RequestTag /*tag*/, coordination::Reply /*reply*/) override {}
  void on_watch(const coordination::WatchEvent& /*event*/) override {}
  void on_session(const SessionEvent& event) override {
    if (event.kind == SessionEvent::Kind::disconnected) return;
    const std::lock_guard guard(mutex_);
    answer_ = event.kind;
    changed_.notify_all();
  }

  std::optional<SessionEvent::Kind> wait(Clock::time_point until) {
    std::unique_lock guard(mutex_);
    changed_.wait_until(guard, until, [this] { return answer_.has_value(); });
    return answer_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<SessionEvent::Kind> answer_;
};

}  // namespace

SessionEnd end_session(SessionOptions options, const SessionIdentity& session, std::chrono::milliseconds limit) {
  options.taken_over = session;
  options.make_chroot = false;
  options.session_timeout = std::min(options.session_timeout, last_timeout);
  options.log = nullptr;  // it would say that the session has expired
  const auto until = Clock::now() + limit;
  bool closed = false;
  do {
    EndListener listener;
    ZooKeeperSession connection(options, listener);
    connection.start();
    const auto answer = listener.wait(until);
    if (answer == SessionEvent::Kind::expired) return closed ? SessionEnd::ended : SessionEnd::was_over;
    if (answer != SessionEvent::Kind::connected) return SessionEnd::unknown;
    connection.close();
    closed = true;
  } while (Clock::now() < until);
  return SessionEnd::unknown;
}

}  // namespace forelock::zookeeper
