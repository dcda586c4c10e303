// A process that takes locks and lives on with them until it is killed.
//
// session_file_worker SERVERS LOCKS KEY=VALUE...
//   fork=1             a forked child, which executes nothing, outlives it
//   clients=N          so many clients take the locks of each
//   zookeeper.…=VALUE  any setting
// Takes the monitors P0, P1, …; those of the second client are Q0, Q1, …. Then prints "held", with fork=1 and the id of
// the child.
#include <signal.h>
#include <unistd.h>

#include "integration/fixture.h"

int main(int count, char** arguments) {
  if (count < 3) return 64;
  try {
    forelock::Settings settings = forelock::test::settings_for(arguments[1]);
    const int locks = std::stoi(arguments[2]);
    int clients = 1;
    bool forks = false;
    for (int i = 3; i < count; ++i) {
      const std::string argument = arguments[i];
      const auto equals = argument.find('=');
      const std::string key = argument.substr(0, equals);
      const std::string value = argument.substr(equals + 1);
      if (key == "fork") {
        forks = value == "1";
      } else if (key == "clients") {
        clients = std::stoi(value);
      } else {
        settings.set(key, value);
      }
    }
    std::vector<std::unique_ptr<forelock::Client>> connected;
    std::vector<std::unique_ptr<forelock::BlockingWriteLock>> held;
    for (int i = 0; i < clients; ++i) {
      forelock::Client& client = *connected.emplace_back(std::make_unique<forelock::Client>(settings));
      for (int k = 0; k < locks; ++k) {
        const std::string monitor = static_cast<char>('P' + i) + std::to_string(k);
        held.push_back(std::make_unique<forelock::BlockingWriteLock>(client, "held", monitor));
        held.back()->lock_with_timeout();
      }
    }
    pid_t child = 0;
    if (forks) {
      child = fork();
      if (child == 0) {
        alarm(120);
        while (true) pause();
      }
    }
    std::cout << "held " << child << std::endl;
    while (true) pause();
  } catch (const std::exception& problem) {
    std::cout << "unexpected: " << problem.what() << std::endl;
    return 1;
  }
}
