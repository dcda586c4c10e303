#include "records/holder_json.h"

#include "records/wall_time.h"

namespace forelock::records {
namespace {

void append_time(std::string_view key, const std::optional<WallTime>& time, std::string& out) {
  if (!time) return;
  out += '"';
  out += key;
  out += "\":\"";
  append_wall_time(*time, out);
  out += "\",";
}

}  // namespace

void append_holder_times(const std::optional<WallTime>& acquired_at, const std::optional<WallTime>& alert_at,
                         const std::optional<WallTime>& auto_unlock_at, std::string& out) {
  append_time("acquiredAt", acquired_at, out);
  append_time("alertAt", alert_at, out);
  append_time("autoUnlockAt", auto_unlock_at, out);
}

std::string holder_json(std::string_view waiting_json, const HolderTimes& times) {
  std::string json;
  json.reserve(waiting_json.size() + holder_times_bytes);
  json += '{';
  append_holder_times(times.acquired_at, times.alert_at, times.auto_unlock_at, json);
  json += waiting_json.substr(1);
  return json;
}

}  // namespace forelock::records
