// The floor for a replay: the same promise with nothing but librdkafka.
#pragma once

#include <string>

namespace forelock::bench {

struct RawReplay {
  std::string bootstrap;
  std::string topic;
  std::string resolved;  // where it is written what is done with
  int partitions = 1;
  int letters = 0;
  int threads = 1;
};

// Consumes the topic from its beginning. For each letter, one of `threads` writes that a try begins, and then that the
// letter is done with, and waits until each is confirmed; in the end the positions are committed. Nothing is parsed or
// looked up, and no lock is taken.
void run(const RawReplay& replay);

}  // namespace forelock::bench
