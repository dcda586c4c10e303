#include "web/admins.h"

#include <random>
#include <utility>

namespace forelock::web {
namespace {

constexpr std::string_view scheme = "Bearer ";
constexpr std::chrono::minutes window{1};

// As long for every text of this length.
bool same(std::string_view given, std::string_view expected) {
  unsigned difference = given.size() == expected.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char other = expected.empty() ? '\0' : expected[i % expected.size()];
    difference |= static_cast<unsigned>(given[i] != other);
  }
  return difference == 0;
}

std::string new_secret() {
  std::random_device random;
  constexpr char digits[] = "0123456789abcdef";
  std::string secret;
  for (int i = 0; i < 32; ++i) secret += digits[random() % 16];
  return secret;
}

}  // namespace

bool RateLimit::take() {
  const auto now = std::chrono::steady_clock::now();
  if (now - begun_ >= window) {
    begun_ = now;
    taken_ = 0;
  }
  if (taken_ >= most_) return false;
  ++taken_;
  return true;
}

Admins::Admins(std::vector<Admin> admins) : admins_(std::move(admins)), csrf_(new_secret()) {}

std::optional<std::string> Admins::who(std::string_view authorization) const {
  if (!authorization.starts_with(scheme)) return std::nullopt;
  const std::string_view given = authorization.substr(scheme.size());
  const auto now = std::chrono::system_clock::now();
  std::optional<std::string> found;
  for (const Admin& admin : admins_) {  // all of them, always
    const bool same_token = same(given, admin.token) && !admin.token.empty();
    if (same_token && (!admin.until || now < *admin.until)) found = admin.name;
  }
  return found;
}

std::optional<std::string> Admins::named(std::string_view name) const {
  const auto now = std::chrono::system_clock::now();
  for (const Admin& admin : admins_) {
    if (admin.name == name && (!admin.until || now < *admin.until)) return admin.name;
  }
  return std::nullopt;
}

bool Admins::is_csrf(std::string_view text) const {
  return same(text, csrf_);
}

bool is_own_origin(std::string_view origin, std::string_view host) {
  for (const std::string_view start : {"http://", "https://"}) {
    if (origin.starts_with(start)) return origin.substr(start.size()) == host;
  }
  return false;
}

}  // namespace forelock::web
