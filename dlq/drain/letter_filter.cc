#include "drain/letter_filter.h"

#include <algorithm>

#include "drain/letter_store.h"

namespace forelock::drain {
namespace {

bool allows(const std::vector<std::string>& values, const std::string& value) {
  return values.empty() || std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

bool LetterFilter::empty() const {
  return ids.empty() && monitors.empty() && types.empty() && reasons.empty() && !since && !until;
}

bool LetterFilter::matches(const DeadLetter& letter) const {
  return allows(ids, letter.id) && allows(monitors, letter.monitor) && allows(types, letter.type) &&
         allows(reasons, letter.reason) && (!since || letter.failed_at >= *since) &&
         (!until || letter.failed_at < *until);
}

bool LetterFilter::matches(const UnreadableLetter& letter) const {
  return allows(ids, letter.position) && allows(monitors, letter.monitor) && allows(reasons, letter.code) &&
         types.empty() && !since && !until;
}

}  // namespace forelock::drain
