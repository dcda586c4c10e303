// An AnswerWatch tracks whether a session still gets answers, over all of its connections.
//
// Servers count a reconnecting client as alive, even if it is disconnected before any of its requests is answered: such
// a session never ends, and its nodes block all others.
#pragma once

#include "lock/engine_types.h"

namespace forelock::client {

// Not thread-safe.
class AnswerWatch {
 public:
  // So many connections without an answer are no accident.
  static constexpr int max_fruitless = 3;

  // A new session.
  void opened(lock::TimePoint time) { answered(time); }
  // A server has answered a request.
  void answered(lock::TimePoint time) {
    last_answer_ = time;
    fruitless_ = 0;
  }
  // A connection has ended.
  void disconnected() { ++fruitless_; }

  // Whether there has been no answer for so long.
  bool is_silent(lock::TimePoint time, lock::Duration silence) const { return time - last_answer_ > silence; }

  // Whether the session connects again and again and has had no answer for so long.
  bool is_useless(lock::TimePoint time, lock::Duration silence) const {
    return fruitless_ >= max_fruitless && is_silent(time, silence);
  }

 private:
  lock::TimePoint last_answer_{};
  int fruitless_ = 0;  // connections since the last answer
};

}  // namespace forelock::client
