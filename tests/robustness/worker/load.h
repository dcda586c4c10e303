// The work of a worker's process until it is told to end.
#pragma once

#include "robustness/history/history_writer.h"
#include "robustness/worker/worker_options.h"
#include "support/standard.h"

namespace forelock::robustness {

class Load {
 public:
  virtual ~Load() = default;
  // Ends the traffic and returns when every call has; the clients stay connected. "quiet" is written last.
  virtual void stop() = 0;
  // Closes what is connected.
  virtual void close() = 0;
};

// They begin at once. Both arguments must outlive the load.
std::unique_ptr<Load> make_api_load(const WorkerOptions& options, HistoryWriter& history);
std::unique_ptr<Load> make_async_load(const WorkerOptions& options, HistoryWriter& history);
std::unique_ptr<Load> make_command_load(const WorkerOptions& options, HistoryWriter& history);
std::unique_ptr<Load> make_operation_load(const WorkerOptions& options, HistoryWriter& history);
std::unique_ptr<Load> make_set_load(const WorkerOptions& options, HistoryWriter& history);
std::unique_ptr<Load> make_unlocker_load(const WorkerOptions& options, HistoryWriter& history);
std::unique_ptr<Load> make_stall_load(const WorkerOptions& options, HistoryWriter& history);

// What a command does that holds the lock: visits the resource, and ends. Returns its exit code.
int visit_as_command(const WorkerOptions& options, HistoryWriter& history);

}  // namespace forelock::robustness
