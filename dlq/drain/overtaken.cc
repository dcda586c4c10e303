#include "drain/overtaken.h"

namespace forelock::drain {

std::uint64_t overtaken_by(const LetterFilter& filter, LetterStore& store) {
  LetterFilter all;
  all.parked = filter.parked;
  if (filter.parked || filter.empty()) return 0;
  Overtaken overtaken(filter);
  store.scan(all, overtaken);
  return overtaken.count();
}

}  // namespace forelock::drain
