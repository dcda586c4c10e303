#include "records/record_reader.h"

#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "records/wall_time.h"

namespace forelock::records {
namespace {

using Json = nlohmann::json;

constexpr std::size_t max_depth = 16;
constexpr std::size_t max_frames = 256;  // and members of a set

enum class Field {
  none,
  acquired_at,
  alert_at,
  auto_unlock_at,
  by_wish,
  enqueued_at,
  expected_runtime,
  fencing_token,
  guid,
  instance,
  linger,
  lock_info,
  max_wait,
  priority,
  rank,
  set,
  set_members,
  set_size,
  stack,
  wish
};

Field field_of(std::string_view key) {
  constexpr std::array<std::pair<std::string_view, Field>, 19> known{{{"acquiredAt", Field::acquired_at},
                                                                      {"alertAt", Field::alert_at},
                                                                      {"autoUnlockAt", Field::auto_unlock_at},
                                                                      {"byWish", Field::by_wish},
                                                                      {"enqueuedAt", Field::enqueued_at},
                                                                      {"expectedRuntimeMs", Field::expected_runtime},
                                                                      {"fencingToken", Field::fencing_token},
                                                                      {"guid", Field::guid},
                                                                      {"instance", Field::instance},
                                                                      {"lingerMs", Field::linger},
                                                                      {"lockInfo", Field::lock_info},
                                                                      {"maxWaitMs", Field::max_wait},
                                                                      {"priority", Field::priority},
                                                                      {"rank", Field::rank},
                                                                      {"set", Field::set},
                                                                      {"setMembers", Field::set_members},
                                                                      {"setSize", Field::set_size},
                                                                      {"stack", Field::stack},
                                                                      {"wish", Field::wish}}};
  for (const auto& [name, field] : known) {
    if (name == key) return field;
  }
  return Field::none;
}

// Receives the parser's events and keeps only what belongs to a record: no tree is built, whatever the input is. Every
// method returns whether to go on.
class Reader final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return field_ == Field::none || depth_ > 1; }
  bool boolean(bool value) override {
    if (depth_ != 1 || field_ != Field::by_wish) return is_ignored();
    record_.by_wish = value;
    return true;
  }
  bool number_float(double, const std::string&) override { return is_ignored(); }
  bool binary(Json::binary_t&) override { return false; }

  bool number_integer(std::int64_t value) override {
    return is_ignored() || (value >= 0 && set_number(static_cast<std::uint64_t>(value)));
  }
  bool number_unsigned(std::uint64_t value) override { return is_ignored() || set_number(value); }

  bool string(std::string& value) override {
    if (depth_ == 0) return false;
    if (array_ != nullptr) return depth_ != 2 || add_text(value);
    return depth_ > 1 || set(value);
  }

  bool start_object(std::size_t) override { return (depth_ == 0 || is_ignored()) && ++depth_ <= max_depth; }
  bool end_object() override { return --depth_, true; }
  bool key(std::string& name) override {
    if (depth_ == 1) field_ = field_of(name);
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ == 1 && (field_ == Field::stack || field_ == Field::set_members)) {
      array_ = field_ == Field::stack ? &record_.stack : &record_.set_members;
      array_->clear();
    } else if (!is_ignored()) {
      return false;
    }
    return ++depth_ <= max_depth;
  }
  bool end_array() override {
    if (--depth_ == 1) array_ = nullptr;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

  std::optional<OwnerRecord> take() {
    if (!identified_) return std::nullopt;
    return std::move(record_);
  }

 private:
  static constexpr std::uint64_t max_runtime = std::uint64_t{1} << 53;
  static constexpr std::uint64_t max_token = std::numeric_limits<std::int64_t>::max();

  // Inside an unknown key's value, which may be anything.
  bool is_ignored() const { return depth_ >= 1 && field_ == Field::none; }

  bool set_number(std::uint64_t value) {
    if (depth_ != 1) return false;
    if (field_ == Field::expected_runtime && value <= max_runtime) {
      record_.expected_runtime = std::chrono::milliseconds(static_cast<std::int64_t>(value));
      return true;
    }
    if (field_ == Field::linger && value <= max_runtime) {
      record_.linger = std::chrono::milliseconds(static_cast<std::int64_t>(value));
      return true;
    }
    if (field_ == Field::max_wait && value <= max_runtime) {
      record_.max_wait = std::chrono::milliseconds(static_cast<std::int64_t>(value));
      return true;
    }
    if (field_ == Field::set_size) {
      record_.set_size = value;
      return true;
    }
    if (field_ == Field::fencing_token && value <= max_token) {
      record_.fencing_token = static_cast<std::int64_t>(value);
      return true;
    }
    return false;
  }

  bool add_text(std::string& text) {
    if (array_->size() < max_frames) array_->push_back(std::move(text));
    return true;
  }

  bool set_identity(std::string& target, std::string& value) {
    target = std::move(value);
    identified_ = true;
    return true;
  }

  template <class Target>
  static bool set_time(Target& target, const std::string& value) {
    const std::optional<WallTime> time = parse_wall_time(value);
    if (time) target = *time;
    return time.has_value();
  }

  bool set(std::string& value) {
    switch (field_) {
      case Field::none:
        return true;
      case Field::acquired_at:
        return set_time(record_.acquired_at, value);
      case Field::alert_at:
        return set_time(record_.alert_at, value);
      case Field::auto_unlock_at:
        return set_time(record_.auto_unlock_at, value);
      case Field::enqueued_at:
        return set_time(record_.enqueued_at, value);
      case Field::guid:
        return set_identity(record_.guid, value);
      case Field::instance:
        return set_identity(record_.instance, value);
      case Field::lock_info:
        return set_identity(record_.lock_info, value);
      case Field::priority:
        if (const auto priority = parse_priority(value)) {
          record_.priority = *priority;
          return true;
        }
        return false;
      case Field::rank:
        record_.rank = parse_priority(value);
        return record_.rank.has_value();
      case Field::wish:
        record_.wish = parse_priority(value);
        return record_.wish.has_value();
      case Field::set:
        record_.set = std::move(value);
        return true;
      case Field::by_wish:
      case Field::expected_runtime:
      case Field::fencing_token:
      case Field::linger:
      case Field::max_wait:
      case Field::set_members:
      case Field::set_size:
      case Field::stack:
        break;
    }
    return false;
  }

  OwnerRecord record_;
  std::size_t depth_ = 0;
  Field field_ = Field::none;                  // the record's key whose value is being read
  std::vector<std::string>* array_ = nullptr;  // the record's array that is being read
  bool identified_ = false;
};

}  // namespace

std::optional<OwnerRecord> read_record(std::string_view json) {
  if (json.empty() || json.size() > max_record_input) return std::nullopt;
  Reader reader;
  if (!Json::sax_parse(json, &reader)) return std::nullopt;
  return reader.take();
}

}  // namespace forelock::records
