// A process that takes a lock again and again, for tests that kill it.
//
// lock_worker SERVERS MONITOR RESOURCE KEY=VALUE...
//   class=foreground|background  rounds=N (0: until killed)  hold=MS  mode=blocking|async  who=WORD
//   again=1                      does the same again after SIGUSR1
//   zookeeper.…=VALUE            any setting
// Prints what it did when it has finished; exits 0, or 1 when something unexpected was thrown.
#include <signal.h>

#include "integration/fixture.h"
#include "integration/load.h"

int main(int count, char** arguments) {
  if (count < 4) return 64;
  try {
    forelock::Settings settings = forelock::test::settings_for(arguments[1]);
    forelock::test::LoadOptions options;
    bool again = false;
    options.monitor = arguments[2];
    options.resource = arguments[3];
    for (int i = 4; i < count; ++i) {
      const std::string argument = arguments[i];
      const auto equals = argument.find('=');
      const std::string key = argument.substr(0, equals);
      const std::string value = argument.substr(equals + 1);
      if (key == "class") {
        options.priority = value == "background" ? forelock::Priority::background : forelock::Priority::foreground;
      } else if (key == "rounds") {
        options.rounds = std::stoi(value);
      } else if (key == "hold") {
        options.hold = std::chrono::milliseconds(std::stoi(value));
      } else if (key == "mode") {
        options.async = value == "async";
      } else if (key == "again") {
        again = value == "1";
      } else if (key == "who") {
        options.who = value;
      } else {
        settings.set(key, value);
      }
    }
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    forelock::Client client(settings);
    std::cout << forelock::test::run_load(client, options) << std::endl;
    int signal = 0;
    if (again && sigwait(&signals, &signal) == 0) std::cout << forelock::test::run_load(client, options) << std::endl;
    return 0;
  } catch (const std::exception& problem) {
    std::cout << "unexpected: " << problem.what() << std::endl;
    return 1;
  }
}
