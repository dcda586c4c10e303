// Any bytes as a record of the resolved topic: passed over, or read into a state that can be written and read again
// without a change.
#include "drain/resolution_state.h"

#include "check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using forelock::drain::ResolutionState;
  using forelock::fuzz::demand;
  // Right up to its end: reading on would be noticed.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = forelock::drain::parse_resolution(text);
  if (!parsed) return 0;
  const ResolutionState& state = parsed->state;
  const bool counts = state.kind == ResolutionState::Kind::open || state.kind == ResolutionState::Kind::parked;
  demand(counts || state.tries == 0, "what has ended is not being tried");
  demand(!parsed->put_back || !state.has_left_queue(), "only what stands in the queue was put back there");
  const std::string written = forelock::drain::to_text(state, parsed->put_back);
  demand(written.size() <= text.size(), "the shortest text");
  const auto again = forelock::drain::parse_resolution(written);
  demand(again && again->state == state && again->put_back == parsed->put_back, "the same state");
  return 0;
}
