// A StayTracker makes holds and waits out of the pictures of a namespace, one after the other.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/serve/history/stay.h"
#include "cli/serve/picture.h"

namespace forelock::cli {

// Without input or output; not thread-safe. What begins and ends between two pictures is not in it. While a monitor may
// not be read its stays last: those that are gone when it is seen again, or has gone, have ended unseen.
class StayTracker {
 public:
  // Before the first picture: what an earlier process has left open, and when it has looked last. Those that are still
  // there go on.
  void resume(const std::vector<Stay>& open, WallTime last_look);
  // The same of a file that could not be read before: those that last go on under the id that they have there.
  void adopt(const std::vector<Stay>& open);
  // Ids from here on are free.
  void number_from(std::int64_t next_id);

  // What has begun and ended since the picture before, as it is now.
  std::vector<Stay> take(const Picture& picture);
  // How the end of this hold has come about, which no picture has shown yet, or one of the last has. \returns what has
  // changed by that; nothing if its end is to come.
  std::optional<Stay> explain_end(const std::string& monitor, const HolderView& holder, const std::string& outcome,
                                  const std::string& reason);

  // All that last.
  std::vector<Stay> open() const;

  // Since when it has looked without a break, and when last; nothing before the first picture.
  struct Watch {
    WallTime from;
    WallTime to;
  };
  const std::optional<Watch>& watched() const { return watched_; }

 private:
  struct Open {
    Stay stay;
    std::uint64_t seen = 0;  // in which picture last
  };
  struct End {
    std::string outcome;
    std::string reason;
    std::chrono::steady_clock::time_point told{};  // behind which picture
  };
  struct Ended {
    Stay stay;
    std::chrono::steady_clock::time_point seen{};  // in which picture
  };
  // One monitor as the picture has it; null if it has gone.
  void take_monitor(const Sighting* sighting, std::vector<Stay>& changes);
  // Whether it is known; then it lasts.
  bool goes_on(const std::string& key, std::vector<Stay>& changes);
  void begin(const std::string& key, Stay stay, std::vector<Stay>& changes);
  // `unseen_from`: the last look, if it may have ended at any time since.
  void end(Stay& stay, const Picture& picture, std::optional<WallTime> unseen_from);

  std::map<std::string, Open> open_;    // by what keeps them apart
  std::map<std::string, End> ends_;     // explained, and to come
  std::map<std::string, Ended> ended_;  // holds that have ended a moment ago, without an explanation
  std::int64_t next_id_ = 1;
  std::uint64_t pictures_ = 0;
  std::uint64_t last_number_ = 0;  // of the last picture
  std::optional<Watch> watched_;
  std::optional<WallTime> last_;  // the last look, of an earlier process too
  std::chrono::steady_clock::time_point begun_{};
};

}  // namespace forelock::cli
