#include "ensembles/map_agreement.h"

#include <algorithm>
#include <utility>

namespace forelock::ensembles {
namespace {

std::string named(const std::vector<std::string>& identities) {
  std::string text;
  for (const std::string& identity : identities) text += (text.empty() ? "" : "|") + identity;
  return text;
}

// How to go on where nobody can have served a lock by the map that was found.
std::string if_only(const MapRecord& proposed) {
  return proposed.agreed ? ""
                         : "; that map was proposed and never agreed on: if no client has it, \"forelock ensembles "
                           "--forget --all-clients-are-stopped\" removes it";
}

std::string unreadable(const std::string& identity) {
  return "the node /" + std::string(map_node_name) + " of " + identity +
         " holds no map of ensembles that is understood";
}

}  // namespace

std::optional<std::string> difference(const EnsembleMap& ours, std::size_t ensemble, const std::string& found) {
  const std::string& identity = ours.identities()[ensemble];
  const auto record = map_record_from_json(found);
  if (!record) return unreadable(identity);
  const MapRecord own = record_of(ours, ensemble, record->agreed);
  if (*record == own) return std::nullopt;
  if (record->fingerprint == own.fingerprint && record->ensembles == own.ensembles && record->method == own.method) {
    return "the servers " + identity + " are those of the ensemble " + record->ensemble +
           ": two names of zookeeper.servers lead to the same ensemble, or to exchanged ones" + if_only(*record);
  }
  return identity + " belongs to the ensembles " + named(record->ensembles) + " (map " + record->fingerprint +
         "); zookeeper.servers of this client names " + named(own.ensembles) + " (map " + own.fingerprint + ")" +
         if_only(*record);
}

std::optional<std::string> difference(const std::string& identity, const std::string& found) {
  const auto record = map_record_from_json(found);
  if (!record) return unreadable(identity);
  if (record->ensembles == std::vector<std::string>{identity}) return std::nullopt;
  return identity + " is one of the ensembles " + named(record->ensembles) + " (map " + record->fingerprint +
         "); zookeeper.servers of this client names " + identity + " alone" + if_only(*record);
}

MapAgreement::MapAgreement(EnsembleMap map) : map_(std::move(map)), sights_(map_.size()) {}

void MapAgreement::saw(std::size_t ensemble, const std::optional<std::string>& data, int version) {
  Ensemble& one = sights_[ensemble];
  one = {Sight::absent, version, {}};
  if (!data) return;
  if (auto why = difference(map_, ensemble, *data)) {
    one.sight = Sight::other;
    one.refusal = *std::move(why);
    return;
  }
  one.sight = map_record_from_json(*data)->agreed ? Sight::agreed : Sight::proposed;
  seen_in_all();
}

void MapAgreement::made(std::size_t ensemble) {
  sights_[ensemble] = {Sight::proposed, 0, {}};
  seen_in_all();
}

void MapAgreement::changed(std::size_t ensemble) {
  sights_[ensemble] = {};
}

void MapAgreement::marked(std::size_t ensemble) {
  if (sights_[ensemble].sight == Sight::proposed) sights_[ensemble].sight = Sight::agreed;
}

bool MapAgreement::any(Sight sight) const {
  return std::any_of(sights_.begin(), sights_.end(), [sight](const Ensemble& one) { return one.sight == sight; });
}

void MapAgreement::seen_in_all() {
  in_all_ = in_all_ || !(any(Sight::unknown) || any(Sight::absent) || any(Sight::other));
}

// One node after the other, in the order of the map: of two clients with different maps the second one to come to an
// ensemble that they have in common makes no more.
MapAgreement::Step MapAgreement::next_step(std::size_t ensemble) const {
  switch (sights_[ensemble].sight) {
    case Sight::unknown:
      return Step::look;
    case Sight::absent: {
      if (only_looks_) return Step::none;
      if (any(Sight::unknown) || any(Sight::other)) return Step::none;
      const auto first =
          std::find_if(sights_.begin(), sights_.end(), [](const Ensemble& one) { return one.sight == Sight::absent; });
      return first == sights_.begin() + static_cast<std::ptrdiff_t>(ensemble) ? Step::make : Step::none;
    }
    case Sight::proposed:
      return in_all_ && !only_looks_ && !any(Sight::other) ? Step::mark : Step::none;
    case Sight::agreed:
    case Sight::other:
      break;
  }
  return Step::none;
}

std::string MapAgreement::data(std::size_t ensemble) const {
  return to_json(record_of(map_, ensemble, sights_[ensemble].sight == Sight::proposed));
}

bool MapAgreement::may_serve(std::size_t ensemble) const {
  if (any(Sight::other)) return false;
  const Sight sight = sights_[ensemble].sight;
  if (only_looks_) return sight != Sight::unknown;
  return sight == Sight::agreed || (sight == Sight::proposed && in_all_);
}

std::optional<std::string> MapAgreement::refusal() const {
  for (const Ensemble& one : sights_) {
    if (one.sight == Sight::other) return one.refusal;
  }
  return std::nullopt;
}

std::vector<std::size_t> MapAgreement::not_seen() const {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < sights_.size(); ++i) {
    if (sights_[i].sight == Sight::unknown || sights_[i].sight == Sight::absent) numbers.push_back(i);
  }
  return numbers;
}

}  // namespace forelock::ensembles
