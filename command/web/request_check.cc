#include "web/request_check.h"

#include <algorithm>

#include "base/utf8.h"

namespace forelock::web {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_digit(text[i + 1]);
    const int low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    result += static_cast<char>(high * 16 + low);
    i += 2;
  }
  if (!base::is_utf8(result)) return std::nullopt;
  return result;
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

// "name", "name:80" and "[::1]:80" without port and brackets.
std::optional<std::string_view> name_of(std::string_view host) {
  std::string_view name = host;
  std::string_view rest;
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    name = host.substr(1, end - 1);
    rest = host.substr(end + 1);
  } else if (const std::size_t colon = host.find(':'); colon != std::string_view::npos) {
    name = host.substr(0, colon);
    rest = host.substr(colon);
  }
  if (name.empty()) return std::nullopt;
  if (rest.empty()) return name;
  const bool is_port = rest.size() > 1 && rest.size() <= 6 && rest[0] == ':' &&
                       std::all_of(rest.begin() + 1, rest.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_port ? std::optional(name) : std::nullopt;
}

}  // namespace

bool has_doubtful_lines(std::string_view header) {
  for (std::size_t i = 0; i < header.size(); ++i) {
    const char c = header[i];
    const char next = i + 1 < header.size() ? header[i + 1] : '\0';
    if (c == '\n' && (next == ' ' || next == '\t')) return true;
    if (c == '\r' && next != '\n') return true;
    if (c == '\n' && (i == 0 || header[i - 1] != '\r')) return true;
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\r' && c != '\n' && c != '\t') || byte == 0x7f) return true;
  }
  return false;
}

void HostNames::allow(std::string_view name) {
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  names_.push_back(lower_case(name));
}

bool HostNames::allows(std::string_view host_header) const {
  const auto name = name_of(host_header);
  return name && std::find(names_.begin(), names_.end(), lower_case(*name)) != names_.end();
}

std::optional<Target> parse_target(std::string_view target) {
  Target result;
  if (const std::size_t mark = target.find('?'); mark != std::string_view::npos) {
    result.query = target.substr(mark + 1);
    target = target.substr(0, mark);
  }
  if (!target.starts_with('/') || target.find('#') != std::string_view::npos) return std::nullopt;
  target.remove_prefix(1);
  while (!target.empty()) {
    const std::size_t slash = target.find('/');
    const auto segment = decoded(target.substr(0, slash));
    if (!segment || segment->empty() || *segment == "." || *segment == "..") return std::nullopt;
    result.path.push_back(*segment);
    target = slash == std::string_view::npos ? std::string_view() : target.substr(slash + 1);
  }
  return result;
}

std::optional<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> result;
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    std::string part(query.substr(0, end));
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
    if (part.empty()) continue;
    std::replace(part.begin(), part.end(), '+', ' ');
    const std::size_t sign = part.find('=');
    auto name = decoded(std::string_view(part).substr(0, sign));
    auto value = decoded(sign == std::string::npos ? std::string_view() : std::string_view(part).substr(sign + 1));
    if (!name || !value) return std::nullopt;
    if (std::any_of(result.begin(), result.end(), [&](const auto& earlier) { return earlier.first == *name; }))
      return std::nullopt;
    result.emplace_back(*std::move(name), *std::move(value));
  }
  return result;
}

}  // namespace forelock::web
