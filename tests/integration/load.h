// Traffic: lock, visit the resource, unlock, again and again, whatever happens meanwhile.
#pragma once

#include "forelock/forelock.h"
#include "support/standard.h"

namespace forelock::test {

struct LoadOptions {
  std::string monitor = "P1";
  Priority priority = Priority::foreground;
  int rounds = 0;  // sections entered; 0: until asked to stop
  std::chrono::milliseconds hold{0};
  std::string resource;      // its socket
  std::string who = "load";  // one word
  bool async = false;        // AsyncWriteLock instead of BlockingWriteLock
};

struct LoadResult {
  int sections = 0;
  int cut_short = 0;                    // sections left early: the lock was not healthy any more
  int stale = 0;                        // the resource refused the token
  std::map<std::string, int> errors;    // of lock and unlock, by the code's name
  std::chrono::milliseconds late{0};    // the longest time by which a lock call overran its time-out
  std::chrono::milliseconds unlock{0};  // the longest unlock

  void add(const LoadResult& other);
};

std::ostream& operator<<(std::ostream& out, const LoadResult& result);

// Each lock call has the time-out that the client's settings give to the class. Failures are counted and survived,
// except for unexpected ones, which are thrown.
LoadResult run_load(Client& client, const LoadOptions& options, const std::stop_token& stop = {});

// Holds for this long, or until the lock is not healthy any more: then false.
bool hold_for(const WriteLock& lock, std::chrono::milliseconds time);

}  // namespace forelock::test
