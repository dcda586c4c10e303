// Forwards the whole outbox to Kafka while the caller waits: for the command.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "forelock/client.h"
#include "forelock/settings.h"

namespace forelock::forward {

struct ForwardProgress {
  std::uint64_t waiting = 0;      // letters in the outbox that are to be forwarded, refused ones included
  std::uint64_t delivered = 0;    // by this call
  std::uint64_t failures = 0;     // deliveries that failed or were refused
  std::uint64_t refused = 0;      // letters that Kafka refuses for good
  bool another_forwards = false;  // another process forwards this outbox, this one waits to take over
  std::string last_problem;       // empty: none so far
};

// When it ends.
enum class ForwardUntil {
  empty,   // when nothing waits, or only what Kafka refuses
  stopped  // never by itself: for letters that come later
};

// Works until then, or until it is stopped; `progress` is called about five times a second (every five seconds when it
// runs until it is stopped) and at the end. \returns the last progress. \throws ConfigurationException for Kafka
// invalid settings, Error(configuration) without `kafka.bootstrap.servers`, Error(outbox_unavailable).
ForwardProgress forward_all(const Settings& settings, LogSink log,
                            const std::function<void(const ForwardProgress&)>& progress, std::stop_token stop,
                            ForwardUntil until = ForwardUntil::empty);

}  // namespace forelock::forward
