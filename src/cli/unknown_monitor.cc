#include "cli/unknown_monitor.h"

#include "cli/exit_code.h"
#include "cli/failure.h"

namespace forelock::cli {

void throw_unknown_monitor(const std::string& monitor) {
  throw FailureException({exit_failed,
                          "unknown_monitor",
                          "there is no monitor '" + monitor + "': nobody holds it or waits for it",
                          "forelock ls --all",
                          monitor,
                          false,
                          {}});
}

}  // namespace forelock::cli
