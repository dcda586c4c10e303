// A WatchPlan decides which nodes of a namespace are listed next, and which of them with a watch.
//
// A watch is asked for with a listing, and fires once: a node that does not change costs nothing, one that changes
// costs an event and a listing. One that changes all the time would cost more than looks at it: from then on it is
// sampled, without a watch, until it has been found unchanged for a while; the while doubles each time that this was
// too early.
//
// Pure: time comes in, decisions go out. Not synchronised. Listings go in batches: events are told between the answers
// of one batch and the next batch.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace forelock::cli {

struct WatchPlanOptions {
  std::chrono::milliseconds pace{500};        // the time between two listings of one node is at least this
  std::chrono::milliseconds settling{10};     // after an event: what belongs to the same change comes with it
  std::chrono::milliseconds refused{60'000};  // until a node is tried again that may not be listed
  std::size_t watched_bytes = 0;              // of the paths that are watched at a time; what has no room is sampled
};

class WatchPlan {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // So many watches in a row that fire within two paces each: then it is sampled.
  static constexpr std::uint8_t most_firings = 4;
  // So many samples in a row that show nothing new: then it is watched; doubled up to the second number.
  static constexpr std::uint8_t least_quiet = 4;
  static constexpr std::uint8_t most_quiet = 64;
  // How long a watch is in place until what has been before counts no more.
  static constexpr std::chrono::seconds forgiven_after{60};
  // Samples, and listings of the root, take no more than one of so many parts of the time.
  static constexpr int part_of_time = 10;
  // But the root is listed once in this time at least, where it changes.
  static constexpr std::chrono::seconds longest_pace{5};

  explicit WatchPlan(const WatchPlanOptions& options) : options_(options) {}

  // Watches of a session before it are gone; all is to be listed.
  void session_begins(Time now);
  // The nodes that there are now; `name`s without the slash. The root, whose name is empty, is always there.
  void set_names(const std::vector<std::string>& names, Time now);
  // Watches have told of all that was done before `time`.
  void proved(Time time) { proved_ = time; }
  // A watch has fired, or something below the node has changed. Names that are not known are nobody's.
  void changed(const std::string& name, Time now);

  struct Listing {
    std::string name;
    bool watch = false;
    bool operator==(const Listing&) const = default;
  };
  // What is due, at most so many, the longest due first. Each is to be answered by listed(), gone(), refused() or
  // failed().
  std::vector<Listing> next(Time now, std::size_t most);
  // When there will be something, if nothing changes; far in the future if nothing will.
  Time due() const;

  // `news`: whether it was not as it had been. `took`: the time of its reads, of the root's own or of one of many.
  void listed(const Listing& listing, bool news, Time now, std::chrono::nanoseconds took);
  void gone(const Listing& listing);
  void refused(const Listing& listing, Time now);
  // No answer: it is asked for again.
  void failed(const Listing& listing, Time now);

  // Whether all has been listed at least once in this session.
  bool complete() const { return unseen_ == 0; }
  // Besides the root. One that has changed, and is listed again in a moment to be watched, is neither.
  std::size_t watched() const { return watched_; }
  std::size_t sampled() const { return sampled_; }
  // Those that may have changed since `before`: neither watched nor listed since, with the time when they were last
  // known.
  std::vector<std::pair<std::string, Time>> older_than(Time before) const;
  std::chrono::nanoseconds sample_interval() const;

 private:
  struct Node {
    Time due{};     // while it stands in due_
    Time listed{};  // when last
    Time known{};   // until when it is known to be as it was listed; of one that is watched: it goes on
    bool is_due = false;
    bool watched = false;
    bool seen = false;       // listed in this session
    bool sampled = false;    // it changes too often to be watched
    bool unwatched = false;  // its last listing was without a watch
    bool refused = false;
    std::uint8_t firings = 0;
    std::uint8_t quiet = 0;
    std::uint8_t quiet_needed = least_quiet;
  };
  using Nodes = std::unordered_map<std::string, Node>;

  void list_at(Nodes::value_type& node, Time time);
  void not_due(Nodes::value_type& node);
  void take_watch(Nodes::value_type& node);
  Nodes::value_type* find(const std::string& name);
  void give_room_back(const Listing& listing);
  std::chrono::nanoseconds pace_of(const std::string& name) const;
  void fired(Node& node, Time now);
  void forget(Nodes::iterator node);

  WatchPlanOptions options_;
  Nodes nodes_;
  Nodes root_{{std::string(), Node()}};
  std::set<std::pair<Time, Nodes::value_type*>> due_;
  std::size_t unseen_ = 1;
  Time proved_{};
  std::size_t watched_ = 0;
  std::size_t sampled_ = 0;
  std::size_t watched_bytes_ = 0;
  std::chrono::nanoseconds cost_{50'000};  // of a sample: a moving average
  std::chrono::nanoseconds root_cost_{0};
};

}  // namespace forelock::cli
