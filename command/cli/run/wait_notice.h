// A WaitNotice tells a person at a terminal what a lock is waited for.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "cli/output/console.h"
#include "forelock/client.h"

namespace forelock::cli {

class WaitNotice {
 public:
  // `monitor`: the one that is waited for; asked when a notice is given. Says nothing with -q or -o json; elsewhere
  // than on a terminal only with -v.
  WaitNotice(std::shared_ptr<Client> client, std::function<std::string()> monitor, const Console& console);

  // When give() is due; never, where nothing is to be said.
  std::chrono::steady_clock::time_point due() const { return due_; }
  // Looks, and tells, in the background: "waiting for P1, held by …; place 2".
  void give();

 private:
  std::shared_ptr<Client> client_;
  std::function<std::string()> monitor_;
  Console console_;
  std::chrono::steady_clock::time_point due_;
};

}  // namespace forelock::cli
