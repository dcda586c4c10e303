#include "sets/set_machine.h"

#include <algorithm>
#include <utility>

#include "sets/mutation.h"

namespace forelock::sets {

std::string_view name_of(SetStage stage) {
  switch (stage) {
    case SetStage::free:
      return "free";
    case SetStage::taking:
      return "taking";
    case SetStage::held:
      return "held";
    case SetStage::lost:
      return "lost";
    case SetStage::failing:
      return "failing";
    case SetStage::releasing:
      return "releasing";
  }
  return "?";
}

SetMachine::SetMachine(std::size_t members) : members_(members), blocked_at_(members) {}

// --- the caller ---

bool SetMachine::begin(bool try_only) {
  if (stage_ != SetStage::free) return false;
  stage_ = SetStage::taking;
  try_only_ = try_only;
  has_waited_ = false;
  for (Member& member : members_) member.granted_once = member.knocked = false;
  settled_prefix_ = 0;
  blocked_at_ = members();
  failure_.reset();
  loss_.reset();
  bad_release_.reset();
  for (std::size_t i = 0; i < members(); ++i) start(Command::Kind::try_once, i);
  return true;
}

bool SetMachine::cancel(lock::RefusalReason reason) {
  if (stage_ != SetStage::taking) return false;
  std::size_t blamed = std::min(settled_prefix_, members() - 1);
  if (proving()) {
    blamed = 0;
    while (blamed + 1 < members() && members_[blamed].proved) ++blamed;
  }
  fail(blamed, {.reason = reason});
  return true;
}

bool SetMachine::release() {
  if (stage_ != SetStage::held && stage_ != SetStage::lost) return false;
  stage_ = SetStage::releasing;
  for (std::size_t i = 0; i < members(); ++i) give_up(i);
  advance();
  return true;
}

bool SetMachine::step_aside() {
  if (stage_ != SetStage::held) return false;
  stage_ = SetStage::taking;
  try_only_ = false;
  settled_prefix_ = 0;
  blocked_at_ = 0;
  failure_.reset();
  members_.front().held = false;
  commands_.push_back({Command::Kind::step_aside, 0, members_.front().attempt});
  give_up_behind(0);
  return true;
}

// --- attempts ---

void SetMachine::start(Command::Kind kind, std::size_t member) {
  const AttemptId attempt = next_attempt_++;
  members_[member].attempt = attempt;
  members_[member].outranked = false;
  open_.emplace(attempt, member);
  commands_.push_back({kind, member, attempt});
}

void SetMachine::give_up(std::size_t member) {
  Member& one = members_[member];
  one.held = false;
  if (one.attempt == 0) return;
  commands_.push_back({Command::Kind::give_up, member, std::exchange(one.attempt, 0)});
}

void SetMachine::give_way(std::size_t member) {
  if (members_[member].held && members_[member].outranked) give_up(member);
}

void SetMachine::give_up_behind(std::size_t member) {
  for (std::size_t i = member + 1; i < members(); ++i) give_up(i);
}

std::optional<std::size_t> SetMachine::member_of(AttemptId attempt) const {
  const auto found = open_.find(attempt);
  if (found == open_.end() || members_[found->second].attempt != attempt) return std::nullopt;
  return found->second;
}

void SetMachine::end(AttemptId attempt) {
  const auto found = open_.find(attempt);
  if (found == open_.end()) return;
  Member& member = members_[found->second];
  if (member.attempt == attempt) {
    member.attempt = 0;
    member.held = false;
  }
  open_.erase(found);
}

void SetMachine::granted(AttemptId attempt, lock::Token token) {
  const auto member = member_of(attempt);
  if (!member) return;
  members_[*member].held = members_[*member].proved = members_[*member].granted_once = true;
  members_[*member].outranked = false;  // this grant says anew who waits behind it
  members_[*member].token = token;
  if (mutated(Mutation::held_too_early) && *member + 1 == members()) settled_prefix_ = members();
  advance();
}

// What comes while it waits was asked for before.
void SetMachine::proved(AttemptId attempt) {
  const auto member = member_of(attempt);
  if (!member || waits_for()) return;
  members_[*member].proved = true;
  advance();
}

void SetMachine::refused(AttemptId attempt, const lock::Refusal& refusal) {
  const auto member = member_of(attempt);
  end(attempt);
  if (member && stage_ == SetStage::taking) {
    if (refusal.reason == lock::RefusalReason::unavailable && !try_only_) {
      not_to_be_had(*member);
    } else {
      fail(*member, refusal);
    }
  }
  advance();
}

void SetMachine::lost(AttemptId attempt, LossReason reason) {
  const auto member = member_of(attempt);
  if (stage_ == SetStage::releasing) {
    const bool expired = reason == LossReason::session_expired;
    return released(attempt, expired ? lock::ReleaseOutcome::session_expired : lock::ReleaseOutcome::gone);
  }
  end(attempt);
  if (member && stage_ == SetStage::held && !mutated(Mutation::loss_ignored)) {
    stage_ = SetStage::lost;
    loss_ = {*member, reason};
  } else if (member && stage_ == SetStage::taking && reason == LossReason::session_expired) {
    fail(*member, {.reason = lock::RefusalReason::session_expired});
  } else if (member && stage_ == SetStage::taking && reason == LossReason::closed) {
    fail(*member, {.reason = lock::RefusalReason::closed});
  } else if (member && stage_ == SetStage::taking && try_only_) {
    fail(*member, {.reason = lock::RefusalReason::unavailable});
  } else if (member && stage_ == SetStage::taking) {
    // Nothing rests on it yet, and the session may live: it is asked for again.
    settled_prefix_ = std::min(settled_prefix_, *member);
    not_to_be_had(*member);
  }
  advance();
}

void SetMachine::released(AttemptId attempt, lock::ReleaseOutcome outcome) {
  const auto found = open_.find(attempt);
  if (found == open_.end()) return;
  if (stage_ == SetStage::releasing && outcome != lock::ReleaseOutcome::released && !bad_release_) {
    bad_release_ = {found->second, outcome};
  }
  end(attempt);
  advance();
}

void SetMachine::outranked(AttemptId attempt) {
  const auto member = member_of(attempt);
  if (!member) return;
  members_[*member].outranked = true;
  if (waits_for()) give_way(*member);
}

// --- decisions ---

void SetMachine::not_to_be_had(std::size_t member) {
  if (member >= blocked_at_) return;
  blocked_at_ = member;
  if (!mutated(Mutation::keeps_those_behind)) give_up_behind(member);
}

void SetMachine::fail(std::size_t member, const lock::Refusal& refusal) {
  stage_ = SetStage::failing;
  failure_ = {member, refusal};
  for (std::size_t i = 0; i < members(); ++i) {
    if (mutated(Mutation::failed_set_keeps_members) && members_[i].held) continue;
    give_up(i);
  }
}

void SetMachine::ask_for_all() {
  for (std::size_t i = 0; i < members(); ++i) {
    const Member& member = members_[i];
    if (member.attempt == 0) {
      start(Command::Kind::try_once, i);
    } else if (member.held && !member.proved) {
      commands_.push_back({Command::Kind::prove, i, member.attempt});
    }
  }
}

void SetMachine::advance() {
  if (stage_ == SetStage::failing || stage_ == SetStage::releasing) {
    if (open_.empty() || (mutated(Mutation::failed_set_keeps_members) && stage_ == SetStage::failing)) {
      stage_ = SetStage::free;
    }
    return;
  }
  if (stage_ != SetStage::taking) return;
  while (settled_prefix_ < members() && members_[settled_prefix_].held) ++settled_prefix_;
  if (settled_prefix_ > blocked_at_) {  // what it waited for has come
    blocked_at_ = members();
    for (std::size_t i = members(); i-- > 0;) {
      if (members_[i].held) continue;
      if (!mutated(Mutation::held_with_a_gap)) settled_prefix_ = i;
    }
    ask_for_all();
  }
  if (settled_prefix_ == members()) {
    const bool unproved =
        std::any_of(members_.begin(), members_.end(), [](const Member& one) { return one.held && !one.proved; });
    if (!unproved || mutated(Mutation::held_unproved)) stage_ = SetStage::held;
  } else if (settled_prefix_ == blocked_at_ && members_[blocked_at_].attempt == 0) {
    wait_for(blocked_at_);
  }
}

void SetMachine::wait_for(std::size_t member) {
  const bool knocks = std::exchange(has_waited_, true);
  for (std::size_t i = member + 1; knocks && i < members(); ++i) {
    // Once: what is in use is not freed by it.
    if (members_[i].granted_once || std::exchange(members_[i].knocked, true)) continue;
    commands_.push_back({Command::Kind::knock, i, 0});
  }
  start(Command::Kind::acquire, member);
  for (std::size_t i = 0; i < member; ++i) {
    members_[i].proved = false;
    give_way(i);
  }
}

std::optional<std::size_t> SetMachine::waits_for() const {
  if (stage_ != SetStage::taking || blocked_at_ == members() || settled_prefix_ != blocked_at_) return std::nullopt;
  return blocked_at_;
}

std::vector<Command> SetMachine::take_commands() {
  return std::exchange(commands_, {});
}

}  // namespace forelock::sets
