// Parts of a history as people read them.
#pragma once

#include "robustness/check/history.h"

namespace forelock::robustness {

// Seconds since the history's first event: "+12.345678 s".
std::string text_of(const History& history, Instant time);
// With its process, monitor, class, token and node.
std::string text_of(const History& history, const Call& call);
std::string text_of(const History& history, const Place& place);
std::string text_of(const History& history, const Access& access);
// Milliseconds: "12.345 ms".
std::string text_of(Span span);

}  // namespace forelock::robustness
