// Looks into a client's connection for a certain request, and does something about it or its reply.
#pragma once

#include "support/tcp_proxy.h"

namespace forelock::robustness {

// Understands as much of ZooKeeper's protocol as that needs; of TLS, how long what is sent must be. Passes on whole
// packets, or records, only. Thread-safe.
class FrameWatch {
 public:
  // In TLS all requests but pings look alike, and no session is to be seen.
  explicit FrameWatch(bool encrypted = false) : encrypted_(encrypted) {}

  enum class Request { claim, release, listing, creation, writing };
  enum class Deed {
    drop_reply,     // the request arrives, and the connection ends before the reply does
    delay_request,  // and whatever is sent behind it
    delay_reply,
    none
  };
  // For the next request of that kind; then it is used up.
  struct Trap {
    Request request = Request::claim;
    Deed deed = Deed::none;
    std::chrono::milliseconds delay{0};
    std::function<void()> sprung;  // on the proxy's thread, when the deed is done; must not call the watch
  };

  // As the inspector of several proxies, each with a number.
  test::TcpProxy::Verdict inspect(int proxy, int connection, test::TcpProxy::Direction direction, std::string& bytes);

  void set(Trap trap);
  void clear();
  // The session that was last established or resumed; 0 if none was.
  std::int64_t session() const;

 private:
  struct Stream {
    std::string unread;
    bool greeted = false;
  };
  using Connection = std::pair<int, int>;  // proxy and number
  using Streams = std::array<Stream, 2>;   // by direction

  // What stands first in the stream: how long its head is, and all of it; nothing if it has not come yet, or what this
  // is not.
  struct Extent {
    std::size_t head = 0;
    std::size_t size = 0;
    bool foreign = false;
  };
  std::optional<Extent> extent_of(std::string_view stream) const;
  void greet(test::TcpProxy::Direction direction, std::string_view frame);
  test::TcpProxy::Verdict look_at_record(const Connection& connection, test::TcpProxy::Direction direction,
                                         std::string_view record);
  test::TcpProxy::Verdict look(const Connection& connection, test::TcpProxy::Direction direction,
                               std::string_view frame);
  test::TcpProxy::Verdict spring();

  const bool encrypted_;
  mutable std::mutex mutex_;
  Streams& streams_of(const Connection& connection);

  std::map<Connection, Streams> streams_;
  std::optional<Trap> trap_;
  std::optional<std::pair<Connection, std::int32_t>> awaited_;  // of the request that was trapped, with its number
  std::int64_t session_ = 0;
};

}  // namespace forelock::robustness
