#include "capi/owner.h"

#include <utility>

namespace forelock::capi {
namespace {

int64_t milliseconds_of(const std::optional<WallTime>& time) {
  return time ? time->time_since_epoch().count() : -1;
}

}  // namespace

// fl_priority has the classes of Priority, with their numbers.
static_assert(static_cast<int32_t>(Priority::foreground) == FL_FOREGROUND);
static_assert(static_cast<int32_t>(Priority::background) == FL_BACKGROUND);
static_assert(all_priorities.back() == Priority::background);

int32_t to_c(Priority priority) {
  return static_cast<int32_t>(priority);
}

OwnerText::OwnerText(std::optional<OwnerRecord> record) : record_(std::move(record)) {
  if (!record_) return;
  for (const std::string& frame : record_->stack) {
    if (!stack_.empty()) stack_ += '\n';
    stack_ += frame;
  }
}

fl_owner OwnerText::to_c() const {
  if (!record_) return {"", "", "", "", -1, -1, -1, -1, -1, -1};
  return {.lock_info = record_->lock_info.c_str(),
          .instance = record_->instance.c_str(),
          .guid = record_->guid.c_str(),
          .stack = stack_.c_str(),
          .priority = capi::to_c(record_->priority),
          .enqueued_at_ms = record_->enqueued_at.time_since_epoch().count(),
          .acquired_at_ms = milliseconds_of(record_->acquired_at),
          .expected_runtime_ms = record_->expected_runtime ? record_->expected_runtime->count() : -1,
          .alert_at_ms = milliseconds_of(record_->alert_at),
          .auto_unlock_at_ms = milliseconds_of(record_->auto_unlock_at)};
}

int64_t OwnerText::linger_ms() const {
  return record_ && record_->linger ? record_->linger->count() : -1;
}

}  // namespace forelock::capi
