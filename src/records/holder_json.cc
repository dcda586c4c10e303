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

std::string holder_json_now(std::string_view waiting_json, std::optional<std::chrono::milliseconds> expected_runtime,
                            std::optional<std::chrono::milliseconds> auto_unlock_after) {
  HolderTimes times;
  times.acquired_at = wall_time_now();
  if (expected_runtime) times.alert_at = times.acquired_at + *expected_runtime;
  if (auto_unlock_after) times.auto_unlock_at = times.acquired_at + *auto_unlock_after;
  return holder_json(waiting_json, times);
}

std::string brief_json(OwnerRecord record) {
  record.stack.clear();
  record.set_members.clear();
  return record.to_json();
}

}  // namespace forelock::records
