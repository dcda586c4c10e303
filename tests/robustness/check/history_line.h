// One line of a history, and what its keys must be.
#pragma once

#include <nlohmann/json.hpp>

#include "robustness/check/history.h"

namespace forelock::robustness {

class HistoryLine {
 public:
  // \param where for messages: file and line. Nothing if the text is no JSON object.
  static std::optional<HistoryLine> parse(std::string_view text, std::string where);

  bool has(const char* key) const { return object_.contains(key); }
  // All of these throw HistoryError for a key that is missing or not what it should be.
  const std::string& text(const char* key) const;
  std::int64_t integer(const char* key) const;
  bool truth(const char* key) const;
  Instant time() const;  // t
  // A decimal number as text, as JSON has no integers of 64 bits.
  std::int64_t decimal(const char* key) const;
  // A session's number: as an integer, or as text, decimal or hexadecimal (0x…).
  std::int64_t session(const char* key) const;
  // Whatever it is that pairs two events.
  std::string identity(const char* key) const;
  template <typename Value>
  std::optional<Value> optional(const char* key, Value (HistoryLine::*get)(const char*) const) const {
    if (!has(key) || object_.at(key).is_null()) return std::nullopt;
    return (this->*get)(key);
  }

  [[noreturn]] void wrong(const std::string& problem) const;

 private:
  HistoryLine(nlohmann::json object, std::string where) : object_(std::move(object)), where_(std::move(where)) {}
  const nlohmann::json& at(const char* key) const;

  nlohmann::json object_;
  std::string where_;
};

}  // namespace forelock::robustness
