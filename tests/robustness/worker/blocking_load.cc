// Threads that block, for a lock or for several monitors as one, and a client that is closed under them now and then.
#include "robustness/worker/blocking_section.h"
#include "robustness/worker/client_source.h"
#include "robustness/worker/load.h"
#include "robustness/worker/patience.h"
#include "robustness/worker/set_section.h"

namespace forelock::robustness {
namespace {

// What a thread does again and again: whether it has obtained what it wants.
class LockVisits {
 public:
  explicit LockVisits(const WorkerOptions& options) : visitor_(options.resource, options.process) {}

  bool visit(GatedClient& client, SectionPlanner&, const SectionPlan& plan, HistoryWriter& history) {
    return BlockingSection(client, plan, history, visitor_).run();
  }

 private:
  ResourceVisitor visitor_;
};

class SetVisits {
 public:
  explicit SetVisits(const WorkerOptions& options) {
    for (std::size_t i = 0; i < SectionPlanner::most_members; ++i) {
      visitors_.emplace_back(options.resource, options.process);
    }
  }

  bool visit(GatedClient& client, SectionPlanner& planner, const SectionPlan& plan, HistoryWriter& history) {
    const std::vector<std::string> monitors = planner.members(plan);
    return SetSection(client, plan, monitors, history, visitors_).run();
  }

 private:
  std::deque<ResourceVisitor> visitors_;
};

template <class Visits>
class BlockingLoad final : public Load {
 public:
  BlockingLoad(const WorkerOptions& options, HistoryWriter& history)
      : options_(options), history_(history), clients_(options.settings, history, options.seed) {
    for (int i = 0; i < options.threads; ++i) {
      threads_.emplace_back([this, i](const std::stop_token& stop) { work(stop, i); });
    }
    threads_.emplace_back([this](const std::stop_token& stop) { clients_.replace_now_and_then(stop); });
  }

  void stop() override {
    for (auto& thread : threads_) thread.request_stop();
    threads_.clear();
    clients_.settle(settle_patience);
  }
  void close() override { clients_.close(); }

 private:
  void work(const std::stop_token& stop, int index) {
    Visits visits(options_);
    SectionPlanner planner(options_, index);
    while (!stop.stop_requested()) {
      const SectionPlan plan = planner.next();
      const auto client = clients_.get();
      if (!visits.visit(*client, planner, plan, history_)) pause(stop, rest_after_failure);
      pause(stop, plan.pause);
    }
  }

  const WorkerOptions& options_;
  HistoryWriter& history_;
  ClientSource clients_;
  std::vector<std::jthread> threads_;
};

}  // namespace

std::unique_ptr<Load> make_api_load(const WorkerOptions& options, HistoryWriter& history) {
  return std::make_unique<BlockingLoad<LockVisits>>(options, history);
}

std::unique_ptr<Load> make_set_load(const WorkerOptions& options, HistoryWriter& history) {
  return std::make_unique<BlockingLoad<SetVisits>>(options, history);
}

}  // namespace forelock::robustness
