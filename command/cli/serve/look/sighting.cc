#include "cli/serve/look/sighting.h"

#include <algorithm>

#include "client/monitor_reading.h"

namespace forelock::cli {
namespace {

void give_back(std::optional<OwnerRecord>& owner, const SharedTexts& texts) {
  if (!owner || !texts) return;
  owner->stack = texts->stack;
  owner->set_members = texts->set_members;
}

}  // namespace

RecordTexts take_texts(OwnerRecord& record) {
  return {std::exchange(record.stack, {}), std::exchange(record.set_members, {})};
}

Sighting::Sighting(MonitorView view, WallTime at)
    : Sighting(std::move(view), at, [](const std::string&, OwnerRecord& record) {
        return std::make_shared<const RecordTexts>(take_texts(record));
      }) {}

const std::vector<std::string>& Sighting::stack_of(const SharedTexts& texts) {
  static const std::vector<std::string> none;
  return texts ? texts->stack : none;
}

// A clock that was put back makes nothing shorter.
std::chrono::milliseconds Sighting::later(WallTime now) const {
  return std::max(now - at_, std::chrono::milliseconds(0));
}

MonitorView Sighting::full(WallTime now, std::size_t most) const {
  const auto end = view_.queue.begin() + static_cast<std::ptrdiff_t>(std::min(view_.queue.size(), most));
  MonitorView view{view_.monitor, view_.path, view_.holder, {view_.queue.begin(), end}, view_.next_sequence};
  const std::chrono::milliseconds more = later(now);
  if (view.holder) {
    give_back(view.holder->owner, holder_);
    view.holder->held += more;
  }
  for (std::size_t i = 0; i < view.queue.size(); ++i) {
    give_back(view.queue[i].owner, waiters_[i]);
    view.queue[i].waited += more;
  }
  return view;
}

MonitorSummary Sighting::summary(WallTime now) const {
  MonitorSummary summary = client::summary_of(view_);
  const std::chrono::milliseconds more = later(now);
  if (summary.holder) {
    give_back(summary.holder->owner, holder_);
    summary.holder->held += more;
  }
  if (summary.oldest_wait) *summary.oldest_wait += more;
  return summary;
}

}  // namespace forelock::cli
