/// \file
/// One ZooKeeper session, shared by all locks of a process.
#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "forelock/export.h"
#include "forelock/settings.h"
#include "forelock/tracing.h"

namespace forelock {

namespace client {
class ClientCore;
}

/// A line for the host application's log. `level`: "error", "warning" or "info", and "debug" if that is asked for
/// (LogDetail). Called on a thread of its own, one line at a time. A sink that blocks delays later lines (1,000 wait;
/// more are dropped, and counted in the next line) and the end of close(), and nothing else.
using LogSink = std::function<void(std::string_view level, std::string_view message)>;

/// How much a client logs.
enum class LogDetail {
  normal,  ///< problems, and other news for an operator
  debug  ///< besides, at level "debug", the course of each lock: why it waits, by which proof it is granted, why it is
         ///< lost; never the contents of a record, an operation or a letter, nor credentials
};

/// Durations, counted by size.
struct DurationHistogram {
  /// The buckets' upper bounds; one more bucket has all that is longer.
  static constexpr std::array<std::chrono::milliseconds, 18> bounds = {
      std::chrono::milliseconds(1),   std::chrono::milliseconds(2),   std::chrono::milliseconds(5),
      std::chrono::milliseconds(10),  std::chrono::milliseconds(20),  std::chrono::milliseconds(50),
      std::chrono::milliseconds(100), std::chrono::milliseconds(200), std::chrono::milliseconds(500),
      std::chrono::seconds(1),        std::chrono::seconds(2),        std::chrono::seconds(5),
      std::chrono::seconds(10),       std::chrono::seconds(30),       std::chrono::minutes(1),
      std::chrono::minutes(5),        std::chrono::minutes(15),       std::chrono::hours(1)};

  std::array<std::uint64_t, bounds.size() + 1> counts = {};  ///< of each bucket alone, not cumulative
  std::chrono::nanoseconds sum{0};                           ///< of all
};

/// How long the locks of one class were waited for and held; each member of a lock set counts.
struct ClassTimes {
  DurationHistogram wait;  ///< of acquisitions that were granted, from their begin
  DurationHistogram hold;  ///< of locks that callers held, until their release was called or they were lost
};

/// Counts since the client was made, for metrics and tests. A snapshot.
struct ClientStatistics {
  std::uint64_t granted = 0;      ///< locks granted by the servers
  std::uint64_t taken_again = 0;  ///< acquisitions of a lock that lingered: without a request
  std::uint64_t refused = 0;      ///< acquisitions that ended without a grant
  std::uint64_t lost = 0;         ///< held locks that were lost
  /// Of these, by reason: in the order of LossReason, which counts from 1.
  std::array<std::uint64_t, 4> lost_by_reason = {};
  std::uint64_t released = 0;           ///< releases confirmed
  std::uint64_t requests = 0;           ///< requests sent to ZooKeeper
  std::uint64_t sessions_expired = 0;   ///< sessions that the server ended
  std::uint64_t disconnections = 0;     ///< connections lost
  std::uint64_t contenders = 0;         ///< contenders not yet certainly gone from the server
  std::uint64_t lingering = 0;          ///< of these, locks that linger: no caller holds them
  std::uint64_t retries = 0;            ///< of operations: attempts after the first
  std::uint64_t retries_exhausted = 0;  ///< operations whose last retry has failed
  ClassTimes foreground;                ///< how long locks of that class were waited for and held
  ClassTimes background;                ///< the same
};

/// Owns the session, its threads and its reconnects. Make one for a process and share it: every lock needs one, and
/// must not outlive it. Thread-safe.
///
/// Connecting happens in the background: the constructor returns at once, and locks wait for the connection within
/// their own time-outs. After a disconnection the client tries again `zookeeper.connection.retry` times, every
/// `zookeeper.connection.delay`; then waiting calls end with ConnectionLossException, later calls fail at once, and the
/// client keeps trying. Where both are zero, the first connection still has a second. An expired
/// session is replaced by a new one for later calls.
///
/// Heartbeats and deadlines do not depend on code of the host application: callbacks (one thread for those of all
/// locks), stop callbacks (another one) and the log sink (a third) may take long without costing a lock. They delay one
/// another. A call that takes longer than an eighth of the session time-out is named in the log while it runs.
///
/// After fork() the child cannot use it: every call throws RequestRejectedException(forked); the parent is unaffected.
class FORELOCK_EXPORT Client {
 public:
  /// \throws ConfigurationException if a setting is invalid, such as a credentials file that others can read;
  /// RequestRejectedException(overloaded) if a limit of the host does not permit its threads.
  /// \param tracer receives a span for each acquisition and each hold; null: they go to the file of
  /// `zookeeper.trace.file`; without that there are none, and they cost nothing.
  explicit Client(Settings settings, LogSink log = {}, LogDetail detail = LogDetail::normal,
                  std::shared_ptr<Tracer> tracer = {});
  /// As close(). In a callback the session ends a little later, on a thread of its own, when the callback has returned.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// The settings in force.
  const Settings& settings() const noexcept;

  /// Waits until a server has accepted the session. \returns whether it has, within the timeout.
  /// \throws RequestRejectedException(closed, forked).
  bool wait_connected(std::chrono::milliseconds timeout);
  /// Whether a server is connected now.
  bool connected() const noexcept;
  /// The session's id, 0 before the first connection.
  std::int64_t session_id() const noexcept;
  /// The session time-out that the server has granted, which may differ from the one that was asked for; 0 before the
  /// first connection.
  std::chrono::milliseconds session_timeout() const noexcept;
  /// The reason of the last failed attempt to connect, for people; empty if none failed.
  std::string last_problem() const;

  /// The instance identity `host/pid` that owner records begin with.
  const std::string& instance() const noexcept;

  /// The counts since the client was made.
  ClientStatistics statistics() const;

  /// Ends the session: waiting calls end with RequestRejectedException(closed), held locks are lost, and the server
  /// frees them, with all that is under way, before this returns; a server that is silent frees them when the session
  /// times out; this waits for it about 2.5 s. Returns when no callback runs any more; idempotent. \throws
  /// RequestRejectedException(invalid_argument) in a callback, a stop callback or the log sink, whose end it would wait
  /// for; nothing has changed then.
  void close();

  /// Internal.
  template <std::same_as<std::shared_ptr<client::ClientCore>> Core>
  explicit Client(Core core) noexcept : core_(std::move(core)) {}
  /// Internal.
  const std::shared_ptr<client::ClientCore>& core() const noexcept { return core_; }

 private:
  std::shared_ptr<client::ClientCore> core_;
};

}  // namespace forelock
