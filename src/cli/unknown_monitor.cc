#include "cli/unknown_monitor.h"

#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/servers_text.h"

namespace forelock::cli {

void throw_unknown_monitor(const std::string& monitor, const Settings& settings) {
  throw FailureException(
      {exit_failed,
       "unknown_monitor",
       "there is no monitor '" + monitor + "' at " + servers_text(settings) + ": nobody holds it or waits for it",
       "forelock ls --all",
       monitor,
       false,
       {}});
}

}  // namespace forelock::cli
