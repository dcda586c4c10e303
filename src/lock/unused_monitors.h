// UnusedMonitors says which monitors' nodes are to be removed, and when (docs/protocol.md, "Monitors that leave nothing
// behind").
//
// A monitor is looked at when it has lingered; if it was used meanwhile it lingers anew, so that using it costs nothing
// here. One request at a time removes what is due by then.
//
// Pure: it knows neither the monitors nor the session. Not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lock/engine_types.h"

namespace forelock::lock {

class UnusedMonitors {
 public:
  // Zero: nothing is ever removed.
  explicit UnusedMonitors(Duration linger);

  bool enabled() const { return linger_ > Duration(); }

  // To be looked at when it has lingered. Not to be called again for a monitor before lingered() has named it.
  void let_linger(std::uint64_t ordinal, TimePoint now);
  // Those that have lingered: none before some more may have, so that requests are few.
  std::vector<std::uint64_t> lingered(TimePoint now);
  // Its node is to be removed with the next request.
  void remove(std::string monitor);

  // The monitors of the request that may be sent now; none if there is nothing to send. Those in use are left out.
  std::vector<std::string> take(TimePoint now, const std::function<bool(const std::string&)>& in_use);
  // The answer to that request: all are gone, or this one could not be removed, and none was.
  void removed() { under_way_.clear(); }
  void refused(std::optional<std::size_t> kept);
  // The answer was lost.
  void unknown() { ask_again(); }

  // Those of a last request, without regard to others under way: there will be no answer.
  std::vector<std::string> take_last(std::size_t most);

  // The next instant at which there is something to do, given a connection; `never` if there is none.
  TimePoint next_timer() const;

 private:
  struct Lingering {
    TimePoint until{};
    std::uint64_t ordinal = 0;
  };

  void ask_again();

  const Duration linger_;
  const Duration round_;             // between two looks, and between two requests
  std::deque<Lingering> lingering_;  // in the order of their instants
  std::deque<std::string> unused_;
  std::vector<std::string> under_way_;
  TimePoint not_before_{};  // unless a request would be full
};

}  // namespace forelock::lock
