#include "cli/serve/admin_tokens.h"

#include <algorithm>
#include <cstddef>
#include <sstream>

#include "cli/exit_code.h"
#include "cli/failure.h"
#include "config/private_file.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

constexpr std::size_t longest_file = 64 * 1024;
constexpr std::size_t shortest_token = 32;
constexpr const char* format_hint =
    "a line for each admin: NAME TOKEN, the token from 'openssl rand -hex 32', and if it is to end a time, "
    "2026-12-31T00:00:00Z";

[[noreturn]] void throw_bad_file(const std::string& path, const std::string& what, const std::string& hint) {
  throw FailureException({exit_configuration, "admin_tokens", path + ": " + what, hint, {}, false, {}});
}

bool is_visible(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

web::Admin admin_of(const std::string& line, const std::string& path, std::size_t number) {
  const std::string where = path + ':' + std::to_string(number);
  std::istringstream words(line);
  web::Admin admin;
  std::string until;
  std::string more;
  words >> admin.name >> admin.token >> until >> more;
  const bool by_proxy = admin.token == "-";  // and by no token
  if (by_proxy) admin.token.clear();
  if (!is_visible(admin.name) || !is_visible(admin.token) || !more.empty() ||
      (!by_proxy && admin.token.size() < shortest_token))
    throw_bad_file(where, "not a name and a token of at least 32 characters", format_hint);
  if (until.empty()) return admin;
  const auto time = records::parse_wall_time(until);
  if (!time) throw_bad_file(where, "what follows the token is no time", format_hint);
  admin.until = *time;
  return admin;
}

}  // namespace

std::vector<web::Admin> read_admins(const std::string& path) {
  const auto read = config::read_private_file(path, longest_file, "the tokens of the admins");
  if (const auto* fault = std::get_if<config::Fault>(&read)) throw_bad_file(path, fault->message, fault->hint);
  const std::string& text = std::get<std::string>(read);
  if (text.size() > longest_file) throw_bad_file(path, "longer than 64 KiB", format_hint);
  std::vector<web::Admin> admins;
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos || line.starts_with('#')) continue;
    admins.push_back(admin_of(line, path, number));
  }
  if (admins.empty()) throw_bad_file(path, "names no admin", format_hint);
  return admins;
}

}  // namespace forelock::cli
