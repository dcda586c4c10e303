#include "robustness/worker/crash_report.h"

#include <execinfo.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "support/standard.h"

namespace forelock::robustness {
namespace {

constexpr int crash_signals[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};
constexpr int max_frames = 48;

// Only calls that are safe in a handler; backtrace() is once it has loaded what it needs.
void report(int number) {
  const char* description = sigabbrev_np(number);
  constexpr char begin[] = "crash: SIG";
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, begin, sizeof begin - 1);
  if (description != nullptr) written = write(STDERR_FILENO, description, strlen(description));
  written = write(STDERR_FILENO, "\n", 1);
  std::array<void*, max_frames> frames{};
  backtrace_symbols_fd(frames.data(), backtrace(frames.data(), max_frames), STDERR_FILENO);
  raise(number);
}

}  // namespace

void report_crashes() {
  std::array<void*, 1> frame{};
  backtrace(frame.data(), 1);
  struct sigaction action {};
  action.sa_handler = report;
  // The second one, which the handler raises, ends the process.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int number : crash_signals) sigaction(number, &action, nullptr);
}

}  // namespace forelock::robustness
