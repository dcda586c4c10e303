// Common part of `dlq unpark` and `dlq import`: puts letters back into the queue.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cli/command.h"
#include "drain/drainer_lock.h"
#include "drain/letter_store.h"
#include "forelock/client.h"
#include "forelock/settings.h"

namespace forelock::cli {

struct RestoringReport {
  std::uint64_t restored = 0;
  std::uint64_t there_already = 0;
  std::uint64_t refused = 0;  // one with its id and time of failure, and other contents, is there
  std::uint64_t unreadable = 0;
};

// For the audit line.
struct RestoringOrder {
  std::string action;
  std::string which;  // the letters, as on the command line
  std::string by = {};
  std::string reason = {};
};

// Puts what it visits back into the queue. Holds the drainer's lock from construction to destruction, and leaves an
// audit line at its begin and at its end. \throws Error.
class LetterRestoring final : public drain::LetterVisitor {
 public:
  LetterRestoring(const Console& console, Settings settings, drain::LetterStore& store, RestoringOrder order);
  // The audit trail says that it failed, if finish() has not come to its end.
  ~LetterRestoring() override;

  bool letter(const drain::StoredLetter& letter) override;
  // A record that cannot be read stays where it is.
  bool unreadable(const drain::UnreadableLetter& letter) override;

  // All of it is done.
  RestoringReport settle();
  // The same. Says what was done, in the form that is asked for. \returns the exit code: exit_failed if a letter was
  // refused because one with its id and time of failure, and other contents, is there.
  int finish();

 private:
  void audit(const std::string& result) const;
  int exit_code() const;

  bool finished_ = false;
  const Console& console_;
  drain::LetterStore& store_;
  const RestoringOrder order_;
  const Settings settings_;
  Client client_;
  const drain::DrainerLock lock_;
  RestoringReport report_;
};

}  // namespace forelock::cli
