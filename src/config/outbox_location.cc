#include "config/outbox_location.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <vector>

namespace forelock::config {
namespace {

// A relative path is to be ignored, says the XDG Base Directory Specification; a relative home is of no more use.
std::string absolute_from_environment(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no thread sets variables
  return value != nullptr && *value == '/' ? value : "";
}

std::string home_of_user() {
  std::vector<char> buffer(16'384);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return "";
  return entry.pw_dir != nullptr && *entry.pw_dir == '/' ? entry.pw_dir : "";
}

}  // namespace

std::string default_outbox_path() {
  std::string state = absolute_from_environment("XDG_STATE_HOME");
  if (state.empty()) {
    std::string home = absolute_from_environment("HOME");
    if (home.empty()) home = home_of_user();
    if (home.empty()) return "";
    state = home + "/.local/state";
  }
  return state + "/forelock/outbox.db";
}

}  // namespace forelock::config
