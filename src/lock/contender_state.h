// The states of a contender, and the only moves between them.
#pragma once

#include <string_view>

namespace forelock::lock {

// clang-format off
//   state       meaning                                            left by
//   ----------  -------------------------------------------------  --------------------------------------------------
//   idle        accepted, nothing sent: no connection, or the      claim sent -> claiming; create sent -> enqueueing;
//               monitor is being resolved                          deadline, cancel -> gone
//   enqueueing  create of the own node sent                        created -> waiting; reply lost -> resolving;
//                                                                  monitor missing -> idle; deadline, cancel -> leaving
//   waiting     own node in the line                               first and lock free -> claiming; handed over by a
//                                                                  holder of this process -> claiming; node removed by
//                                                                  another client -> idle; deadline, cancel -> leaving
//   claiming    privateLock being taken, or taken and rank not     proved -> held; lock taken -> waiting (or idle, if
//               yet proved                                         there is no own node); a contender ranks before ->
//                                                                  yielding; reply lost -> resolving; deadline, cancel
//                                                                  -> leaving
//   yielding    privateLock being given back, place kept           done -> waiting; reply lost -> resolving
//   held        granted                                            release -> releasing; step_aside -> yielding;
//                                                                  session deadline, removed -> leaving
//   releasing   own node and privateLock being deleted, or         done -> gone; reply lost -> still releasing,
//               handed over                                        resolved after the reconnect
//   resolving   the outcome of a lost reply is being found out     found -> waiting, claiming or held; else -> idle
//   leaving     the caller has its answer (refused or lost); what  certain -> gone
//               may be left on the server is being removed
//   gone        forgotten
//
// From every state, the session's end leads to gone.
// clang-format on
enum class ContenderState { idle, enqueueing, waiting, claiming, yielding, held, releasing, resolving, leaving };

constexpr std::string_view name_of(ContenderState state) {
  switch (state) {
    case ContenderState::idle:
      return "idle";
    case ContenderState::enqueueing:
      return "enqueueing";
    case ContenderState::waiting:
      return "waiting";
    case ContenderState::claiming:
      return "claiming";
    case ContenderState::yielding:
      return "yielding";
    case ContenderState::held:
      return "held";
    case ContenderState::releasing:
      return "releasing";
    case ContenderState::resolving:
      return "resolving";
    case ContenderState::leaving:
      return "leaving";
  }
  return "?";
}

}  // namespace forelock::lock
