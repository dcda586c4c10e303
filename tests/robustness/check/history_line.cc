#include "robustness/check/history_line.h"

namespace forelock::robustness {

std::optional<HistoryLine> HistoryLine::parse(std::string_view text, std::string where) {
  nlohmann::json object = nlohmann::json::parse(text, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  return HistoryLine(std::move(object), std::move(where));
}

void HistoryLine::wrong(const std::string& problem) const {
  throw HistoryError(where_ + ": " + problem + ": " +
                     object_.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

const nlohmann::json& HistoryLine::at(const char* key) const {
  const auto found = object_.find(key);
  if (found == object_.end()) wrong(std::string("no \"") + key + "\"");
  return *found;
}

const std::string& HistoryLine::text(const char* key) const {
  const nlohmann::json& value = at(key);
  if (!value.is_string()) wrong(std::string("\"") + key + "\" is no text");
  return value.get_ref<const std::string&>();
}

std::int64_t HistoryLine::integer(const char* key) const {
  const nlohmann::json& value = at(key);
  if (!value.is_number_integer()) wrong(std::string("\"") + key + "\" is no integer");
  return value.get<std::int64_t>();
}

bool HistoryLine::truth(const char* key) const {
  const nlohmann::json& value = at(key);
  if (!value.is_boolean()) wrong(std::string("\"") + key + "\" is neither true nor false");
  return value.get<bool>();
}

Instant HistoryLine::time() const {
  const std::int64_t t = integer("t");
  if (t <= 0) wrong("\"t\" is no time");
  return Instant(std::chrono::nanoseconds(t));
}

std::int64_t HistoryLine::decimal(const char* key) const {
  const std::string& value = text(key);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) wrong(std::string("\"") + key + "\" is no number");
  return number;
}

std::int64_t HistoryLine::session(const char* key) const {
  if (at(key).is_number_integer()) return integer(key);
  const std::string& value = text(key);
  if (!value.starts_with("0x")) return decimal(key);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data() + 2, value.data() + value.size(), number, 16);
  if (error != std::errc() || end != value.data() + value.size()) wrong(std::string("\"") + key + "\" is no session");
  return static_cast<std::int64_t>(number);
}

std::string HistoryLine::identity(const char* key) const {
  const nlohmann::json& value = at(key);
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return std::to_string(value.get<std::int64_t>());
  wrong(std::string("\"") + key + "\" is neither text nor an integer");
}

}  // namespace forelock::robustness
