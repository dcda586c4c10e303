// A run, from the start of the servers to the last look at them.
#pragma once

#include "robustness/runner/aftermath.h"
#include "robustness/runner/cast.h"
#include "robustness/runner/fault_lane.h"
#include "robustness/runner/letter_office.h"
#include "robustness/runner/recorded_resource.h"
#include "robustness/runner/run_options.h"
#include "robustness/runner/scene.h"
#include "robustness/runner/stall_rounds.h"
#include "robustness/runner/unlock_records.h"
#include "support/temporary_directory.h"

namespace forelock::robustness {

class Run {
 public:
  // Starts the servers. Throws std::runtime_error.
  explicit Run(const RunOptions& options);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // All of it. \returns what went wrong in the run itself, a line each; what the history says is not judged here.
  std::vector<std::string> play();
  // One line of JSON.
  std::string summary() const;

 private:
  void start_clients();
  void start_faults();
  void let_pass();
  void heal();
  void end_traffic();
  void end_clients();
  void judge_unlocks();
  void await_end_of_sessions();
  void find_letters();
  // Everybody who takes part.
  std::vector<ClientProcess*> everybody();
  void check_for_crashes();
  void report(std::chrono::seconds passed);

  const RunOptions options_;
  test::TemporaryDirectory sockets_;  // a short path
  HistoryWriter history_;
  FaultLog log_;
  Excuses excuses_;
  UnlockRecords unlocks_;
  Cluster cluster_;
  Administrator administrator_;
  RecordedResource resource_;
  LetterOffice letters_;
  Scene scene_;
  std::vector<std::vector<std::unique_ptr<ClientProcess>>> pairs_;
  std::vector<std::unique_ptr<ClientProcess>> divided_;
  std::vector<std::unique_ptr<StallRounds>> stall_rounds_;
  std::vector<std::unique_ptr<FaultLane>> lanes_;
  std::vector<std::string> problems_;
  LoggedCounts logged_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace forelock::robustness
