// The options of a run.
#pragma once

#include "support/standard.h"

namespace forelock::robustness {

struct RunOptions {
  std::uint64_t seed = 1;
  std::chrono::seconds seconds{60};
  std::filesystem::path directory;  // of the history; made if it does not exist
  std::set<std::string> faults;     // these kinds alone; empty: all
  bool no_faults = false;
  bool tls = false;                         // between clients and servers, and among the servers
  bool sasl = false;                        // clients of the library authenticate by it
  double rate = 1;                          // of faults: 2 is twice as often
  std::set<std::string> spared;             // slots of clients that are never killed
  std::chrono::seconds sample_interval{5};  // how often it is looked at what everybody uses
  std::string mutation;  // a deliberate bug that the clients of the library have, see src/core/lock/mutation.h

  // Throws std::runtime_error; the text is for people.
  static RunOptions parse(int count, char** arguments);
};

}  // namespace forelock::robustness
