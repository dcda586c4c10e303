#include "client/letter_origin.h"

#include <unistd.h>

#include "forelock/version.h"

namespace forelock::client {

DeadLetterOrigin letter_origin(const std::string& instance) {
  DeadLetterOrigin origin;
  origin.host = instance.substr(0, instance.find('/'));
  origin.pid = getpid();
  origin.instance = instance;
  origin.version = version();
  return origin;
}

}  // namespace forelock::client
