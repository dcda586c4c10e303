// A process that takes overlapping lock sets again and again, and notices when a member is not its own alone.
//
// set_worker SERVERS DIRECTORY SEED ROUNDS MONITOR...
// In each round it takes a random part of the monitors, in a random order, and makes a file in the directory for each:
// one that exists belongs to another holder. Prints how many rounds it has done, and exits 0; 1 if a file existed, or
// if something was thrown.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "integration/fixture.h"

namespace {

bool visit(const std::string& directory, const std::vector<std::string>& members) {
  std::vector<std::string> files;
  bool alone = true;
  for (const std::string& member : members) {
    files.push_back(directory + "/" + member);
    const int file = open(files.back().c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    alone = alone && file >= 0;
    if (file >= 0) close(file);
  }
  for (const std::string& file : files) unlink(file.c_str());
  return alone;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 6) return 64;
  try {
    const std::string directory = arguments[2];
    std::mt19937 random(static_cast<std::uint32_t>(std::stoul(arguments[3])));
    const int rounds = std::stoi(arguments[4]);
    std::vector<std::string> monitors(arguments + 5, arguments + count);
    forelock::Client client(forelock::test::settings_for(arguments[1]));
    int done = 0;
    for (; done < rounds; ++done) {
      std::shuffle(monitors.begin(), monitors.end(), random);
      const std::size_t size = 1 + random() % monitors.size();
      const std::vector<std::string> members(monitors.begin(), monitors.begin() + static_cast<std::ptrdiff_t>(size));
      forelock::LockSet set(client, "overlapping", members);
      set.lock_with_timeout();
      if (!visit(directory, members)) {
        std::cout << "not alone in round " << done << std::endl;
        return 1;
      }
      set.unlock_or_throw();
    }
    std::cout << done << " rounds" << std::endl;
    return 0;
  } catch (const std::exception& problem) {
    std::cout << "unexpected: " << problem.what() << std::endl;
    return 1;
  }
}
