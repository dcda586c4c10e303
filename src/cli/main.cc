#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <clocale>

#include "cli/program.h"

namespace {

// A closed standard stream must not come back as the next socket: results would be written into it.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", O_RDWR);
  }
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  signal(SIGPIPE, SIG_IGN);  // a reader that goes away is noticed by write()
  std::setlocale(LC_CTYPE, "C.UTF-8");
  return forelock::cli::run_program({argv + 1, argv + argc});
}
