#include "lock/session_proof.h"

#include <algorithm>

#include "lock/mutation.h"

namespace forelock::lock {

void SessionProof::opened(TimePoint asked_at, Duration timeout) {
  timeout_ = timeout;
  alive_at_ = heard_of_ = asked_at;
  answered_.clear();
  listed_.clear();
  last_kept_ = {};
}

void SessionProof::resumed(Duration timeout) {
  // A new leader counts by the time-out of the session's creation, whatever was granted at a reconnect.
  timeout_ = std::min(timeout_, timeout);
  heard_of_ = std::max(heard_of_, last_kept_);
  last_kept_ = {};
  if (mutated(Mutation::reconnect_proves)) alive_at_ = std::max(alive_at_, heard_of_);
  answered_.clear();
  listed_.clear();
}

void SessionProof::ended() {
  alive_at_ = heard_of_ = last_kept_ = {};
  answered_.clear();
  listed_.clear();
}

void SessionProof::answered(TimePoint sent, Reach reach, TimePoint now) {
  if (reach != Reach::server) {
    for (; !listed_.empty() && listed_.front().at <= sent; listed_.pop_front()) {
      heard_of_ = std::max(heard_of_, listed_.front().sent);
    }
    TimePoint newest{};
    for (; !answered_.empty() && answered_.front().at + question_interval() <= sent; answered_.pop_front()) {
      newest = answered_.front().sent;
    }
    if (newest != TimePoint{}) listed_.push_back({newest, now});
  }
  if (reach == Reach::quorum) {
    alive_at_ = std::max(alive_at_, heard_of_);
    if (mutated(Mutation::deadline_from_receive_time)) alive_at_ = now;
    if (mutated(Mutation::deadline_without_reports)) alive_at_ = std::max(alive_at_, sent);
  }
  for (std::deque<Answered>* kept : {&answered_, &listed_}) {
    while (!kept->empty() && kept->front().sent + timeout_ <= now) kept->pop_front();
  }
  // One in 64 parts of a time-out is enough, and bounds their number.
  if (last_kept_ != TimePoint{} && sent < last_kept_ + timeout_ / 64) return;
  last_kept_ = sent;
  answered_.push_back({sent, now});
}

TimePoint SessionProof::valid_until() const {
  if (mutated(Mutation::no_deadline)) return never;
  return alive_at_ == TimePoint{} ? alive_at_ : alive_at_ + timeout_;
}

TimePoint SessionProof::worth_asking() const {
  if (heard_of_ > alive_at_) return heard_of_;
  if (!listed_.empty()) return listed_.front().at;
  return answered_.empty() ? never : answered_.front().at + question_interval();
}

}  // namespace forelock::lock
