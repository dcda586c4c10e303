// The processes of `forelock bench contended`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/process/descriptor.h"
#include "forelock/settings.h"

namespace forelock::cli {

// Copies of this process that lock and unlock when told to. They end with this object, and with this process whatever
// becomes of it. Not thread-safe.
class BenchTeam {
 public:
  // Forks: to be made before any thread, and before the signals that end a benchmark are awaited in any other way than
  // by this process. \throws std::system_error.
  BenchTeam(std::size_t processes, const Settings& settings);
  // Ends the processes and waits for them; their sessions are closed.
  ~BenchTeam();
  BenchTeam(const BenchTeam&) = delete;
  BenchTeam& operator=(const BenchTeam&) = delete;

  std::size_t size() const { return members_.size(); }

  // All of them at one monitor for so long. \returns sections a second. \throws FailureException with what one met.
  double sections_per_second(const std::string& monitor, double seconds);

  // Ends what they do now, and then them; from any thread.
  void stop() noexcept;
  // That, and waits for it. Harmless when repeated.
  void end() noexcept;

 private:
  struct Member {
    pid_t process = -1;
    Descriptor channel;
  };

  std::vector<Member> members_;
};

}  // namespace forelock::cli
