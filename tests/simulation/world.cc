#include "world.h"

namespace forelock::simulation {
namespace {

// A schedule that goes on longer is going round in circles.
constexpr std::size_t most_steps = 400000;
}  // namespace

model::EnsembleOptions World::ensemble_options(const Plan& plan) {
  model::EnsembleOptions options;
  options.servers = plan.servers;
  // A session's time-out is at least two ticks: the worst that a server permits.
  options.report_interval = Span(plan.session_timeout) / 4;
  options.sync_limit = plan.sync_limit;
  options.container_chance = plan.container_chance;
  options.longest_container_life = plan.container_life;
  if (plan.slow_network) {
    options.wire.longest = milliseconds(4);
    options.wire.hiccup = 0.05;
    options.longest_link = milliseconds(5);
  }
  for (std::size_t i = 0; i < plan.monitors; ++i) {
    if (plan.first_counter[i] > 0) options.rules.first_counter[monitor_path(i)] = plan.first_counter[i];
  }
  return options;
}

void World::noted(const char* what) {
  if (trace_.on()) trace_.add("servers", what);
}

void World::applied(const model::LogEntry& entry, const std::vector<model::Change>& changes) {
  checker_.applied(entry, changes);
  strike_at_freed_locks();
  if (!entry.fate.cut_when_applied) return;
  for (auto& process : processes_) {
    model::ModelSession* session = process->link().session_or_null();
    if (session != nullptr && session->id() == entry.session) session->cut(0);
  }
}

World::World(const Plan& plan)
    : plan_(plan),
      random_(plan.luck),
      ensemble_(timeline_, random_, ensemble_options(plan)),
      trace_(timeline_),
      checker_(plan, timeline_, ensemble_, statistics_, trace_),
      operations_(checker_, statistics_),
      requests_(plan, checker_),
      sets_(checker_),
      struck_(plan.faults.size(), false),
      awaited_(plan.faults.size(), false),
      of_process_(plan.processes, model::Timeline::start) {
  ensemble_.set_observer(this);
  ensemble_.administer(coordination::Create{std::string(guarded_path), ""});
  for (std::size_t i = 0; i < plan.processes; ++i) processes_.push_back(std::make_unique<Process>(*this, i));
  for (std::size_t i = 0; i < plan.literals.size(); ++i) {
    literals_.push_back(std::make_unique<LiteralClient>(*this, plan.literals[i], i));
  }
  Span longest{};
  for (const auto& thread : plan.threads) {
    for (const auto& call : thread.calls) longest = std::max(longest, std::max(call.hold, call.think));
  }
  for (const auto& literal : plan.literals) longest = std::max({longest, literal.hold, literal.start});
  patience_ = 2 * longest + 3 * Span(plan.session_timeout) + plan.engine.give_up_after + milliseconds(700) +
              plan.backoff_cap + plan.linger.time;
}

World::~World() = default;

model::ModelSession& World::new_session(coordination::SessionListener& listener, int home) {
  model::ClientOptions options;
  options.timeout = plan_.session_timeout;
  options.pings = true;
  options.home = home;
  sessions_.push_back(std::make_unique<model::ModelSession>(ensemble_, listener, options));
  return *sessions_.back();
}

const Violation& World::run() {
  statistics_.schedules = 1;
  for (auto& process : processes_) process->start();
  for (auto& literal : literals_) literal->start();
  for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
    const PlannedFault& fault = plan_.faults[i];
    if (fault.request == 0) timeline_.after(fault.at, *this, 0, i);
  }
  wait_for(&World::calls_finished, Invariant::no_lost_wakeup, "nothing happens, but somebody waits");
  // What was planned for a request that is never sent does not happen any more.
  struck_.assign(struck_.size(), true);
  wait_for(&World::tidy, Invariant::nothing_left, "what is left of finished calls is not removed");
  // Sessions of processes that are gone run out.
  const Instant end = std::max(timeline_.now(), disturbed_until_) + plan_.session_timeout * 2 + milliseconds(50);
  while (!checker_.violation() && !timeline_.empty() && timeline_.next() <= end) timeline_.step();
  if (!checker_.violation()) checker_.nothing_left();
  if (!checker_.violation()) operations_.nothing_lost();
  statistics_.steps = timeline_.steps();
  return checker_.violation();
}

void World::wait_for(bool (World::*condition)() const, Invariant otherwise, const char* complaint) {
  checker_.progress();
  while (!checker_.violation() && !(this->*condition)()) {
    if (!timeline_.step()) return checker_.fail(otherwise, "nothing is left that could happen");
    if (timeline_.now() > std::max(checker_.last_progress(), disturbed_until_) + patience_) {
      return checker_.fail(otherwise, complaint);
    }
    if (timeline_.steps() > (plan_.polled ? 8 : 1) * most_steps)
      return checker_.fail(otherwise, "it goes round in circles");
  }
}

bool World::anybody_calls() const {
  return std::any_of(processes_.begin(), processes_.end(), [](const auto& one) { return !one->calls_finished(); }) ||
         std::any_of(literals_.begin(), literals_.end(), [](const auto& one) { return !one->finished(); });
}

bool World::calls_finished() const {
  return std::all_of(processes_.begin(), processes_.end(), [](const auto& one) { return one->finished(); }) &&
         std::all_of(literals_.begin(), literals_.end(), [](const auto& one) { return one->finished(); });
}

bool World::tidy() const {
  return timeline_.now() >= disturbed_until_ &&
         std::all_of(processes_.begin(), processes_.end(), [](const auto& one) { return one->tidy(); });
}

}  // namespace forelock::simulation
