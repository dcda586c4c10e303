// Common part of `dlq park` and `dlq purge`: takes letters out of the queue, or says which it would take.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/dlq/dlq_filter.h"
#include "drain/letter_store.h"

namespace forelock::cli {

struct LetterRemoval {
  drain::Resolution resolution = drain::Resolution::parked;
  std::string command;           // "park"
  std::string confirmation;      // "--execute": the option that means it
  bool confirmed = false;        // whether it was given
  bool all = false;              // --all
  std::vector<std::string> ids;  // ids or positions; else the filter says which
  const DlqFilter& filter;
};

// Under the drainer's lock. \returns the exit code. \throws FailureException: usage if nothing says which letters;
// exit 1 for an id that is not there, in which case nothing has been done.
int remove_letters(const LetterRemoval& removal, const Context& context);

}  // namespace forelock::cli
