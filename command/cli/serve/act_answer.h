// The common part of the acts of admins: their bodies, and answers in JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/output/json_output.h"
#include "web/site.h"

namespace forelock::cli {

inline constexpr std::size_t longest_act_reason = 1000;

inline web::Response act_said(const nlohmann::ordered_json& json, unsigned status = 200) {
  return {status, "application/json", json_text(json) + '\n', false};
}

inline web::Response act_refused(unsigned status, const std::string& code, const std::string& message) {
  return act_said({{"error", {{"code", code}, {"message", message}}}}, status);
}

// Empty where there is no such text.
inline std::string text_in(const nlohmann::ordered_json& body, const char* name) {
  if (!body.is_object()) return {};
  const auto found = body.find(name);
  return found != body.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// The reason that every act has; else what is answered.
inline std::optional<web::Response> refusal_of_reason(const std::string& reason) {
  if (reason.find_first_not_of(" \t\r\n") != std::string::npos && reason.size() <= longest_act_reason)
    return std::nullopt;
  return act_refused(400, "invalid_argument", "\"reason\" is missing, or longer than 1000 bytes");
}

}  // namespace forelock::cli
