#include "records/contender_record.h"

#include "records/holder_json.h"
#include "records/wall_time.h"

namespace forelock::records {

ContenderRecord::ContenderRecord(const OwnerRecord& record, std::optional<std::chrono::milliseconds> expected_runtime,
                                 std::optional<std::chrono::milliseconds> auto_unlock_after)
    : json_(record.to_json()), expected_runtime_(expected_runtime), auto_unlock_after_(auto_unlock_after) {
  json_.shrink_to_fit();  // it is kept for as long as its contender
  // A quote within a text is escaped, so a key with its quotes is found nowhere else.
  constexpr std::string_view guid = "\"guid\":\"";
  guid_.begin = json_.find(guid) + guid.size();
  guid_.end = guid_.begin + record.guid.size();
  constexpr std::string_view priority = "\"priority\":\"";
  behind_priority_ = json_.find('"', json_.find(priority) + priority.size()) + 1;
  if (const std::size_t begin = json_.find(",\"setMembers\":["); begin != std::string::npos) {
    set_members_ = {begin, json_.find(",\"setSize\":", begin)};
  }
  if (const std::size_t begin = json_.find(",\"stack\":["); begin != std::string::npos) {
    stack_ = {begin, json_.size() - 1};
  }
}

std::string ContenderRecord::waiting(std::string_view guid) const {
  std::string json = json_;
  return json.replace(guid_.begin, guid_.end - guid_.begin, guid);
}

// The key comes next in order; what it takes is less than what is left for the holder's times.
std::string ContenderRecord::moved(std::string_view guid) const {
  std::string json = waiting(guid);
  std::string rank = ",\"rank\":\"";
  rank.append(name_of(all_priorities.front())).append("\"");
  return json.insert(behind_priority_, rank);
}

std::string ContenderRecord::claiming(std::string_view guid) const {
  const std::string_view all = json_;
  std::string json;
  json.reserve(all.size());
  json.append(all.substr(0, guid_.begin)).append(guid);
  std::size_t from = guid_.end;
  for (const Part& left_out : {set_members_, stack_}) {
    if (left_out.end == 0) continue;
    json.append(all.substr(from, left_out.begin - from));
    from = left_out.end;
  }
  return json.append(all.substr(from));
}

std::string ContenderRecord::holding(std::string_view guid) const {
  HolderTimes times;
  times.acquired_at = wall_time_now();
  if (expected_runtime_) times.alert_at = later(times.acquired_at, *expected_runtime_);
  if (auto_unlock_after_) times.auto_unlock_at = later(times.acquired_at, *auto_unlock_after_);
  std::string json = holder_json(json_, times);
  const std::size_t moved = json.size() - json_.size();
  return json.replace(guid_.begin + moved, guid_.end - guid_.begin, guid);
}

}  // namespace forelock::records
