#include "cli/serve/history/stay_tracker.h"

#include <algorithm>
#include <utility>

namespace forelock::cli {
namespace {

// An end that is explained is seen soon, or never; where many monitors are sampled, not so soon. Pictures are no
// measure: where much changes there are twenty of them in a second.
constexpr std::chrono::seconds until_end{60};
constexpr std::size_t most_ends = 10'000;

std::string identity_of(const std::optional<OwnerRecord>& owner, const std::optional<std::string>& node,
                        std::int64_t token) {
  if (owner && !owner->guid.empty()) return owner->guid;
  return node ? "node " + *node : "token " + std::to_string(token);
}

std::string identity_of(const HolderView& holder) {
  return identity_of(holder.owner, holder.node, holder.token);
}

std::string identity_of(const WaiterView& waiter) {
  return identity_of(waiter.owner, waiter.node, 0);
}

std::string key_of(Stay::Kind kind, const std::string& monitor, const std::string& identity) {
  return std::string(kind == Stay::Kind::hold ? "h" : "w") + monitor + '\0' + identity;
}

// Of a holder or a waiter.
template <class View>
Stay stay_of(Stay::Kind kind, const std::string& monitor, const View& view, WallTime from) {
  Stay stay;
  stay.kind = kind;
  stay.monitor = monitor;
  stay.identity = identity_of(view);
  if (view.owner) {
    stay.who = view.owner->instance;
    stay.info = view.owner->lock_info;
  }
  stay.priority = view.priority;
  stay.from = from;
  return stay;
}

WallTime held_since(const Sighting& monitor) {
  return monitor.at() - monitor.view().holder->held;
}

bool holds_now(const Picture& picture, const Stay& waited) {
  const Sighting* const monitor = picture.find(waited.monitor);
  return monitor != nullptr && monitor->view().holder && identity_of(*monitor->view().holder) == waited.identity;
}

}  // namespace

void StayTracker::resume(const std::vector<Stay>& open, WallTime last_look) {
  for (const Stay& stay : open) open_[key_of(stay.kind, stay.monitor, stay.identity)] = {stay};
  last_ = last_look;
}

void StayTracker::adopt(const std::vector<Stay>& open) {
  for (const Stay& stay : open) {
    const auto known = open_.find(key_of(stay.kind, stay.monitor, stay.identity));
    if (known != open_.end()) known->second.stay.id = stay.id;
  }
}

void StayTracker::number_from(std::int64_t next_id) {
  next_id_ = std::max(next_id_, next_id);
}

std::vector<Stay> StayTracker::take(const Picture& picture) {
  ++pictures_;
  // A process that was resumed has not looked before its first picture.
  const bool watched_on = watched_ && picture.begun() - begun_ <= picture.fresh_for();
  std::vector<Stay> changes;
  const auto sweep = [&](std::map<std::string, Open>::iterator begin, const auto& is_end) {
    for (auto place = begin; place != open_.end() && !is_end(place->first);) {
      Open& open = place->second;
      std::optional<WallTime>& unseen_since = open.stay.unseen_since;
      const bool is_closed = open.seen != pictures_ && picture.why_unreadable(open.stay.monitor) != nullptr;
      if (is_closed && !unseen_since && (unseen_since = last_)) changes.push_back(open.stay);
      if (is_closed || open.seen == pictures_) {
        ++place;
        continue;
      }
      const auto since = std::exchange(unseen_since, std::nullopt);
      end(open.stay, picture, watched_on || since ? since : last_.value_or(open.stay.from));
      changes.push_back(place->second.stay);
      if (changes.back().kind == Stay::Kind::hold && changes.back().outcome.empty() && ended_.size() < most_ends)
        ended_[place->first] = {std::move(place->second.stay), picture.begun()};
      place = open_.erase(place);
    }
  };
  if (const auto* changed = picture.changed_since(last_number_)) {
    for (const std::string& monitor : *changed) take_monitor(picture.find(monitor), changes);
    for (const std::string& monitor : *changed) {
      for (const Stay::Kind kind : {Stay::Kind::hold, Stay::Kind::wait}) {
        const std::string start = key_of(kind, monitor, {});
        sweep(open_.lower_bound(start), [&start](const std::string& key) { return !key.starts_with(start); });
      }
    }
  } else {
    for (const SharedSighting& sighting : picture.monitors()) take_monitor(sighting.get(), changes);
    sweep(open_.begin(), [](const std::string&) { return false; });
  }
  last_number_ = picture.number();
  std::erase_if(ends_, [&picture](const auto& end) { return end.second.told + until_end < picture.begun(); });
  std::erase_if(ended_, [&picture](const auto& ended) { return ended.second.seen + until_end < picture.begun(); });
  // A clock that was put back would turn spans round.
  const WallTime from = watched_on ? std::min(watched_->from, picture.wall()) : picture.wall();
  watched_ = {from, picture.wall()};
  begun_ = picture.begun();
  last_ = picture.wall();
  return changes;
}

void StayTracker::take_monitor(const Sighting* sighting, std::vector<Stay>& changes) {
  if (sighting == nullptr) return;
  const MonitorView& view = sighting->view();
  if (const auto& holder = view.holder) {
    const std::string key = key_of(Stay::Kind::hold, view.monitor, identity_of(*holder));
    if (!goes_on(key, changes)) {
      Stay stay = stay_of(Stay::Kind::hold, view.monitor, *holder, sighting->at() - holder->held);
      stay.token = holder->token;
      stay.texts = sighting->texts();
      begin(key, std::move(stay), changes);
    }
  }
  for (std::size_t i = 0; i < view.queue.size(); ++i) {
    const WaiterView& waiter = view.queue[i];
    const std::string key = key_of(Stay::Kind::wait, view.monitor, identity_of(waiter));
    if (goes_on(key, changes)) continue;
    Stay stay = stay_of(Stay::Kind::wait, view.monitor, waiter, sighting->at() - waiter.waited);
    stay.texts = sighting->texts(i);
    begin(key, std::move(stay), changes);
  }
}

bool StayTracker::goes_on(const std::string& key, std::vector<Stay>& changes) {
  const auto known = open_.find(key);
  if (known == open_.end()) return false;
  known->second.seen = pictures_;
  Stay& stay = known->second.stay;
  if (std::exchange(stay.unseen_since, std::nullopt)) changes.push_back(stay);
  return true;
}

void StayTracker::begin(const std::string& key, Stay stay, std::vector<Stay>& changes) {
  stay.id = next_id_++;
  changes.push_back(stay);
  open_[key] = {std::move(stay), pictures_};
}

void StayTracker::end(Stay& stay, const Picture& picture, std::optional<WallTime> unseen_from) {
  const auto explained = ends_.find(key_of(stay.kind, stay.monitor, stay.identity));
  stay.to = std::max(stay.from, unseen_from.value_or(picture.wall()));
  if (explained != ends_.end()) {
    stay.outcome = explained->second.outcome;
    stay.reason = explained->second.reason;
    ends_.erase(explained);
  } else if (stay.kind == Stay::Kind::wait && holds_now(picture, stay)) {
    stay.outcome = "granted";
    stay.to = std::max(stay.from, held_since(*picture.find(stay.monitor)));
  } else if (unseen_from) {
    stay.outcome = "unseen";
  }
}

std::optional<Stay> StayTracker::explain_end(const std::string& monitor, const HolderView& holder,
                                             const std::string& outcome, const std::string& reason) {
  const std::string key = key_of(Stay::Kind::hold, monitor, identity_of(holder));
  if (const auto ended = ended_.find(key); ended != ended_.end()) {
    Stay stay = std::move(ended->second.stay);
    ended_.erase(ended);
    stay.outcome = outcome;
    stay.reason = reason;
    return stay;
  }
  if (ends_.size() < most_ends) ends_[key] = {outcome, reason, begun_};
  return std::nullopt;
}

std::vector<Stay> StayTracker::open() const {
  std::vector<Stay> stays;
  stays.reserve(open_.size());
  for (const auto& [key, open] : open_) stays.push_back(open.stay);
  return stays;
}

}  // namespace forelock::cli
