// A program that takes one lock while it holds another, for tests of what `serve` says of it.
//
// nested_locks SERVERS INFO: one thread, which reads "lock MONITOR" and "unlock MONITOR", a line each, and answers
// "done" when it is done, or the problem; at the end of the input it unlocks all.
#include "forelock/forelock.h"
#include "support/standard.h"

namespace {

void take(forelock::Client& client, std::map<std::string, forelock::BlockingWriteLock>& held, const std::string& info,
          const std::string& monitor) {
  const auto lock = held.try_emplace(monitor, client, info, monitor).first;
  if (!lock->second.try_lock_for(std::chrono::minutes(5))) held.erase(lock);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 64;
  try {
    forelock::Settings settings;
    settings.set("zookeeper.servers", arguments[1]);
    forelock::Client client(settings);
    std::map<std::string, forelock::BlockingWriteLock> held;
    std::string line;
    while (std::getline(std::cin, line)) {
      std::istringstream words(line);
      std::string what;
      std::string monitor;
      words >> what >> monitor;
      if (what == "lock") {
        take(client, held, arguments[2], monitor);
      } else if (const auto lock = held.find(monitor); lock != held.end()) {
        lock->second.unlock();
        held.erase(lock);
      }
      std::cout << "done" << std::endl;
    }
    return 0;
  } catch (const std::exception& problem) {
    std::cout << problem.what() << std::endl;
    return 1;
  }
}
