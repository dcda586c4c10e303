// A ZooKeeper session over the C client (Debian: libzookeeper_mt).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "coordination/session.h"
#include "zookeeper/session_options.h"

namespace forelock::zookeeper {

class SessionCore;

// Why the session cannot be used although a server answers.
struct SessionProblem {
  coordination::ReplyCode code = coordination::ReplyCode::ok;
  std::string message;  // what, where, what to do
};

// How many bytes of paths a session may watch, each counted with 4 more: the C client registers all of them again after
// a reconnect. Debian's does so in one request, and a server ends the connection over one of more than 1 MiB
// (jute.maxbuffer), again and again; the one of third_party/zookeeper does so in parts.
std::size_t most_watched_bytes();

enum class RefreshResult {
  unchanged,
  deferred,  // new addresses are used as soon as an attempt to connect to the old ones fails
  failed     // no server's name can be looked up now; the old addresses stay
};

// One session, from the first connection to its end. Thread-safe, except that start() comes first.
//
// Calls of the listener come from the C client's completion thread, or from a thread of the session's own for requests
// that fail before they are sent: one at a time, in the server's order, never from inside submit() (two exceptions
// there). On a lost connection all pending requests are answered before `disconnected` is reported. Pending requests of
// an expired session are answered session_expired.
//
// Not guaranteed: that a request answered with connection_loss has had its effect yet when the session is connected
// again, unless a later request of this session was answered; that a watch asked for by such a request is absent.
class ZooKeeperSession final : public coordination::Session {
 public:
  // The listener must outlive the session. Throws ConnectStringError.
  ZooKeeperSession(SessionOptions options, coordination::SessionListener& listener);
  // Closes.
  ~ZooKeeperSession() override;
  ZooKeeperSession(const ZooKeeperSession&) = delete;
  ZooKeeperSession& operator=(const ZooKeeperSession&) = delete;

  // Begins to connect, and continues until the session ends. Waits for the servers' names first, about two seconds at
  // most, and no longer than it takes to know one address. Throws NoServerAddress when none has an address (the call
  // may be repeated), and std::system_error when the client cannot be made.
  void start();

  // Ends the session: its ephemeral nodes go at once, also those of requests that are under way. Every pending request
  // is answered before this returns, and no call of the listener begins afterwards. Blocks until the server has
  // answered what was sent and acknowledged the end, at most 2.5 seconds once it is silent (5.5 when it does not even
  // take the bytes). Not to be called from inside a listener's call. Harmless when
  // repeated. In a forked child it only forgets: the parent's session continues.
  void close();

  // See coordination::Session. May be called from inside a listener's call. After close() has returned, and in a forked
  // child (session_expired), the reply comes from inside submit().
  void submit(coordination::RequestTag tag, coordination::Request request) override;

  // Resolves the names again, waiting for half a second at most; what takes longer counts the next time. For a
  // background thread of the owner, from time to time and while the session is disconnected. The C client does not
  // notice when only ports change.
  RefreshResult refresh_servers();

  // Of the session that was last reported as connected.
  std::optional<SessionIdentity> identity() const;

  // Set while the session is not reported as connected because the chroot cannot be created, which is tried again every
  // second, or because TLS to a server has failed since the last connection.
  std::optional<SessionProblem> last_problem() const;

 private:
  std::unique_ptr<SessionCore> core_;
};

}  // namespace forelock::zookeeper
