// A NameService resolves brokers' names on threads that no other thread waits for: librdkafka waits for a look-up at
// the end of a client, and a silent name server would delay the caller that ends it.
#pragma once

#include <netdb.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace forelock::kafka {

// Thread-safe. There is at most one look-up of each name at a time; one that is under way at the end of this object
// continues without it.
class NameService {
 public:
  // As getaddrinfo(3).
  using LookUp = std::function<int(const char* node, const char* service, const addrinfo* hints, addrinfo** found)>;

  // What comes later is there for the next one who asks, librdkafka's next attempt to connect.
  static constexpr std::chrono::milliseconds patience{250};

  explicit NameService(LookUp look_up);
  ~NameService();
  NameService(const NameService&) = delete;
  NameService& operator=(const NameService&) = delete;

  // As getaddrinfo(3); EAI_AGAIN when there was no answer within `patience`. Threads inherit the caller's signal mask,
  // in which librdkafka blocks everything.
  int resolve(const char* node, const char* service, const addrinfo* hints, addrinfo** found);

  // The system's, for all clients of the process; never destroyed.
  static NameService& of_system();

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

// For rd_kafka_conf_set_resolve_cb: the system's NameService; without a node, and service, and hints it frees `found`.
int resolve_broker(const char* node, const char* service, const addrinfo* hints, addrinfo** found, void* opaque);

}  // namespace forelock::kafka
