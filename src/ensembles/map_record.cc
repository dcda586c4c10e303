#include "ensembles/map_record.h"

#include <nlohmann/json.hpp>

namespace forelock::ensembles {
namespace {

using Json = nlohmann::json;

// Longer input is no record, and not parsed.
constexpr std::size_t max_input = 64 * 1024;
constexpr int max_depth = 4;

std::optional<std::string> text_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

}  // namespace

MapRecord record_of(const EnsembleMap& map, std::size_t ensemble, bool agreed) {
  return {map.identities()[ensemble], map.identities(), std::string(EnsembleMap::method), map.fingerprint(), agreed};
}

std::string to_json(const MapRecord& record) {
  const Json json{{"agreed", record.agreed},
                  {"ensemble", record.ensemble},
                  {"ensembles", record.ensembles},
                  {"fingerprint", record.fingerprint},
                  {"method", record.method}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<MapRecord> map_record_from_json(std::string_view text) {
  if (text.size() > max_input) return std::nullopt;
  bool too_deep = false;
  const auto look = [&too_deep](int depth, Json::parse_event_t, Json&) {
    if (depth > max_depth) too_deep = true;
    return !too_deep;
  };
  const Json json = Json::parse(text, look, false);
  if (too_deep || !json.is_object()) return std::nullopt;
  MapRecord record;
  const auto ensemble = text_at(json, "ensemble");
  const auto method = text_at(json, "method");
  const auto fingerprint = text_at(json, "fingerprint");
  const auto all = json.find("ensembles");
  const auto agreed = json.find("agreed");
  if (!ensemble || !method || !fingerprint || all == json.end() || !all->is_array()) return std::nullopt;
  for (const Json& one : *all) {
    if (!one.is_string()) return std::nullopt;
    record.ensembles.push_back(one.get<std::string>());
  }
  if (record.ensembles.empty()) return std::nullopt;
  record.ensemble = *ensemble;
  record.method = *method;
  record.fingerprint = *fingerprint;
  record.agreed = agreed != json.end() && agreed->is_boolean() && agreed->get<bool>();
  return record;
}

}  // namespace forelock::ensembles
