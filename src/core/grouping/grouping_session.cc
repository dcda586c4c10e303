#include "grouping/grouping_session.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "grouping/folding.h"
#include "grouping/mutation.h"
#include "grouping/request_traits.h"

namespace forelock::grouping {

using coordination::Effect;
using coordination::Operation;
using coordination::Reply;
using coordination::ReplyCode;
using coordination::Request;
using coordination::RequestTag;
using coordination::Transaction;

namespace {

// Of groups for other members, after which a member goes by itself: each costs a round trip.
constexpr int most_refusals = 3;

// The connection or the session has gone, and with it whatever was under way.
bool is_lost(ReplyCode code) {
  return code == ReplyCode::connection_loss || code == ReplyCode::session_expired;
}

}  // namespace

GroupingSession::GroupingSession(GroupingLimits limits, coordination::SessionListener& listener)
    : limits_(limits), listener_(listener) {}

void GroupingSession::use(coordination::Session* session) {
  session_ = session;
  held_back_ = {};
  groups_.clear();
  waiting_.clear();
  under_way_ = transactions_ = unanswered_ = 0;
  loss_.reset();
}

// --- down ---

void GroupingSession::submit(RequestTag tag, Request request) {
  if (removes_monitors(request)) return submit_removal(tag, std::move(request));
  if (knocks(request)) return send(tag, std::move(request));
  const std::string_view monitor = monitor_of(request);
  if (!waiting_.empty() && !mutated(Mutation::order_not_kept)) {
    if (const auto found = waiting_.find(monitor); found != waiting_.end()) {
      found->second.push_back({.tag = tag, .request = std::move(request)});
      return;
    }
  }
  auto* transaction = std::get_if<Transaction>(&request);
  if (transaction == nullptr || !transaction->groupable) return send(tag, std::move(request));
  const std::size_t bytes = size_of(*transaction, limits_.root_bytes);
  if (!fits(transaction->operations.size(), bytes)) return send(tag, std::move(request));
  Member member{tag, {}, std::string(monitor), bytes};
  member.transaction = std::move(*transaction);
  waiting_.try_emplace(member.monitor);
  held_back_.add(std::move(member));
}

// The releases that it follows go before it, whatever the limits: no answer would be waited for.
void GroupingSession::submit_removal(RequestTag tag, Request request) {
  const auto held = [this](const Operation& removal) {
    const std::string_view monitor = std::string_view(path_of(removal)).substr(1);
    return held_back_.contains([&](const Member& one) { return one.monitor == monitor; });
  };
  const auto& operations = std::get<Transaction>(request).operations;
  if (!loss_ && !held_back_.empty() && std::any_of(operations.begin(), operations.end(), held)) {
    while (!held_back_.empty()) send_group();
  }
  send(tag, std::move(request));
}

bool GroupingSession::withdraw(RequestTag tag) {
  auto found = held_back_.take([tag](const Member& one) { return one.tag == tag; });
  if (!found) return withdraw_follower(tag);
  const std::string monitor = found->monitor;
  if (mutated(Mutation::withdrawn_is_sent)) held_back_.add_first(*std::move(found));
  end_waiting(monitor);
  return true;
}

bool GroupingSession::withdraw_follower(RequestTag tag) {
  return std::any_of(waiting_.begin(), waiting_.end(), [tag](auto& of_monitor) {
    return std::erase_if(of_monitor.second, [tag](const Follower& one) { return one.tag == tag; }) > 0;
  });
}

void GroupingSession::unwanted(RequestTag tag) {
  for (auto& [group, members] : groups_) {
    for (Member& member : members) member.unwanted |= member.tag == tag;
  }
}

bool GroupingSession::fits(std::size_t operations, std::size_t bytes) const {
  const std::size_t more = mutated(Mutation::limit_off_by_one) ? 1 : 0;
  return operations <= limits_.operations + more && bytes <= limits_.bytes;
}

std::size_t GroupingSession::group_bytes() const {
  return limits_.sustained_bytes + limits_.burst_bytes - std::min(burst_, limits_.burst_bytes);
}

void GroupingSession::note_sent(std::size_t transactions, std::size_t bytes) {
  ++under_way_;
  transactions_ += transactions;
  burst_ += bytes;
  burst_ -= std::min(burst_, limits_.sustained_bytes);
}

void GroupingSession::flush() {
  const bool enough = held_back_.size() >= transactions_ || transactions_ + held_back_.size() <= limits_.at_once;
  if (!enough) return;
  while (!held_back_.empty() && may_send()) send_group();
}

bool GroupingSession::may_send() const {
  if (loss_) return false;
  return under_way_ < limits_.under_way || transactions_ + held_back_.size() <= limits_.at_once;
}

void GroupingSession::send(RequestTag tag, Request request) {
  if (session_ == nullptr) return;
  ++requests_;
  ++unanswered_;
  session_->submit(tag, std::move(request));
}

void GroupingSession::send_alone(Member member) {
  note_sent(1, member.bytes);
  send(member.tag | alone_tag, std::move(member.transaction));
  end_waiting(member.monitor);
}

void GroupingSession::send_group() {
  std::size_t operations = 0;
  std::size_t bytes = 0;
  std::vector<Member> members;
  for (; !held_back_.empty(); members.push_back(held_back_.take_front())) {
    operations += held_back_.front().transaction.operations.size();
    bytes += held_back_.front().bytes;
    if (!members.empty() && (!fits(operations, bytes) || bytes > group_bytes())) break;
  }
  send_together(std::move(members));
}

void GroupingSession::send_together(std::vector<Member> members) {
  if (members.size() == 1) return send_alone(std::move(members.front()));
  Transaction all;
  std::size_t bytes = 0;
  bool number_known = mutated(Mutation::number_of_group_lost);
  for (Member& member : members) {
    bytes += member.bytes;
    const auto foldable_at = foldable(member.transaction);
    member.folded = number_known ? foldable_at : std::nullopt;
    number_known |= foldable_at.has_value();
    append_folded(member.transaction, member.folded, all.operations);
    if (mutated(Mutation::order_not_kept_after_group)) end_waiting(member.monitor);
  }
  note_sent(members.size(), bytes);
  const RequestTag tag = next_group_++;
  groups_.emplace(tag, std::move(members));
  send(tag, std::move(all));
}

// --- up ---

void GroupingSession::on_reply(RequestTag tag, Reply reply) {
  const ReplyCode code = reply.code;
  const bool alone = (tag & alone_tag) != 0;
  const bool group = (tag & group_tag) != 0;
  const bool makes_room = alone || (group && !mutated(Mutation::no_room_after_group));
  if (makes_room && under_way_ > 0) --under_way_;
  if (alone && transactions_ > 0) --transactions_;
  if (group) {
    group_answered(tag, std::move(reply));
  } else {
    listener_.on_reply(tag & ~alone_tag, std::move(reply));
  }
  note_answer(code);
}

// The session below answers everything that was under way. What has been held back comes behind it.
void GroupingSession::note_answer(ReplyCode code) {
  if (unanswered_ > 0) --unanswered_;
  if (loss_ && loss_->behind > 0) --loss_->behind;
  if (!loss_ && is_lost(code)) loss_ = {code, unanswered_};
  if (!loss_ || loss_->behind > 0) return;
  const ReplyCode lost = std::exchange(loss_, std::nullopt)->code;
  fail_waiting(lost);
}

void GroupingSession::group_answered(RequestTag tag, Reply reply) {
  auto found = groups_.extract(tag);
  if (found.empty()) return;  // of a session that was given up
  std::vector<Member> members = std::move(found.mapped());
  transactions_ -= std::min(transactions_, members.size());
  bool refused = coordination::effect_of(reply.code) == Effect::not_applied;
  if (mutated(Mutation::loss_sent_again)) refused = !reply.ok();
  if (mutated(Mutation::failed_told_to_all)) refused = false;
  if (mutated(Mutation::failed_told_applied) && refused) {
    refused = false;
    reply.code = ReplyCode::ok;
  }
  if (refused) {
    group_refused(std::move(members), std::move(reply));
  } else {
    tell_members(std::move(members), std::move(reply));
  }
}

void GroupingSession::tell_members(std::vector<Member> members, Reply reply) {
  const std::int64_t number = number_of(reply.operations);
  std::size_t next = 0;
  for (const Member& member : members) {
    Reply own;
    own.code = reply.code;
    if (own.ok()) {
      const std::size_t count = member.operations_sent();
      std::size_t from = next;
      if (mutated(Mutation::results_shifted) && next >= count) from = next - count;
      reply.operations.resize(std::max(reply.operations.size(), next + count));
      own.operations.assign(reply.operations.begin() + static_cast<std::ptrdiff_t>(from),
                            reply.operations.begin() + static_cast<std::ptrdiff_t>(from + count));
      if (member.folded) unfold(own.operations, *member.folded, number);
      next += count;
    }
    // What follows from the answer goes behind what has been waiting for it.
    if (!is_lost(reply.code)) end_waiting(member.monitor);
    if (mutated(Mutation::told_twice) && &member == &members.front()) listener_.on_reply(member.tag, own);
    listener_.on_reply(member.tag, std::move(own));
  }
}

void GroupingSession::group_refused(std::vector<Member> members, Reply reply) {
  if (mutated(Mutation::failed_member_lost)) {
    end_waiting(members.back().monitor);
    members.pop_back();
  }
  // The member that the server could not do, and the place of its first operation.
  std::size_t refused = members.size();
  std::size_t place = 0;
  for (std::size_t i = 0, next = 0; i < members.size() && reply.refused_operation; ++i) {
    const std::size_t begin = std::exchange(next, next + members[i].operations_sent());
    if (*reply.refused_operation < begin || *reply.refused_operation >= next) continue;
    refused = i;
    place = begin;
  }
  std::vector<Member> before;
  std::vector<Member> behind;
  for (std::size_t i = 0; i < members.size(); ++i) {
    Member& member = members[i];
    if (i == refused) continue;
    if (member.gone || member.unwanted) {
      // Not applied; and its nodes are gone with the monitor, or nobody wants them.
      end_waiting(member.monitor);
      answer(member.tag, ReplyCode::no_node);
    } else if (refused == members.size() || ++member.refusals > most_refusals) {
      send_alone(std::move(member));
    } else {
      (i < refused ? before : behind).push_back(std::move(member));
    }
  }
  if (!before.empty()) send_together(std::move(before));
  for (; !behind.empty(); behind.pop_back()) held_back_.add_first(std::move(behind.back()));
  if (refused == members.size()) return;
  *reply.refused_operation -= place;
  if (const auto folded = members[refused].folded; folded && *reply.refused_operation > *folded) {
    ++*reply.refused_operation;
  }
  if (mutated(Mutation::refused_told_applied)) {
    reply.code = ReplyCode::ok;
    reply.operations.resize(members[refused].transaction.operations.size());
  }
  end_waiting(members[refused].monitor);
  listener_.on_reply(members[refused].tag, std::move(reply));
}

void GroupingSession::forget_monitor(std::string_view monitor) {
  const auto names_its_nodes = [monitor](const Member& one) {
    return one.monitor == monitor && !makes_monitor(one.transaction);
  };
  for (auto& [tag, members] : groups_) {
    for (Member& member : members) member.gone |= names_its_nodes(member);
  }
  if (const auto found = waiting_.find(monitor); found != waiting_.end()) {
    for (Follower& follower : found->second) follower.gone |= names_nodes(follower.request);
  }
  const auto held = held_back_.take(names_its_nodes);
  if (!held) return;
  end_waiting(held->monitor);
  answer(held->tag, ReplyCode::connection_loss);  // as good as sent: what is left of it is found out
}

// The monitor's transaction is in its place: so may be what follows it.
void GroupingSession::end_waiting(const std::string& monitor) {
  auto ended = waiting_.extract(monitor);
  if (ended.empty() || mutated(Mutation::followers_forgotten)) return;
  for (Follower& follower : ended.mapped()) {
    if (follower.gone) {
      answer(follower.tag, ReplyCode::connection_loss);  // as good as sent: what is left of it is found out
    } else {
      submit(follower.tag, std::move(follower.request));
    }
  }
}

// What has not been sent will not be, and its sender is told as if it had been: over the next connection it would be
// out of order.
void GroupingSession::fail_waiting(ReplyCode code) {
  if (mutated(Mutation::held_back_over_loss)) return;
  auto held_back = std::exchange(held_back_, {});
  const auto waiting = std::exchange(waiting_, {});
  while (!held_back.empty()) answer(held_back.take_front().tag, code);
  for (const auto& [monitor, followers] : waiting) {
    for (const Follower& follower : followers) answer(follower.tag, code);
  }
}

void GroupingSession::answer(RequestTag tag, ReplyCode code) {
  Reply reply;
  reply.code = code;
  listener_.on_reply(tag, std::move(reply));
}

void GroupingSession::on_watch(const coordination::WatchEvent& event) {
  listener_.on_watch(event);
  const std::string_view path = event.path;
  const bool monitor = path.size() > 1 && path.find('/', 1) == std::string_view::npos;
  if (event.kind == coordination::WatchEvent::Kind::deleted && monitor) forget_monitor(path.substr(1));
}

// The session below has answered everything that was under way.
void GroupingSession::on_session(const coordination::SessionEvent& event) {
  using Kind = coordination::SessionEvent::Kind;
  loss_.reset();
  if (event.kind != Kind::connected) {
    fail_waiting(event.kind == Kind::expired ? ReplyCode::session_expired : ReplyCode::connection_loss);
  }
  listener_.on_session(event);
}

}  // namespace forelock::grouping
