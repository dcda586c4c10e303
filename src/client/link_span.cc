#include "client/link_span.h"

#include <algorithm>
#include <limits>

#include "client/client_core.h"

namespace forelock::client {

LinkSpan::LinkSpan(const ClientCore& core, const std::vector<std::string>& node_names) {
  for (std::size_t i = 0; i < node_names.size(); ++i) {
    EnsembleLink* const link = &core.home_of(node_names[i]);
    if (std::find(links_.begin(), links_.end(), link) != links_.end()) continue;
    links_.push_back(link);
    first_members_.push_back(i);
    if (links_.size() == core.ensembles()) break;
  }
}

bool LinkSpan::is_first_of_its_ensemble(std::size_t member) const {
  return std::find(first_members_.begin(), first_members_.end(), member) != first_members_.end();
}

std::int64_t LinkSpan::valid_until() const {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const EnsembleLink* link : links_) least = std::min(least, link->valid_until());
  return least;
}

std::int64_t LinkSpan::suspect_from() const {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const EnsembleLink* link : links_) least = std::min(least, link->suspect_from());
  return least;
}

bool LinkSpan::connected() const {
  return std::all_of(links_.begin(), links_.end(), [](const EnsembleLink* link) { return link->connected(); });
}

std::chrono::milliseconds LinkSpan::session_timeout() const {
  std::chrono::milliseconds longest{0};
  for (const EnsembleLink* link : links_) longest = std::max(longest, link->session_timeout());
  return longest;
}

void LinkSpan::tick() const {
  for (EnsembleLink* link : links_) link->tick();
}

std::string LinkSpan::names() const {
  std::string names;
  for (const EnsembleLink* link : links_) names += (names.empty() ? "" : ", ") + link->name();
  return names;
}

}  // namespace forelock::client
