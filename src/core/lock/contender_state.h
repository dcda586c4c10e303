// The states of a contender, and the transitions between them.
#pragma once

#include <string_view>

namespace forelock::lock {

// clang-format off
//   state       meaning                                            left by
//   ----------  -------------------------------------------------  --------------------------------------------------
//   idle        accepted, nothing sent: no connection, or the      claim sent -> claiming; create sent -> enqueueing;
//               monitor is being resolved                          its lock found without its node -> resolving
//   enqueueing  create of the own node sent                        created -> waiting; reply lost -> resolving;
//                                                                  monitor missing, or its counter at its end -> idle
//   waiting     own node in the queue                              first and lock free, or handed over by a holder of
//                                                                  this process -> claiming; its rank is to change ->
//                                                                  moving; node removed by another client -> idle; its
//                                                                  lock found without its node -> resolving
//   moving      the own node is being replaced by one of another   done, or refused -> waiting; node removed by another
//               rank                                               client -> idle; reply lost -> resolving
//   claiming    privateLock being taken, or taken and rank not     proved -> held; lock taken -> waiting, or enqueueing
//               yet proved                                         if there is no own node; monitor missing, or its
//                                                                  counter at its end -> idle; a contender ranks before
//                                                                  -> yielding; reply lost -> resolving
//   yielding    privateLock being given back, place kept           done -> waiting; found to be gone -> waiting, idle;
//                                                                  found without its node -> resolving
//   held        granted                                            release -> releasing; step_aside -> yielding
//   releasing   own node and privateLock being deleted, or         done -> gone; reply lost -> still releasing,
//               handed over                                        resolved
//   resolving   the outcome of a lost reply is being found out     found -> waiting or claiming; not found -> idle
//   leaving     the caller has its answer (refused or lost); what  certain -> gone
//               may be left on the server is being removed
//   gone        forgotten
//
// A deadline or cancel leads from every state but held and releasing to leaving, or to gone where nothing can be left;
// so do, from held, the session's deadline and a removal of the lock. From every state the session's end leads to gone.
//
// A contender that is leaving is one that is abandoned: it stays in its state until the request of that state is
// answered, since the reply means the same, and is waiting until its node has been removed.
// clang-format on
enum class ContenderState {
  idle,
  enqueueing,
  waiting,
  moving,
  claiming,
  yielding,
  held,
  releasing,
  resolving,
  leaving
};

// Whether the table knows this move, of a contender that is abandoned or not.
constexpr bool may_move(ContenderState from, ContenderState to, bool abandoned) {
  using State = ContenderState;
  // Asked or found again: a claim that was answered, a yield that begins anew, a refused claim whose node is removed.
  if (from == to)
    return from == State::waiting || from == State::claiming || from == State::yielding || from == State::resolving;
  // Wherever it was: its node is found to be there, or the lock without it.
  if (abandoned && (to == State::waiting || to == State::resolving)) return true;
  switch (from) {
    case State::idle:
      return to == State::claiming || to == State::enqueueing || to == State::resolving;
    case State::enqueueing:
      return to == State::waiting || to == State::resolving || to == State::idle;
    case State::waiting:
      return to == State::claiming || to == State::moving || to == State::idle || to == State::resolving;
    case State::moving:
      return to == State::waiting || to == State::idle || to == State::resolving;
    case State::claiming:
      return to == State::held || to == State::waiting || to == State::enqueueing || to == State::idle ||
             to == State::yielding || to == State::resolving;
    case State::yielding:
      return to == State::waiting || to == State::idle || to == State::resolving;
    case State::held:
      return to == State::releasing || to == State::yielding;
    case State::resolving:
      return to == State::waiting || to == State::claiming || to == State::idle;
    case State::releasing:
    case State::leaving:
      return false;
  }
  return false;
}

constexpr std::string_view name_of(ContenderState state) {
  switch (state) {
    case ContenderState::idle:
      return "idle";
    case ContenderState::enqueueing:
      return "enqueueing";
    case ContenderState::waiting:
      return "waiting";
    case ContenderState::moving:
      return "moving";
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
