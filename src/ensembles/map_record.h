// A MapRecord is the node that each of several ensembles has: the map by which its clients find monitors.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ensembles/ensemble_map.h"

namespace forelock::ensembles {

// In the namespace of the monitors; no monitor has such a name (lock/monitor_name.h).
inline constexpr std::string_view map_node_name = "%forelock-ensembles";

struct MapRecord {
  std::string ensemble;                // the identity of the ensemble that has this node
  std::vector<std::string> ensembles;  // of all of them, sorted
  std::string method;
  std::string fingerprint;
  bool agreed = false;  // the same map has been seen in all of them

  bool operator==(const MapRecord&) const = default;
};

MapRecord record_of(const EnsembleMap& map, std::size_t ensemble, bool agreed);

// One line of JSON with the keys agreed, ensemble, ensembles, fingerprint, method.
std::string to_json(const MapRecord& record);
// Nothing if it is no such record. Unknown keys are ignored. Never throws for bad input.
std::optional<MapRecord> map_record_from_json(std::string_view json);

}  // namespace forelock::ensembles
