#include "lock/session_proof.h"

#include <algorithm>

#include "lock/mutation.h"

namespace forelock::lock {

void SessionProof::opened(TimePoint asked_at, Duration timeout) {
  timeout_ = timeout;
  alive_at_ = asked_at;
  resumed_from_ = {};
  answered_.clear();
}

void SessionProof::resumed(Duration timeout) {
  // A new leader counts by the time-out of the session's creation, whatever was granted at a reconnect.
  timeout_ = std::min(timeout_, timeout);
  if (!answered_.empty()) resumed_from_ = std::max(resumed_from_, answered_.back().sent);
  answered_.clear();
}

void SessionProof::ended() {
  alive_at_ = resumed_from_ = {};
  answered_.clear();
}

void SessionProof::answered(TimePoint sent, bool write, TimePoint now) {
  if (write) {
    alive_at_ = std::max(alive_at_, resumed_from_);
    if (mutated(Mutation::deadline_from_receive_time)) alive_at_ = now;
    if (mutated(Mutation::deadline_without_reports)) alive_at_ = std::max(alive_at_, sent);
  }
  while (write && !answered_.empty() && answered_.front().at + report_delay() <= sent) {
    alive_at_ = std::max(alive_at_, answered_.front().sent);
    answered_.pop_front();
  }
  while (!answered_.empty() && answered_.front().sent + timeout_ <= now) answered_.pop_front();
  // One in 64 parts of a time-out is enough, and bounds their number.
  if (answered_.empty() || answered_.back().sent + timeout_ / 64 <= sent) answered_.push_back({sent, now});
}

TimePoint SessionProof::valid_until() const {
  if (mutated(Mutation::no_deadline)) return never;
  return alive_at_ == TimePoint{} ? alive_at_ : alive_at_ + timeout_;
}

TimePoint SessionProof::worth_asking() const {
  if (resumed_from_ > alive_at_) return resumed_from_;
  return answered_.empty() ? never : answered_.front().at + report_delay();
}

}  // namespace forelock::lock
