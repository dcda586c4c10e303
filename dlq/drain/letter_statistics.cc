#include "drain/letter_statistics.h"

#include <algorithm>

namespace forelock::drain {
namespace {

void count(std::map<std::string, std::uint64_t>& names, std::uint64_t& others, const std::string& name) {
  const auto known = names.find(name);
  if (known != names.end()) {
    ++known->second;
  } else if (names.size() < LetterStatistics::max_names) {
    names.emplace(name, 1);
  } else {
    ++others;
  }
}

}  // namespace

bool LetterStatistics::letter(const StoredLetter& letter) {
  ++letters;
  bytes += letter.record.size();
  const WallTime failed_at = letter.letter.failed_at;
  oldest = oldest ? std::min(*oldest, failed_at) : failed_at;
  newest = newest ? std::max(*newest, failed_at) : failed_at;
  count(by_reason, other_reasons, letter.letter.reason);
  count(by_type, other_types, letter.letter.type);
  count(by_monitor, other_monitors, letter.letter.monitor);
  return true;
}

bool LetterStatistics::unreadable(const UnreadableLetter& letter) {
  ++unreadable_letters;
  bytes += letter.record.size();
  return true;
}

std::uint64_t overtaken_by(const LetterFilter& filter, LetterStore& store) {
  LetterFilter all;
  all.parked = filter.parked;
  if (filter.parked || filter.empty()) return 0;
  Overtaken overtaken(filter);
  store.scan(all, overtaken);
  return overtaken.count();
}

}  // namespace forelock::drain
