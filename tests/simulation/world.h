// One schedule: the ensemble, the processes, the literal clients, the faults, and the judge of it all.
#pragma once

#include "checker.h"
#include "literal_client.h"
#include "model/ensemble.h"
#include "model/model_session.h"
#include "operation_judge.h"
#include "plan.h"
#include "process.h"
#include "request_judge.h"
#include "set_judge.h"
#include "statistics.h"
#include "trace.h"

namespace forelock::simulation {

// A process's request.
struct RequestOfProcess {
  std::size_t process = 0;
  std::uint32_t number = 0;  // from 1 on
};

class World final : public model::Actor, private model::Observer {
 public:
  // The plan outlives the world.
  explicit World(const Plan& plan);
  ~World();

  // Runs the schedule to its end or to the first violation.
  const Violation& run();

  const Plan& plan() const { return plan_; }
  model::Timeline& timeline() { return timeline_; }
  model::Random& random() { return random_; }
  Checker& checker() { return checker_; }
  OperationJudge& operations() { return operations_; }
  RequestJudge& requests() { return requests_; }
  SetJudge& sets() { return sets_; }
  Trace& trace() { return trace_; }
  Statistics& statistics() { return statistics_; }
  // Nothing is in anybody's way from then on.
  Instant disturbed_until() const { return disturbed_until_; }
  // Nothing in this process's way, at the servers or in itself.
  Instant disturbed_until(std::size_t process) const {
    return std::max(servers_disturbed_until_, of_process_[process]);
  }
  // Somebody has something before him, but for those who poll.
  bool anybody_calls() const;

  model::ModelSession& new_session(coordination::SessionListener& listener, int home);
  // With the faults that are planned for it.
  void submit(RequestOfProcess which, model::ModelSession& session, coordination::RequestTag tag,
              coordination::Request request);

  void fire(std::uint32_t what, std::uint64_t detail) override;

 private:
  static model::EnsembleOptions ensemble_options(const Plan& plan);
  // --- model::Observer ---
  void applied(const model::LogEntry& entry, const std::vector<model::Change>& changes) override;
  void noted(const char* what) override;
  // Whatever a fault does to the servers is in everybody's way; else in that of its process.
  void disturb(const PlannedFault& fault, Span duration);
  void trace_fault(const PlannedFault& fault, const std::string& when = {});
  void strike_soon(std::size_t index);
  void strike(const PlannedFault& fault);
  model::Division division_for(const PlannedFault& fault);
  void strike_process(const PlannedFault& fault, Process& process, model::ModelSession& session);
  bool strikes_follower(const PlannedFault& fault) const;
  void lag(const PlannedFault& fault);
  void strike_at_freed_locks();
  void administer(const PlannedFault& fault);
  // False: nobody waits.
  bool wish(const PlannedFault& fault);
  void cut(const PlannedFault& fault, model::ModelSession& session, std::size_t keep);
  bool calls_finished() const;
  bool tidy() const;
  void close_all();
  void wait_for(bool (World::*condition)() const, Invariant otherwise, const char* complaint);

  const Plan& plan_;
  model::Timeline timeline_;
  model::Random random_;
  model::Ensemble ensemble_;
  Trace trace_;
  Statistics statistics_;
  Checker checker_;
  OperationJudge operations_;
  RequestJudge requests_;
  SetJudge sets_;
  std::vector<std::unique_ptr<model::ModelSession>> sessions_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<std::unique_ptr<LiteralClient>> literals_;
  std::vector<bool> struck_;   // faults that have happened, or cannot any more
  std::vector<bool> awaited_;  // that are about to
  Instant disturbed_until_ = model::Timeline::start;
  Instant servers_disturbed_until_ = model::Timeline::start;
  std::vector<Instant> of_process_;
  Span patience_{};  // how long nothing may happen while somebody waits
};

}  // namespace forelock::simulation
