#pragma once

namespace forelock::robustness {

// From now on a crash of this process writes its signal and the stack of the thread to stderr before it ends the
// process as ever: the runner shows both. Call it once, before there are threads.
void report_crashes();

}  // namespace forelock::robustness
