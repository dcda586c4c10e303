// The command-line options of the demonstration.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace forelock::demo {

struct Options {
  std::string config;                             // a properties or YAML file; empty for the defaults
  std::string zookeeper;                          // overrides zookeeper.servers; from $FORELOCK_ZOOKEEPER if not given
  std::size_t articles = 4;                       // how many monitors
  std::size_t sessions = 3;                       // clients, each with a session of its own, as if on as many machines
  std::size_t workers = 24;                       // bulk threads, spread over the sessions
  double saves = 40;                              // interactive saves that come in each second, at random moments
  std::chrono::milliseconds bulk_work{20};        // how long a bulk worker holds an article
  std::chrono::milliseconds interactive_work{5};  // how long a save does
  std::chrono::seconds duration{10};              // of each of the two phases
  bool plain = false;                             // lines instead of a redrawn screen
  bool help = false;
};

// Throws std::invalid_argument, with a message for people, for what it does not understand.
Options parse_options(const std::vector<std::string>& arguments);

// The text for --help.
std::string usage();

}  // namespace forelock::demo
