// Threads that take several monitors as one lock, and a client that is closed under them now and then.
#include "robustness/worker/client_source.h"
#include "robustness/worker/load.h"
#include "robustness/worker/patience.h"
#include "robustness/worker/set_section.h"

namespace forelock::robustness {
namespace {

class SetLoad final : public Load {
 public:
  SetLoad(const WorkerOptions& options, HistoryWriter& history)
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
    std::deque<ResourceVisitor> visitors;
    for (std::size_t i = 0; i < SectionPlanner::most_members; ++i) {
      visitors.emplace_back(options_.resource, options_.process);
    }
    SectionPlanner planner(options_, index);
    while (!stop.stop_requested()) {
      const SectionPlan plan = planner.next();
      const auto client = clients_.get();
      const std::vector<std::string> monitors = planner.members(plan);
      if (!SetSection(*client, plan, monitors, history_, visitors).run()) pause(stop, rest_after_failure);
      pause(stop, plan.pause);
    }
  }

  const WorkerOptions& options_;
  HistoryWriter& history_;
  ClientSource clients_;
  std::vector<std::jthread> threads_;
};

}  // namespace

std::unique_ptr<Load> make_set_load(const WorkerOptions& options, HistoryWriter& history) {
  return std::make_unique<SetLoad>(options, history);
}

}  // namespace forelock::robustness
