// Listens to one client through a proxy: which requests, and how many round trips.
#pragma once

#include "support/tcp_proxy.h"

namespace forelock::test {

// For a proxy with a single client, attached before the client connects. Pings and the handshake do not count.
// Thread-safe.
class WireTap {
 public:
  explicit WireTap(TcpProxy& proxy);
  ~WireTap();
  WireTap(const WireTap&) = delete;
  WireTap& operator=(const WireTap&) = delete;

  struct Traffic {
    std::size_t requests = 0;
    // Times at which a request was sent after a reply had come (or as the first one): requests that are sent without
    // waiting for each other are one round trip.
    std::size_t round_trips = 0;
    std::string
        trace;  // ZooKeeper's operation codes; ">" before what is sent, "<" before what is answered, "!" watch event
  };
  // What has passed since the last call. Waits until as many requests as `sent` says have passed since the beginning,
  // and have their replies.
  Traffic take(const std::function<std::size_t()>& sent);

 private:
  void pass(TcpProxy::Direction direction, const std::string& bytes);
  void request(const std::string& packet);
  void reply(const std::string& packet);

  TcpProxy& proxy_;
  std::mutex mutex_;
  std::string to_server_;
  std::string to_client_;
  bool greeted_ = false;
  bool answered_ = false;
  std::map<std::int32_t, std::int32_t> open_;  // operation codes by request number
  bool reply_since_request_ = true;
  std::size_t total_ = 0;
  Traffic traffic_;
};

std::ostream& operator<<(std::ostream& out, const WireTap::Traffic& traffic);

}  // namespace forelock::test
