// Cuts the holder of a pair off, silently, again and again: who knows first that the lock is gone?
#pragma once

#include "robustness/history/history_writer.h"
#include "robustness/runner/client_process.h"
#include "robustness/runner/fault_log.h"
#include "robustness/runner/recorded_resource.h"

namespace forelock::robustness {

// Begins with its making. The pair are workers of kind "stall" on one monitor, and nobody else's. All must outlive it.
class StallRounds {
 public:
  StallRounds(std::string monitor, std::vector<ClientProcess*> pair, RecordedResource& resource, HistoryWriter& history,
              FaultLog& log, std::uint64_t seed);

  // Ends the round under way, and waits for that.
  void stop();

 private:
  using Visit = RecordedResource::Visit;

  void run(const std::stop_token& stop);
  void play(const std::stop_token& stop, const Visit& holder, ClientProcess& client);
  void await_end(const std::stop_token& stop, const Visit& holder) const;

  const std::string monitor_;
  const std::vector<ClientProcess*> pair_;
  RecordedResource& resource_;
  HistoryWriter& history_;
  FaultLog& log_;
  std::mt19937_64 random_;
  std::jthread thread_;
};

}  // namespace forelock::robustness
