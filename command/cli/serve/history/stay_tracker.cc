#include "cli/serve/history/stay_tracker.h"

#include <algorithm>
#include <utility>

namespace forelock::cli {
namespace {

constexpr std::uint64_t pictures_until_end = 20;  // an end that is explained is seen soon, or never
constexpr std::size_t most_ends = 10'000;

std::string identity_of(const std::optional<OwnerRecord>& owner, const std::optional<std::string>& node,
                        std::int64_t token) {
  if (owner && !owner->guid.empty()) return owner->guid;
  return node ? "node " + *node : "token " + std::to_string(token);
}

std::string key_of(Stay::Kind kind, const std::string& monitor, const std::string& identity) {
  return std::string(kind == Stay::Kind::hold ? "h" : "w") + monitor + '\0' + identity;
}

Stay stay_of(Stay::Kind kind, const std::string& monitor, const std::optional<OwnerRecord>& owner) {
  Stay stay;
  stay.kind = kind;
  stay.monitor = monitor;
  if (owner) {
    stay.who = owner->instance;
    stay.info = owner->lock_info;
  }
  return stay;
}

Stay stay_of(const std::string& monitor, const HolderView& holder, WallTime now) {
  Stay stay = stay_of(Stay::Kind::hold, monitor, holder.owner);
  stay.identity = identity_of(holder.owner, holder.node, holder.token);
  stay.priority = holder.priority;
  stay.token = holder.token;
  stay.from = now - holder.held;
  return stay;
}

Stay stay_of(const std::string& monitor, const WaiterView& waiter, WallTime now) {
  Stay stay = stay_of(Stay::Kind::wait, monitor, waiter.owner);
  stay.identity = identity_of(waiter.owner, waiter.node, 0);
  stay.priority = waiter.priority;
  stay.from = now - waiter.waited;
  return stay;
}

bool holds_now(const Picture& picture, const Stay& waited) {
  const MonitorView* const view = picture.find(waited.monitor);
  return view != nullptr && view->holder &&
         identity_of(view->holder->owner, view->holder->node, view->holder->token) == waited.identity;
}

}  // namespace

void StayTracker::resume(const std::vector<Stay>& open, WallTime last_look) {
  for (const Stay& stay : open) open_[key_of(stay.kind, stay.monitor, stay.identity)] = {stay, 0};
  last_ = last_look;
}

void StayTracker::number_from(std::int64_t next_id) {
  next_id_ = std::max(next_id_, next_id);
}

std::vector<Stay> StayTracker::take(const Picture& picture) {
  ++pictures_;
  // A process that was resumed has not looked before its first picture.
  const bool goes_on = watched_ && picture.begun() - begun_ <= picture.fresh_for();
  std::vector<Stay> changes;
  for (const MonitorView& view : picture.monitors()) {
    if (view.holder) see(stay_of(view.monitor, *view.holder, picture.wall()), changes);
    for (const WaiterView& waiter : view.queue) see(stay_of(view.monitor, waiter, picture.wall()), changes);
  }
  for (auto place = open_.begin(); place != open_.end();) {
    if (place->second.seen == pictures_) {
      ++place;
      continue;
    }
    end(place->second.stay, picture, !goes_on);
    changes.push_back(std::move(place->second.stay));
    place = open_.erase(place);
  }
  std::erase_if(ends_, [this](const auto& end) { return end.second.told + pictures_until_end < pictures_; });
  // A clock that was put back would turn spans round.
  const WallTime from = goes_on ? std::min(watched_->from, picture.wall()) : picture.wall();
  watched_ = {from, picture.wall()};
  begun_ = picture.begun();
  last_ = picture.wall();
  return changes;
}

void StayTracker::see(Stay stay, std::vector<Stay>& changes) {
  Open& open = open_[key_of(stay.kind, stay.monitor, stay.identity)];
  if (open.stay.id == 0) {
    stay.id = next_id_++;
    open.stay = std::move(stay);
    changes.push_back(open.stay);
  }
  open.seen = pictures_;
}

void StayTracker::end(Stay& stay, const Picture& picture, bool unwatched) {
  const auto explained = ends_.find(key_of(stay.kind, stay.monitor, stay.identity));
  stay.to = std::max(stay.from, unwatched ? last_.value_or(stay.from) : picture.wall());
  if (explained != ends_.end()) {
    stay.outcome = explained->second.outcome;
    stay.reason = explained->second.reason;
    ends_.erase(explained);
  } else if (stay.kind == Stay::Kind::wait && holds_now(picture, stay)) {
    stay.outcome = "granted";
    stay.to = std::max(stay.from, picture.wall() - picture.find(stay.monitor)->holder->held);
  } else if (unwatched) {
    stay.outcome = "unseen";
  }
}

void StayTracker::explain_end(const std::string& monitor, const HolderView& holder, std::string outcome,
                              std::string reason) {
  if (ends_.size() >= most_ends) return;
  const std::string identity = identity_of(holder.owner, holder.node, holder.token);
  ends_[key_of(Stay::Kind::hold, monitor, identity)] = {std::move(outcome), std::move(reason), pictures_};
}

std::vector<Stay> StayTracker::open() const {
  std::vector<Stay> stays;
  stays.reserve(open_.size());
  for (const auto& [key, open] : open_) stays.push_back(open.stay);
  return stays;
}

}  // namespace forelock::cli
