#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <clocale>

#include "cli/exit_code.h"
#include "cli/left_behind.h"
#include "cli/program.h"

namespace {

// A closed standard stream must not come back as the next socket: results would be written into it. To write into a
// closed stdout remains an error: an export that nobody gets must not look like one.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void end_by(int signal) {
  _exit(forelock::cli::exit_signalled(signal));
}

// The kernel spares the first process of a container (or of a PID namespace) all signals that it does not handle.
void take_signals_as_first_process() {
  if (getpid() != 1) return;
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_DFL) signal(number, end_by);
  }
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  signal(SIGPIPE, SIG_IGN);  // a reader that goes away is noticed by write()
  signal(SIGXFSZ, SIG_IGN);  // so is a file that may not become larger
  std::setlocale(LC_CTYPE, "C.UTF-8");
  take_signals_as_first_process();
  const int exit_code = forelock::cli::run_program({argv + 1, argv + argc});
  // Neither destructors nor the C library may touch what such a thread still uses.
  if (forelock::cli::something_is_left_behind()) _exit(exit_code);
  return exit_code;
}
