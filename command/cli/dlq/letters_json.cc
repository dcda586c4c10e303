#include "cli/dlq/letters_json.h"

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/dlq/letters_text.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

using Json = nlohmann::ordered_json;

Json instant(const std::optional<WallTime>& time) {
  return time ? Json(records::format_wall_time(*time)) : Json(nullptr);
}

Json counts(const std::map<std::string, std::uint64_t>& names) {
  Json json = Json::object();
  for (const auto& [name, count] : names) json[name] = count;
  return json;
}

}  // namespace

Json json_of(const std::vector<FailedAttempt>& attempts) {
  Json list = Json::array();
  for (const FailedAttempt& attempt : attempts) {
    list.push_back({{"n", attempt.number},
                    {"at", records::format_wall_time(attempt.at)},
                    {"code", attempt.code},
                    {"message", attempt.message},
                    {"waited_ms", attempt.waited.count()}});
  }
  return list;
}

Json json_of(const drain::StoredLetter& stored, WallTime now) {
  const DeadLetter& letter = stored.letter;
  return {{"id", letter.id},
          {"type", letter.type},
          {"monitor", letter.monitor},
          {"priority", std::string(name_of(letter.priority))},
          {"reason", letter.reason},
          {"message", letter.attempts.empty() ? "" : letter.attempts.back().message},
          {"attempts", letter.attempts.size()},
          {"max_attempts", letter.max_attempts},
          {"failed_at", instant(letter.failed_at)},
          {"enqueued_at", instant(letter.enqueued_at)},
          {"age_ms", age_of(letter.failed_at, now).count()},
          {"replay_count", letter.replay_count},
          {"tries", stored.tries},
          {"state", std::string(text_of(stored.state))},
          {"position", stored.position},
          {"payload_bytes", letter.payload.size()}};
}

Json json_of(const drain::UnreadableLetter& letter) {
  return {{"unreadable", true},
          {"position", letter.position},
          {"monitor", letter.monitor.empty() ? Json(nullptr) : Json(letter.monitor)},
          {"code", letter.code},
          {"message", letter.message},
          {"record_bytes", letter.record.size()}};
}

Json json_of(const drain::LetterStatistics& statistics, WallTime now) {
  return {{"letters", statistics.letters},
          {"unreadable", statistics.unreadable_letters},
          {"bytes", statistics.bytes},
          {"oldest_failed_at", instant(statistics.oldest)},
          {"oldest_age_ms", statistics.oldest ? Json(age_of(*statistics.oldest, now).count()) : Json(nullptr)},
          {"newest_failed_at", instant(statistics.newest)},
          {"by_reason", counts(statistics.by_reason)},
          {"by_type", counts(statistics.by_type)},
          {"by_monitor", counts(statistics.by_monitor)},
          {"other_reasons", statistics.other_reasons},
          {"other_types", statistics.other_types},
          {"other_monitors", statistics.other_monitors}};
}

std::string one_line(const std::string& record) {
  if (record.find_first_of("\r\n") == std::string::npos) return record;
  return Json::parse(record).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace forelock::cli
