#include "engine/caller.h"

#include "check.h"

namespace forelock::fuzz {

using namespace std::chrono_literals;
using lock::ContenderId;
using lock::TimePoint;

Caller::Caller(std::string name, lock::EngineOptions options, Judge& judge)
    : name_(std::move(name)), judge_(judge), engine_(std::move(options), *this) {}

void Caller::call(Bytes& bytes, TimePoint now) {
  switch (bytes.choice(8)) {
    case 0:
    case 1:
    case 2:
      return acquire(bytes, now);
    case 3:
    case 4: {
      const ContenderId id = some(bytes);
      const bool was_held = id != 0 && contenders_.at(id).phase == Phase::held;
      const bool begun = engine_.release(id, now);
      demand(!begun || was_held, "only what is held can be released");
      if (begun && contenders_.at(id).phase == Phase::held) contenders_.at(id).phase = Phase::releasing;
      return;
    }
    case 5: {
      const ContenderId id = some(bytes);
      const bool cancelled = engine_.cancel(id, now);
      demand(!cancelled || contenders_.at(id).phase == Phase::done, "who is cancelled is told at once");
      return;
    }
    case 6: {
      const ContenderId id = some(bytes);
      const auto deadline = now + std::chrono::milliseconds(20 * bytes.choice(16));
      const bool was_held = id != 0 && contenders_.at(id).phase == Phase::held;
      if (was_held) contenders_.at(id).phase = Phase::waiting;  // it may be granted before the call returns
      if (was_held) contenders_.at(id).stepping_aside = true;
      if (engine_.step_aside(id, deadline, now)) return demand(was_held, "only a holder steps aside");
      if (!was_held) return;
      demand(contenders_.at(id).phase == Phase::done, "a holder may step aside unless its lock is lost");
      return;
    }
    default: {
      const ContenderId id = some(bytes);
      const bool held = id != 0 && contenders_.at(id).phase == Phase::held;
      demand(!engine_.guard(id) || held, "only a holder can write under its lock");
      engine_.update_record(id, id == 0 ? "" : "U" + contenders_.at(id).guid, now);
      return;
    }
  }
}

void Caller::acquire(Bytes& bytes, TimePoint now) {
  if (next_ > most_contenders) return;
  const ContenderId id = next_++;
  const std::size_t what = bytes.byte();
  Contender contender;
  contender.monitor = (what & 1) == 0 ? "P" : "Q";
  contender.guid = name_ + static_cast<char>('a' + id);
  lock::AcquireSpec spec;
  spec.monitor = contender.monitor;
  spec.guid = contender.guid;
  spec.record = [](lock::RecordUse use, const std::string& guid) {
    return use == lock::RecordUse::holding ? "L" + guid : guid;
  };
  spec.priority = (what & 2) == 0 ? Priority::foreground : Priority::background;
  spec.try_once = (what & 12) == 12;
  spec.wants_position = (what & 16) != 0;
  if ((what & 32) != 0) spec.contention = lock::ContentionScope::all;
  const std::size_t patience = bytes.choice(16);
  spec.deadline = patience == 0 ? lock::never : now + std::chrono::milliseconds(30 * patience);
  contenders_[id] = contender;
  engine_.acquire(id, std::move(spec), now);
}

ContenderId Caller::some(Bytes& bytes) const {
  std::vector<ContenderId> open;
  for (const auto& [id, contender] : contenders_) {
    if (contender.phase != Phase::done) open.push_back(id);
  }
  return open.empty() ? 0 : open[bytes.choice(open.size())];
}

void Caller::give_up(TimePoint now) {
  std::vector<ContenderId> ids;
  for (const auto& [id, contender] : contenders_) ids.push_back(id);
  for (const ContenderId id : ids) {
    if (contenders_[id].phase == Phase::waiting) engine_.cancel(id, now);
    if (contenders_[id].phase != Phase::held) continue;
    if (engine_.release(id, now) && contenders_[id].phase == Phase::held) contenders_[id].phase = Phase::releasing;
  }
}

void Caller::expect_all_told() const {
  for (const auto& [id, contender] : contenders_) {
    demand(contender.phase == Phase::done, "everybody is told how it ended");
    demand(contender.forgotten, "everybody is forgotten in the end");
  }
  demand(engine_.contenders() == 0, "no contender is left");
}

Caller::Contender& Caller::known(ContenderId id) {
  const auto found = contenders_.find(id);
  demand(found != contenders_.end(), "a contender is known");
  demand(!found->second.forgotten, "nothing comes after forgotten");
  return found->second;
}

void Caller::send(coordination::RequestTag tag, coordination::Request request) {
  outbox.push_back({tag, std::move(request)});
}

void Caller::granted(ContenderId id, const lock::Grant& grant) {
  Contender& contender = known(id);
  demand(contender.phase == Phase::waiting, "granted is who waits");
  demand(!grant.node.empty(), "a holder has a node");
  for (const auto& [other_id, other] : contenders_) {
    demand(other.monitor != contender.monitor || other.phase != Phase::held, "one holder of a monitor in a process");
  }
  contender.phase = Phase::held;
  contender.stepping_aside = false;
  contender.token = grant.token;
  judge_.granted(contender);
}

void Caller::refused(ContenderId id, const lock::Refusal&) {
  Contender& contender = known(id);
  demand(contender.phase == Phase::waiting, "refused is who waits");
  contender.phase = Phase::done;
}

void Caller::lost(ContenderId id, LossReason) {
  Contender& contender = known(id);
  const bool stepping_aside = contender.phase == Phase::waiting && contender.stepping_aside;
  demand(contender.phase == Phase::held || stepping_aside, "lost is what was held");
  contender.phase = Phase::done;
}

void Caller::released(ContenderId id, lock::ReleaseOutcome) {
  Contender& contender = known(id);
  // It may be told before release() has returned.
  demand(contender.phase == Phase::releasing || contender.phase == Phase::held, "released is what was being released");
  contender.phase = Phase::done;
}

void Caller::queued(ContenderId id, const QueuePosition& position) {
  demand(known(id).phase == Phase::waiting, "a place in the queue is for who waits");
  demand(position.place > 0 && !position.behind.empty(), "a place begins at 1, behind somebody");
}

void Caller::contended(ContenderId id, Priority) {
  demand(known(id).phase == Phase::held, "contended is what is held");
}

void Caller::forgotten(ContenderId id) {
  Contender& contender = known(id);
  demand(contender.phase == Phase::done, "forgotten is who was told how it ended");
  contender.forgotten = true;
}

void Caller::counter_high(const std::string& monitor, std::int64_t) {
  demand(!monitor.empty(), "a counter is a monitor's");
}

}  // namespace forelock::fuzz
