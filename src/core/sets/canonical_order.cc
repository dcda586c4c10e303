#include "sets/canonical_order.h"

#include <algorithm>
#include <numeric>

#include "sets/mutation.h"

namespace forelock::sets {

std::vector<std::size_t> canonical_order(const std::vector<std::string>& names) {
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Bytes compare as unsigned (std::char_traits), so the order is the same on every machine.
  const auto before = [&](std::size_t a, std::size_t b) { return names[a] < names[b]; };
  if (!mutated(Mutation::order_of_the_caller)) std::stable_sort(order.begin(), order.end(), before);
  const auto same = [&](std::size_t a, std::size_t b) { return names[a] == names[b]; };
  order.erase(std::unique(order.begin(), order.end(), same), order.end());
  return order;
}

}  // namespace forelock::sets
