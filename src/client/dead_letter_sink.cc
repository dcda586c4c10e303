#include "forelock/dead_letter_sink.h"

namespace forelock {

DeadLetterSink::~DeadLetterSink() = default;

}  // namespace forelock
