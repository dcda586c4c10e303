// The transactions that a GroupingSession holds back until their turn, at most one of each monitor.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordination/session.h"

namespace forelock::grouping {

struct Member {
  coordination::RequestTag tag = 0;
  coordination::Transaction transaction;
  std::string monitor;
  std::size_t bytes = 0;
  bool gone = false;      // its monitor has been deleted since
  bool unwanted = false;  // it is not sent a second time
  int refusals = 0;       // of groups, for other members
  // In a group: the operation that was sent as one with the next (grouping/folding.h).
  std::optional<std::size_t> folded = {};

  std::size_t operations_sent() const { return transaction.operations.size() - (folded ? 1 : 0); }
};

// One of this many sent is not urgent: else non-urgent ones would never be sent while urgent ones keep coming.
inline constexpr std::size_t one_not_urgent_of = 8;

// In the order of sending: urgent ones before the others, except for that one; each kind in its order of arrival.
class HeldBack {
 public:
  bool empty() const { return lines_[0].empty() && lines_[1].empty(); }
  std::size_t size() const { return lines_[0].size() + lines_[1].size(); }

  void add(Member member) { line_of(member).push_back(std::move(member)); }
  // Before the others of its kind.
  void add_first(Member member) { line_of(member).push_front(std::move(member)); }

  // Of one that is not empty.
  const Member& front() const { return lines_[next_line()].front(); }
  Member take_front() {
    const std::size_t next = next_line();
    urgent_in_a_row_ = next == 0 ? urgent_in_a_row_ + 1 : 0;
    Member member = std::move(lines_[next].front());
    lines_[next].pop_front();
    return member;
  }
  template <class Predicate>
  bool contains(Predicate predicate) const {
    return std::any_of(lines_.begin(), lines_.end(),
                       [&](const auto& line) { return std::any_of(line.begin(), line.end(), predicate); });
  }
  // The first of them, if there is one.
  template <class Predicate>
  std::optional<Member> take(Predicate predicate) {
    for (auto& line : lines_) {
      const auto found = std::find_if(line.begin(), line.end(), predicate);
      if (found == line.end()) continue;
      Member member = std::move(*found);
      line.erase(found);
      return member;
    }
    return std::nullopt;
  }

 private:
  std::deque<Member>& line_of(const Member& member) { return lines_[member.transaction.urgent ? 0 : 1]; }

  std::size_t next_line() const {
    if (lines_[0].empty()) return 1;
    return !lines_[1].empty() && urgent_in_a_row_ + 1 >= one_not_urgent_of ? 1 : 0;
  }

  std::array<std::deque<Member>, 2> lines_;
  std::size_t urgent_in_a_row_ = 0;
};

}  // namespace forelock::grouping
