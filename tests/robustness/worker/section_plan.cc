#include "robustness/worker/section_plan.h"

namespace forelock::robustness {

std::string_view SectionPlan::mode() const {
  switch (wait) {
    case Wait::none:
      return "try";
    case Wait::cancelled:
      return other_class_after ? "moved" : "cancelled";
    default:
      return "timeout";
  }
}

SectionPlan SectionPlanner::next() {
  SectionPlan plan;
  const bool own = chance(own_share_);
  plan.monitor = any_monitor(own);
  plan.priority = chance(0.5) ? Priority::foreground : Priority::background;
  decide_waiting(plan);
  decide_holding(plan, own);
  plan.callbacks = chance(0.1);
  if (options_.pause_us > 0) {
    std::exponential_distribution<double> pause(1.0 / options_.pause_us);
    plan.pause = std::chrono::microseconds(static_cast<std::int64_t>(pause(random_)));
  }
  return plan;
}

std::vector<std::string> SectionPlanner::members(const SectionPlan& plan) {
  std::vector<std::string> members = {plan.monitor};
  const auto count = std::uniform_int_distribution<std::size_t>(2, most_members)(random_);
  while (members.size() < count) members.push_back(any_monitor(chance(own_share_)));
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  return members;
}

std::string SectionPlanner::any_monitor(bool own) {
  if (own) return own_monitor();
  constexpr double visits = 0.05;
  if (options_.visited.empty() || !chance(visits)) return shared_monitor();
  return options_.visited.at(std::uniform_int_distribution<std::size_t>(0, options_.visited.size() - 1)(random_));
}

std::string SectionPlanner::own_monitor() {
  constexpr double new_ones = 0.05;
  const bool rare = options_.rare_monitors > 0 && chance(new_ones);
  const int number =
      std::uniform_int_distribution(0, (rare ? options_.rare_monitors : options_.own_monitors) - 1)(random_);
  return options_.process.substr(0, options_.process.find('.')) + (rare ? "-rare-" : "-own-") + std::to_string(number);
}

// The first are the most wanted.
std::string SectionPlanner::shared_monitor() {
  const double uniform = std::uniform_real_distribution<double>(0, 1)(random_);
  const auto count = static_cast<double>(options_.monitors.size());
  return options_.monitors.at(static_cast<std::size_t>(std::pow(uniform, 2) * count));
}

void SectionPlanner::decide_waiting(SectionPlan& plan) {
  switch (std::discrete_distribution<int>({45, 25, 10, 10, 10})(random_)) {
    case 0:
      break;
    case 1:
      plan.wait = SectionPlan::Wait::limited;
      plan.limit = between(1, 80);
      break;
    case 2:
      plan.wait = SectionPlan::Wait::limited;
      plan.limit = between(200, 2000);
      break;
    case 3:
      plan.wait = SectionPlan::Wait::none;
      break;
    default:
      plan.wait = SectionPlan::Wait::cancelled;
      plan.limit = std::chrono::milliseconds(2000);
      plan.cancel_after = between(0, 30);
      if (!chance(0.5)) break;
      plan.other_class_after = plan.cancel_after;
      plan.cancel_after += between(0, 500);
  }
}

void SectionPlanner::decide_holding(SectionPlan& plan, bool own) {
  static const std::vector<double> short_ones = {880, 100, 17, 3};
  static const std::vector<double> longer_ones = {600, 300, 85, 15};
  const std::vector<double>& weights = own ? short_ones : longer_ones;
  switch (std::discrete_distribution<int>(weights.begin(), weights.end())(random_)) {
    case 0:
      break;
    case 1:
      plan.hold = between(1, 5);
      break;
    case 2:
      plan.hold = between(20, 80);
      break;
    default:
      plan.hold = between(300, 1200);
  }
  if (options_.overdue && !own && chance(0.05)) become_overdue(plan);
  plan.step_aside = plan.hold.count() > 0 && chance(0.1);
  plan.release = static_cast<SectionPlan::Release>(std::discrete_distribution<int>({70, 20, 10})(random_));
}

void SectionPlanner::become_overdue(SectionPlan& plan) {
  plan.hold = between(500, 2500);
  plan.auto_unlock_after = between(50, 300);
  if (chance(0.3)) plan.alive_after = *plan.auto_unlock_after + between(-50, 50);
}

}  // namespace forelock::robustness
