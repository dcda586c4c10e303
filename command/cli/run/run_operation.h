// forelock run --retry: a command as an operation, with retries and, in the end, a dead letter.
#pragma once

#include "cli/command.h"
#include "cli/process/inherited_descriptors.h"
#include "cli/process/signal_queue.h"
#include "cli/run/run_options.h"

namespace forelock::cli {

// \returns the exit code: 0, or 128+n if signal n withdrew it, in which case it is not dead-lettered.
// \throws FailureException: exit_dead_lettered when the dead-letter queue has it, exit_not_stored when it has failed
// and the queue did not take it.
int run_operation(const RunOptions& options, const Context& context, const InheritedDescriptors& inherited,
                  SignalQueue& signals);

}  // namespace forelock::cli
