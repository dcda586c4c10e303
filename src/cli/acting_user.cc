#include "cli/acting_user.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>

namespace forelock::cli {
namespace {

std::string name_of(uid_t user) {
  const passwd* entry = getpwuid(user);
  return entry != nullptr ? entry->pw_name : std::to_string(user);
}

// Empty where nobody has logged in: in a container, in a service.
std::string login_name() {
  std::uint32_t login = std::numeric_limits<std::uint32_t>::max();
  if (!(std::ifstream("/proc/self/loginuid") >> login)) return {};
  return login == std::numeric_limits<std::uint32_t>::max() ? "" : name_of(login);
}

}  // namespace

std::string acting_user() {
  const std::string own = name_of(geteuid());
  std::string person = login_name();
  const char* const sudo = std::getenv("SUDO_USER");
  if (person.empty() && sudo != nullptr) person = sudo;
  return person.empty() || person == own ? own : person + " (as " + own + ')';
}

}  // namespace forelock::cli
