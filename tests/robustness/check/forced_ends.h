// Locks that were taken from their holders by force, and when: an administrator deleted the node, or the server was
// told to end the session. A holder learns of that a round trip later.
#pragma once

#include "robustness/check/history.h"

namespace forelock::robustness {

// A fault counts for the lock that it hit and for no other one: the very session, or the very node (names come again
// when a monitor is made anew; the servers' log tells whose node a stranger has deleted).
class ForcedEnds {
 public:
  explicit ForcedEnds(const History& history);

  // When the grant with this token had begun to be taken away by that time; `never` if it had not. Then the time
  // follows in which the holder must have noticed: it hears of it, or its own time is up. 0 is nobody's token.
  Interval blind(const Process& holder, std::uint32_t monitor, std::int64_t token, Instant by) const;

 private:
  struct Grant {
    std::uint64_t guid = 0;
    std::int64_t session = 0;
  };
  using Node = std::tuple<std::uint32_t, std::uint32_t, std::int64_t>;  // monitor, prefix, number

  static Node node_of(std::uint32_t monitor, const Place& place) { return {monitor, place.prefix, place.number}; }
  void replay(const std::vector<LoggedChange>& log);
  Instant begin(const Grant& grant, Instant by) const;

  std::map<std::pair<std::uint32_t, std::int64_t>, Grant> grants_;  // by monitor and token
  std::unordered_map<std::uint64_t, Node> robbed_;                  // by guid
  std::map<Node, std::vector<Instant>> deletions_;                  // sorted
  std::map<std::int64_t, Instant> ended_;                           // by session
};

}  // namespace forelock::robustness
