// A program of somebody else: built outside this repository's build, against the installed tree alone.
#include <forelock/forelock.h>

#include <cstdlib>
#include <iostream>

int main() {
  if (forelock::version() != PACKAGE_VERSION) {
    std::cerr << "the library says " << forelock::version() << ", the package " << PACKAGE_VERSION << '\n';
    return 1;
  }
  const char* servers = std::getenv("FORELOCK_ZOOKEEPER");
  if (servers == nullptr) {
    std::cerr << "FORELOCK_ZOOKEEPER is not set\n";
    return 1;
  }
  try {
    forelock::Client client(forelock::Settings::from_string("", forelock::Settings::Format::properties, "none",
                                                            {{"zookeeper.servers", servers}}));
    forelock::BlockingWriteLock lock(client, "Save Content", "P1");
    lock.lock_with_timeout();
    lock.check_health();
    lock.unlock();
    std::cout << "held P1 with token " << lock.fencing_token() << '\n';
    return lock.fencing_token() > 0 ? 0 : 1;
  } catch (const forelock::Error& error) {
    std::cerr << name_of(error.code()) << ": " << error.what() << '\n';
    return 1;
  }
}
