#include "robustness/check/describe.h"

#include <cinttypes>

namespace forelock::robustness {
namespace {

double milliseconds(Span span) {
  return std::chrono::duration<double, std::milli>(span).count();
}

}  // namespace

std::string text_of(Span span) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.3f ms", milliseconds(span));
  return text.data();
}

std::string text_of(const History& history, Instant time) {
  if (time == never) return "never";
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%+.6f s", milliseconds(time - history.begin) / 1000);
  return text.data();
}

std::string text_of(const History& history, const Place& place) {
  std::array<char, 32> number{};
  std::snprintf(number.data(), number.size(), "%010" PRId64, place.number);
  return history.prefixes[place.prefix] + "-" + number.data();
}

std::string text_of(const History& history, const Call& call) {
  std::string text = history.process_of(call).name + " call " + std::to_string(call.number) + " (" +
                     (call.priority == Priority::foreground ? "foreground" : "background") + ", " +
                     history.monitors[call.monitor];
  if (call.token != 0) text += ", token " + std::to_string(call.token);
  if (call.place) text += ", node " + text_of(history, *call.place);
  return text + ")";
}

std::string text_of(const History& history, const Access& access) {
  return history.processes[access.client].name + " call " + std::to_string(access.call) + " (" +
         history.monitors[access.monitor] + ", token " + std::to_string(access.token) + ") from " +
         text_of(history, access.begin) + " to " + text_of(history, access.end);
}

}  // namespace forelock::robustness
