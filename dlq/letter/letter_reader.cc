// from_json: first the text as a tree of bounded size, then the tree as a letter.
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "letter/base64.h"
#include "letter/letter_json.h"
#include "letter/letter_limits.h"
#include "records/wall_time.h"

namespace forelock::letter {
namespace {

using Json = nlohmann::json;

// A letter has three levels; what is unknown may have some more.
constexpr int max_depth = 32;

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorCode::record_invalid, {}, "Not a dead letter: " + what,
              "Look at the record as it is stored; `forelock dlq purge` or `park` takes it out of the way.");
}

bool is_known(const std::string& key) {
  for (const char* name :
       {"schema", "id", "type", "monitor", "priority", "lockInfo", "payload", "attempts", "max_attempts", "enqueued_at",
        "failed_at", "replay_count", "client", "reason", "traceparent"}) {
    if (key == name) return true;
  }
  return false;
}

// One value of the tree, and where it stands, for messages. The member that it was taken from must outlive it.
class Member {
 public:
  explicit Member(const Json& root) : value_(root) {}

  Member at(const char* key) const {
    const auto found = value_.find(key);
    if (found == value_.end()) fail(Member(value_, this, key, 0).path() + " is missing");
    return {*found, this, key, 0};
  }

  bool has(const char* key) const { return value_.contains(key); }

  const Member& object() const {
    if (!value_.is_object()) refuse("an object");
    return *this;
  }

  std::size_t array_size() const {
    if (!value_.is_array()) refuse("an array");
    return value_.size();
  }
  Member element(std::size_t index) const { return {value_[index], this, nullptr, index}; }

  const std::string& text() const {
    if (!value_.is_string()) refuse("a text");
    return value_.get_ref<const std::string&>();
  }

  template <class Number>
  Number number(Number smallest = 0) const {
    if (!value_.is_number_integer()) refuse("a whole number");
    constexpr auto largest = std::numeric_limits<Number>::max();
    const bool too_large =
        value_.is_number_unsigned() && value_.get<std::uint64_t>() > static_cast<std::uint64_t>(largest);
    if (too_large || std::cmp_less(value_.get<std::int64_t>(), smallest)) {
      fail(path() + " is out of range; " + std::to_string(smallest) + " to " + std::to_string(largest) +
           " is possible");
    }
    return value_.get<Number>();
  }

  WallTime time() const {
    const std::optional<WallTime> time = records::parse_wall_time(text());
    if (!time) fail(path() + " is not a time in ISO 8601, such as 2025-11-21T13:45:00.123Z");
    return *time;
  }

  Priority priority() const {
    if (const auto priority = parse_priority(text())) return *priority;
    fail(path() + " is neither \"foreground\" nor \"background\"");
  }

  std::string bytes() const {
    if (at("encoding").text() != "base64") fail(path() + ".encoding is not \"base64\", the only one that is known");
    std::optional<std::string> bytes = decode_base64(at("data").text());
    if (!bytes) fail(path() + ".data is not base64 (RFC 4648 with padding)");
    return *std::move(bytes);
  }

 private:
  Member(const Json& value, const Member* parent, const char* key, std::size_t index)
      : value_(value), parent_(parent), key_(key), index_(index) {}

  // Put together only when something is wrong: letters are read by the ten thousand.
  std::string path() const {
    if (!parent_) return "the record";
    if (!key_) return parent_->path() + '[' + std::to_string(index_) + ']';
    return parent_->parent_ ? parent_->path() + '.' + key_ : key_;
  }

  [[noreturn]] void refuse(const char* expected) const {
    fail(path() + " is of type " + value_.type_name() + "; " + expected + " was expected");
  }

  const Json& value_;
  const Member* parent_ = nullptr;
  const char* key_ = nullptr;
  std::size_t index_ = 0;
};

Json parse(std::string_view text) {
  if (text.size() > max_letter_bytes) {
    fail("it has " + std::to_string(text.size()) + " bytes; at most " + std::to_string(max_letter_bytes) +
         " are possible");
  }
  const auto keep = [](int depth, Json::parse_event_t event, const Json& value) {
    if (depth > max_depth) fail("it is nested deeper than " + std::to_string(max_depth) + " levels");
    return event != Json::parse_event_t::key || depth != 1 || is_known(value.get_ref<const std::string&>());
  };
  try {
    return Json::parse(text.begin(), text.end(), keep);
  } catch (const Json::parse_error& error) {
    fail("it is not JSON in UTF-8; byte " + std::to_string(error.byte) + " is invalid");
  } catch (const Json::exception&) {  // a number that no machine's number can hold
    fail("it is not valid JSON: a number is out of range");
  }
}

void check_schema(const Member& root) {
  const auto schema = root.at("schema").number<std::int64_t>(1);
  if (schema <= schema_version) return;
  throw Error(ErrorCode::record_too_new, {},
              "The dead letter has schema " + std::to_string(schema) + "; this version of forelock reads up to " +
                  std::to_string(schema_version),
              "Use the version of forelock that wrote it, or a newer one. The record is left as it is.");
}

FailedAttempt attempt_of(const Member& member) {
  FailedAttempt attempt;
  attempt.number = member.at("n").number<std::uint32_t>();
  attempt.at = member.at("at").time();
  attempt.code = member.at("code").text();
  attempt.message = member.at("message").text();
  attempt.waited = std::chrono::milliseconds(member.at("waited_ms").number<std::int64_t>());
  return attempt;
}

DeadLetterOrigin client_of(const Member& member) {
  DeadLetterOrigin client;
  client.host = member.at("host").text();
  client.pid = member.at("pid").number(std::numeric_limits<std::int64_t>::min());
  client.instance = member.at("instance").text();
  client.version = member.at("version").text();
  return client;
}

}  // namespace

DeadLetter from_json(std::string_view json) {
  const Json tree = parse(json);
  const Member top(tree);
  check_schema(top.object());
  DeadLetter letter;
  letter.id = top.at("id").text();
  letter.type = top.at("type").text();
  letter.monitor = top.at("monitor").text();
  letter.priority = top.at("priority").priority();
  letter.lock_info = top.at("lockInfo").text();
  letter.payload = top.at("payload").object().bytes();
  const Member attempts = top.at("attempts");
  for (std::size_t i = 0; i < attempts.array_size(); ++i) {
    letter.attempts.push_back(attempt_of(attempts.element(i).object()));
  }
  letter.max_attempts = top.at("max_attempts").number<std::uint32_t>();
  letter.enqueued_at = top.at("enqueued_at").time();
  letter.failed_at = top.at("failed_at").time();
  letter.replay_count = top.at("replay_count").number<std::uint32_t>();
  letter.client = client_of(top.at("client").object());
  if (top.has("traceparent")) letter.traceparent = top.at("traceparent").text();
  if (const auto flaw = flaw_of(letter)) fail(flaw->message);
  letter.reason = top.has("reason") ? top.at("reason").text() : letter.attempts.back().code;
  return letter;
}

}  // namespace forelock::letter
