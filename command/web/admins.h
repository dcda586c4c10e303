// Admins are those who may act, and not only look: who has a token.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forelock::web {

struct Admin {
  std::string name;
  std::string token;                                           // empty: none, a proxy alone knows it
  std::optional<std::chrono::system_clock::time_point> until;  // it is worth nothing from then on
};

// So many things in a minute, and no more.
class RateLimit {
 public:
  explicit RateLimit(std::size_t most) : most_(most) {}
  // Whether one more is permitted now; counts it then.
  bool take();

 private:
  const std::size_t most_;
  std::size_t taken_ = 0;
  std::chrono::steady_clock::time_point begun_;
};

// For the server's thread alone.
class Admins {
 public:
  static constexpr std::size_t most_acts = 30;      // a minute
  static constexpr std::size_t most_failures = 10;  // a minute; what is beyond is answered as such

  explicit Admins(std::vector<Admin> admins);

  bool none() const { return admins_.empty(); }
  // Whose token an Authorization header carries; the time that it takes tells nothing of the tokens.
  std::optional<std::string> who(std::string_view authorization) const;
  // The admin of that name, as a proxy says it.
  std::optional<std::string> named(std::string_view name) const;
  // What an act carries besides: a page of another site cannot read it.
  const std::string& csrf() const { return csrf_; }
  bool is_csrf(std::string_view text) const;

  RateLimit acts{most_acts};
  RateLimit failures{most_failures};

 private:
  std::vector<Admin> admins_;
  std::string csrf_;
};

// Whether an Origin header names the server that the Host header names.
bool is_own_origin(std::string_view origin, std::string_view host);

}  // namespace forelock::web
