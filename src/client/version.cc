#include "forelock/version.h"

#define FORELOCK_TEXT_OF(number) #number
#define FORELOCK_TEXT(number) FORELOCK_TEXT_OF(number)

namespace forelock {

std::string_view version() noexcept {
  return FORELOCK_TEXT(FORELOCK_VERSION_MAJOR) "." FORELOCK_TEXT(FORELOCK_VERSION_MINOR) "." FORELOCK_TEXT(
      FORELOCK_VERSION_PATCH);
}

}  // namespace forelock
