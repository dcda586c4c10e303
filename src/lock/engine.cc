#include "lock/engine.h"

#include <utility>

#include "lock/engine_core.h"
#include "lock/monitor.h"

namespace forelock::lock {

Engine::Engine(EngineOptions options, EngineOutput& output)
    : core_(std::make_unique<EngineCore>(std::move(options), output)) {}

Engine::~Engine() = default;

void Engine::acquire(ContenderId contender, AcquireSpec spec, TimePoint now) {
  core_->acquire(contender, std::move(spec), now);
}

bool Engine::release(ContenderId id, TimePoint now) {
  core_->enforce_deadline(now);
  Contender* contender = core_->find(id);
  if (!contender || contender->abandoned || contender->state != ContenderState::held) return false;
  contender->monitor->release(*contender, now);
  return true;
}

bool Engine::cancel(ContenderId id, TimePoint now) {
  core_->enforce_deadline(now);
  Contender* contender = core_->find(id);
  if (!contender || contender->abandoned) return false;
  if (contender->state == ContenderState::held || contender->state == ContenderState::releasing) return false;
  core_->refuse(*contender, {.reason = RefusalReason::cancelled});
  contender->monitor->abandon(*contender, now);
  return true;
}

bool Engine::step_aside(ContenderId id, TimePoint deadline, TimePoint now) {
  core_->enforce_deadline(now);
  Contender* contender = core_->find(id);
  if (!contender || contender->abandoned || contender->state != ContenderState::held) return false;
  core_->end_hold(*contender);
  core_->set_deadline(*contender, deadline);
  contender->monitor->step_aside(*contender, now);
  return true;
}

bool Engine::update_record(ContenderId id, std::string holder_record, TimePoint now) {
  core_->enforce_deadline(now);
  Contender* contender = core_->find(id);
  if (!contender || contender->abandoned || contender->state != ContenderState::held) return false;
  contender->monitor->update_record(*contender, std::move(holder_record), now);
  return true;
}

std::optional<std::vector<coordination::Operation>> Engine::guard(ContenderId id) const {
  const Contender* contender = core_->find(id);
  if (!contender || contender->abandoned || contender->state != ContenderState::held) return std::nullopt;
  auto checks = contender->monitor->guard(*contender);
  if (checks.empty()) return std::nullopt;
  return checks;
}

void Engine::on_session(const coordination::SessionEvent& event, TimePoint now) {
  core_->on_session(event, now);
}

void Engine::on_reply(coordination::RequestTag tag, coordination::Reply reply, TimePoint now) {
  core_->on_reply(tag, std::move(reply), now);
}

void Engine::on_watch(const coordination::WatchEvent& event, TimePoint now) {
  core_->on_watch(event, now);
}

void Engine::on_answered(TimePoint sent, bool write, TimePoint now, coordination::ReplyCode code) {
  core_->enforce_deadline(now);
  core_->answered(sent, write && !coordination::decided_locally(code) ? Reach::quorum : Reach::server, now);
}

void Engine::tick(TimePoint now) {
  core_->tick(now);
}

TimePoint Engine::next_timer() const {
  return core_->next_timer();
}

void Engine::close(TimePoint now) {
  core_->close(now);
}

TimePoint Engine::valid_until() const {
  return core_->valid_until();
}

bool Engine::connected() const {
  return core_->connected();
}

coordination::SessionId Engine::session() const {
  return core_->session();
}

std::optional<ContenderState> Engine::state(ContenderId id) const {
  const Contender* contender = core_->find(id);
  if (!contender) return std::nullopt;
  return contender->abandoned ? ContenderState::leaving : contender->state;
}

TimePoint Engine::oldest_unanswered() const {
  return core_->oldest_unanswered();
}

std::size_t Engine::monitors() const {
  return core_->monitor_count();
}

std::size_t Engine::contenders() const {
  return core_->contender_count();
}

}  // namespace forelock::lock
