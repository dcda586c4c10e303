// A GroupingSession sends many transactions of one session in one request.
//
// A server's cost is the request; the operations in it are cheap. As long as few transactions are under way none waits,
// so that a caller with one at a time has no extra cost. Beyond that, transactions that are expected to succeed
// (Transaction::groupable) are held back until an answer comes, and are then sent together.
//
// All or nothing: a group that the server refuses was not applied. The member that it could not do has its answer: the
// others are of other monitors and make no difference to it. Those before it are sent again together; those behind it
// are held back once more, and may be withdrawn. A member of several groups that were refused for other members is sent
// by itself. An unwanted one is not sent again. A lost answer is lost for every member.
//
// If a monitor is deleted while a transaction of it is held back, or in a group that is then refused, the transaction
// is not sent any more, since in a monitor created anew the same names may be other clients' nodes; unless it creates
// the monitor itself, and so names no earlier node. A write that waits behind such a transaction is not sent either.
//
// A member's node that is created empty and written at once is created with its data (grouping/folding.h): its version
// is 0 then, not 1.
//
// Foreground claims and releases are urgent (Transaction::urgent) and go before background claims that are held back: a
// process that begins thousands of these delays no other lock. If urgent ones never end, one of eight sent is not
// urgent.
//
// Order: requests of one monitor (the first component of a path; of a transaction, that of its first operation) are
// applied in the order of submission: while a transaction is held back, or under way in a group, what follows for its
// monitor waits. Requests of different monitors may overtake each other, and so may their replies. When the session is
// reconnected nothing is held back: a first write still separates later requests from earlier ones.
//
// Pure: no clock, no threads. Not thread-safe: the driver serialises calls from both sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "coordination/session.h"
#include "grouping/held_back.h"

namespace forelock::grouping {

struct GroupingLimits {
  // Groupable transactions under way up to which none is held back: a server writes so few to its disk at once, and to
  // hold one back would only cost time.
  std::size_t at_once = 8;
  // Beyond that, requests with groupable transactions under way. Two keep the server busy while the answers to one of
  // them are worked on. Another one waits until as many transactions have gathered as are under way: answers come in
  // groups, and the first of what follows from them would go by themselves.
  std::size_t under_way = 2;
  // Of one group. A transaction that exceeds them by itself goes by itself.
  std::size_t operations = 1536;
  std::size_t bytes = 192 * 1024;
  std::size_t root_bytes = 0;  // how much longer than here each path is on the wire, by the chroot
  // A server keeps its last transactions in memory, 500 unless zookeeper.commitLogCount says otherwise, in three forms
  // each. So a request may have more than `sustained_bytes` only as long as those before it have had less: what all of
  // them together have had beyond that is at most `burst_bytes`. Then they take no more than 100 MB of its heap.
  std::size_t sustained_bytes = 64 * 1024;
  std::size_t burst_bytes = 4 * 1024 * 1024;
};

class GroupingSession final : public coordination::Session, public coordination::SessionListener {
 public:
  // Set in the tags of requests below: callers use none of these bits.
  static constexpr coordination::RequestTag alone_tag = coordination::RequestTag{1} << 61;
  static constexpr coordination::RequestTag group_tag = coordination::RequestTag{1} << 60;

  // The listener outlives the session.
  GroupingSession(GroupingLimits limits, coordination::SessionListener& listener);

  // The session below, whose listener is this one; null for none. Requests submitted for the former one are forgotten.
  void use(coordination::Session* session);

  // Groupable transactions wait for the next flush() at least. Replies of one monitor come in the order of its
  // requests, but for those of writes that are not sent since it was deleted.
  void submit(coordination::RequestTag tag, coordination::Request request) override;
  // Withdraws an unsent request: true, and there is no reply. False: it is too late.
  bool withdraw(coordination::RequestTag tag);
  // Marks a request under way as unwanted: if its group is refused for another member, it is not sent again, but
  // answered as if it had been refused.
  void unwanted(coordination::RequestTag tag);
  // Sends all that may be sent. Call it at the end of every step of the driver with a submission or a delivery.
  void flush();

  void on_reply(coordination::RequestTag tag, coordination::Reply reply) override;
  void on_watch(const coordination::WatchEvent& event) override;
  void on_session(const coordination::SessionEvent& event) override;

  // Handed to the sessions below so far.
  std::uint64_t requests() const { return requests_; }

 private:
  struct Follower {
    coordination::RequestTag tag = 0;
    coordination::Request request;
    bool gone = false;  // its monitor has been deleted since
  };

  void send(coordination::RequestTag tag, coordination::Request request);
  void submit_removal(coordination::RequestTag tag, coordination::Request request);
  bool withdraw_follower(coordination::RequestTag tag);
  void send_alone(Member member);
  void send_group();
  void send_together(std::vector<Member> members);
  bool may_send() const;
  bool fits(std::size_t operations, std::size_t bytes) const;
  std::size_t group_bytes() const;
  void note_sent(std::size_t transactions, std::size_t bytes);
  void group_answered(coordination::RequestTag tag, coordination::Reply reply);
  void tell_members(std::vector<Member> members, coordination::Reply reply);
  void group_refused(std::vector<Member> members, coordination::Reply reply);
  void forget_monitor(std::string_view monitor);
  void end_waiting(const std::string& monitor);
  void note_answer(coordination::ReplyCode code);
  void fail_waiting(coordination::ReplyCode code);
  void answer(coordination::RequestTag tag, coordination::ReplyCode code);

  const GroupingLimits limits_;
  coordination::SessionListener& listener_;
  coordination::Session* session_ = nullptr;

  HeldBack held_back_;
  std::unordered_map<coordination::RequestTag, std::vector<Member>> groups_;  // under way
  // The monitors of both, each with what waits for the answer.
  std::map<std::string, std::vector<Follower>, std::less<>> waiting_;
  std::size_t under_way_ = 0;     // groups, and transactions that could have been in one
  std::size_t transactions_ = 0;  // in these
  std::size_t burst_ = 0;         // bytes beyond the sustained ones that have not been made up for
  std::size_t unanswered_ = 0;    // of all requests
  // The connection has gone: what is held back is answered with this code behind so many more answers.
  struct Loss {
    coordination::ReplyCode code = coordination::ReplyCode::connection_loss;
    std::size_t behind = 0;
  };
  std::optional<Loss> loss_;
  coordination::RequestTag next_group_ = group_tag;
  std::uint64_t requests_ = 0;
};

}  // namespace forelock::grouping
