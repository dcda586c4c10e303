#include "forward/send_plan.h"

#include <algorithm>

namespace forelock::forward {
namespace {

constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::max();

}  // namespace

bool SendPlan::open() const {
  return !all_held_ && free_rows() > 0 && bytes_ < limits_.bytes && held_.size() < limits_.held_monitors &&
         refused_.size() < limits_.refused_rows;
}

std::size_t SendPlan::free_rows() const {
  const std::size_t free = limits_.rows - under_way_.size();
  if (doubtful_rows_ > 0) return 0;
  return in_groups() ? std::min(free, group_limit_ - std::min(group_limit_, group_rows_)) : free;
}

bool SendPlan::take(const outbox::Row& row) {
  cursor_ = row.sequence;
  return row.state == outbox::RowState::queued && !under_way_.contains(row.ref()) && !refused_.contains(row.ref()) &&
         !held_.contains(row.monitor);
}

void SendPlan::sent(const outbox::Row& row) {
  under_way_.emplace(row.ref(), UnderWay{row.monitor, row.record.size()});
  bytes_ += row.record.size();
  ++group_rows_;
}

void SendPlan::delivered(const outbox::RowRef& row) {
  if (!under_way_.contains(row)) return;
  delivered_.push_back(row);
  ++group_deliveries_;
  retries_ = 0;
  if (unconfirmed() == 0) end_group();
}

void SendPlan::failed(const outbox::RowRef& row, Time now, Holds holds) {
  const auto found = under_way_.find(row);
  if (found == under_way_.end()) return;
  held_.insert(found->second.monitor);
  first_held_ = std::min(first_held_, row.sequence);
  if (!retry_at_) retry_at_ = now + limits_.retry.wait(++retries_, random_());
  if (holds == Holds::all) {
    // One row will find out whether the cause has passed: of many, the first one to meet that might be a later one.
    all_held_ = true;
    group_limit_ = 1;
  }
  forget(row);
  if (unconfirmed() == 0) end_group();
}

bool SendPlan::refused(const outbox::RowRef& row, Time now) {
  if (!under_way_.contains(row)) return false;
  const bool alone = group_rows_ == 1;
  forget(row);
  if (alone) {
    refuse(row, now);
  } else {
    ++doubtful_rows_;
    first_doubtful_ = std::min(first_doubtful_, row.sequence);
  }
  if (unconfirmed() == 0) end_group();
  return alone;
}

void SendPlan::refuse(const outbox::RowRef& row, Time now) {
  refused_.insert(row);
  first_refused_ = std::min(first_refused_, row.sequence);
  if (!refused_until_) refused_until_ = now + limits_.refused_retry;
}

void SendPlan::removed() {
  for (const outbox::RowRef& row : delivered_) forget(row);
  delivered_.clear();
}

std::optional<SendPlan::Time> SendPlan::next_release() const {
  if (retry_at_ && refused_until_) return std::min(*retry_at_, *refused_until_);
  return retry_at_ ? retry_at_ : refused_until_;
}

void SendPlan::release(Time now) {
  if (retry_at_ && *retry_at_ <= now) {
    give_back(first_held_);
    held_.clear();
    all_held_ = false;
    first_held_ = nowhere;
    retry_at_.reset();
  }
  if (refused_until_ && *refused_until_ <= now) {
    give_back(first_refused_);
    refused_.clear();
    first_refused_ = nowhere;
    refused_until_.reset();
  }
}

void SendPlan::forget(const outbox::RowRef& row) {
  const auto found = under_way_.find(row);
  bytes_ -= found->second.bytes;
  under_way_.erase(found);
}

void SendPlan::end_group() {
  if (doubtful_rows_ > 0) {
    group_limit_ = std::max<std::size_t>(1, std::min(group_limit_, doubtful_rows_) / 2);
    give_back(first_doubtful_);
    doubtful_rows_ = 0;
    first_doubtful_ = nowhere;
  } else if (group_deliveries_ > 0 && !all_held_) {
    group_limit_ = std::min(group_limit_ * 2, limits_.rows);
  }
  group_rows_ = 0;
  group_deliveries_ = 0;
}

}  // namespace forelock::forward
