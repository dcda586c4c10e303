// A contention_worker, and what it says of itself.
#pragma once

#include <sys/types.h>

#include "support/child_process.h"

namespace forelock::robustness {

// Not thread-safe.
class ContenderProcess {
 public:
  using State = std::map<std::string, std::int64_t>;

  // `settings` as KEY=VALUE; what it writes to its standard error goes to the file. Throws std::system_error.
  ContenderProcess(std::vector<std::string> settings, const std::filesystem::path& log);
  ~ContenderProcess();
  ContenderProcess(const ContenderProcess&) = delete;
  ContenderProcess& operator=(const ContenderProcess&) = delete;

  pid_t id() const { return child_->id(); }
  // Tells it to do something. To several of them first, then answer(): so they do it at the same time.
  void tell(std::string_view order);
  // Waits for what it says. \returns nothing if it has ended, or takes more than a minute.
  std::optional<State> answer();
  std::optional<State> ask(std::string_view order) {
    tell(order);
    return answer();
  }

 private:
  int socket_ = -1;
  std::string unread_;
  std::unique_ptr<test::ChildProcess> child_;
};

}  // namespace forelock::robustness
