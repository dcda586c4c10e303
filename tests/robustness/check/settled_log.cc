#include "robustness/check/settled_log.h"

namespace forelock::robustness {
namespace {

std::int64_t epoch_of(std::int64_t zxid) {
  return zxid >> 32;
}

// By epoch, the last transaction of which somebody was told.
std::map<std::int64_t, std::int64_t> confirmed(const History& history) {
  std::map<std::int64_t, std::int64_t> last;
  for (const Call& call : history.calls) {
    if (call.granted == never || call.token == 0) continue;
    std::int64_t& known = last[epoch_of(call.token)];
    known = std::max(known, call.token);
  }
  return last;
}

}  // namespace

void settle_log(History& history) {
  const auto told = confirmed(history);
  std::map<std::int64_t, std::int64_t> lost;                             // by epoch, from there on
  std::vector<std::vector<std::int64_t>> made(history.monitors.size());  // zxids by number, rising
  std::vector<std::vector<std::int64_t>> numbers(history.monitors.size());
  for (const LoggedChange& change : history.log) {
    if (change.type == LoggedChange::Type::session_end || change.is_lock) continue;
    auto& zxids = made[change.monitor];
    auto& known = numbers[change.monitor];
    if (change.type == LoggedChange::Type::monitor_made) {
      zxids.clear();
      known.clear();
    }
    if (change.type != LoggedChange::Type::create) continue;
    while (!known.empty() && known.back() >= change.place.number) {
      const std::int64_t zxid = zxids.back();
      const auto last = told.find(epoch_of(zxid));
      if (epoch_of(zxid) != epoch_of(change.zxid) && (last == told.end() || zxid > last->second)) {
        const auto from = lost.try_emplace(epoch_of(zxid), zxid).first;
        from->second = std::min(from->second, zxid);
      }
      zxids.pop_back();
      known.pop_back();
    }
    zxids.push_back(change.zxid);
    known.push_back(change.place.number);
  }
  std::erase_if(history.log, [&](const LoggedChange& change) {
    const auto from = lost.find(epoch_of(change.zxid));
    return from != lost.end() && change.zxid >= from->second;
  });
}

}  // namespace forelock::robustness
