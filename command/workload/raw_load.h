// The floor of a job: the same transactions on the bare C client.
#pragma once

#include <memory>
#include <set>
#include <stop_token>
#include <string>

#include "workload/job.h"

namespace forelock::workload {

class RawClient;

// What is sent: the two transactions of a lock, or no more than the creation and the deletion of one empty node.
enum class RawKind { transactions, create_delete };

// One session. `threads`: one after the other uses it, which is the most that a lock of one monitor allows. `async`: a
// claim and a release by turns for every monitor, all at once. A bare claim knows no waiting, so a job with more than
// one thread for a monitor is one thread's work here.
class RawLoad {
 public:
  // `credential` as for RawClient. \throws std::runtime_error without a connection.
  RawLoad(const std::string& servers, RawKind kind, const std::string& credential = {});
  ~RawLoad();
  RawLoad(const RawLoad&) = delete;
  RawLoad& operator=(const RawLoad&) = delete;

  // Ends early when asked to stop. \throws std::runtime_error when a transaction fails.
  JobResult run(const Job& job, const std::stop_token& stop = {});

 private:
  class Pipeline;

  JobResult one_by_one(const Job& job, const std::stop_token& stop);

  const RawKind kind_;
  std::unique_ptr<RawClient> client_;
  std::set<std::string> ensured_;
  std::unique_ptr<Pipeline> pipeline_;
};

}  // namespace forelock::workload
