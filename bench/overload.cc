// What becomes of contenders at a monitor of which more is asked than it serves, with a setting and without it: with
// ageing (zookeeper.background.max.wait) of background work that would starve, and what that takes from the foreground;
// with admission (zookeeper.admission) of foreground work that would wait in vain.
//
// Foreground work comes at random to two monitors at once, to both at the same instants; behind it wait as many
// background contenders at each. The setting is on for the clients of one monitor. First it is measured how many
// foreground sections a monitor serves, then each load is a share of that.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bench/bench_server.h"
#include "bench/options.h"
#include "forelock/async_write_lock.h"
#include "forelock/client.h"

namespace forelock::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;
using std::chrono::milliseconds;

// Does things at their times, one after the other, on a thread of its own.
class Timeline {
 public:
  void at(Clock::time_point time, std::function<void()> action) {
    const std::lock_guard guard(mutex_);
    actions_.emplace(time, std::move(action));
    changed_.notify_one();
  }

 private:
  void run(const std::stop_token& stop) {
    std::unique_lock guard(mutex_);
    while (!stop.stop_requested()) {
      if (actions_.empty()) {
        changed_.wait(guard, stop, [&] { return !actions_.empty(); });
      } else if (const auto next = actions_.begin(); next->first > Clock::now()) {
        changed_.wait_until(guard, stop, next->first, [&] { return actions_.begin() != next; });
      } else {
        const auto action = std::move(next->second);
        actions_.erase(next);
        guard.unlock();
        action();
        guard.lock();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::multimap<Clock::time_point, std::function<void()>> actions_;
  std::jthread thread_{[this](const std::stop_token& stop) { run(stop); }};
};

// One acquisition and its section. Everything of it happens on the timeline.
class Section : public std::enable_shared_from_this<Section> {
 public:
  Section(Timeline& timeline, Client& client, const std::string& monitor, Priority priority, milliseconds length)
      : timeline_(timeline), length_(length), lock_(client, "bench", monitor, priority, {.capture_stack = false}) {}

  // `done` gets how long it has waited, and whether it was granted.
  void begin(milliseconds timeout, std::function<void(bool, Milliseconds)> done) {
    const auto begun = Clock::now();
    lock_.acquire(timeout, [self = shared_from_this(), begun, done = std::move(done)](const std::exception_ptr& error) {
      const auto now = Clock::now();
      // The lock object ends on the timeline: here its own callback runs.
      self->timeline_.at(error ? now : now + self->length_, [self, done, error, waited = now - begun] {
        done(!error, waited);
        if (!error) self->lock_.release([self](const std::exception_ptr&) { self->timeline_.at({}, [self] {}); });
      });
    });
  }

 private:
  Timeline& timeline_;
  const milliseconds length_;
  AsyncWriteLock lock_;
};

struct Work {
  milliseconds foreground_section;
  milliseconds background_section;
  milliseconds foreground_timeout;
  milliseconds duration;
  int background = 0;
};

// A monitor and those that contend for it: one process of each class.
class Lane {
 public:
  Lane(Timeline& timeline, const Work& work, std::string name, const Settings& settings)
      : timeline_(timeline), work_(work), name_(std::move(name)), foreground_(settings), background_(settings) {}

  // As fast as eight contenders can.
  void calibrate(Clock::time_point end) {
    for (int i = 0; i < 8; ++i) again(end);
  }
  double served() const { return static_cast<double>(waits_.size()); }

  void load(const std::vector<Clock::time_point>& arrivals) {
    monitor_ = name_ + "-" + std::to_string(++loads_);
    waits_.clear();
    background_waits_.clear();
    in_vain_ = answered_soon_ = 0;
    for (int i = 0; i < work_.background; ++i) {
      section(background_, Priority::background, work_.background_section)
          ->begin(std::chrono::hours(1), [this](bool granted, Milliseconds waited) {
            if (granted) background_waits_.push_back(waited.count());
          });
    }
    for (const auto time : arrivals) {
      timeline_.at(time, [this] {
        section(foreground_, Priority::foreground, work_.foreground_section)
            ->begin(work_.foreground_timeout, [this](bool granted, Milliseconds waited) { count(granted, waited); });
      });
    }
  }

  nlohmann::json result() {
    std::sort(waits_.begin(), waits_.end());
    std::sort(background_waits_.begin(), background_waits_.end());
    const auto at = [&](double share) {
      return waits_.empty() ? 0 : waits_[static_cast<std::size_t>(share * static_cast<double>(waits_.size() - 1))];
    };
    return {{"foreground",
             {{"served", waits_.size()},
              {"p50_ms", at(0.5)},
              {"p99_ms", at(0.99)},
              {"in_vain", in_vain_},
              {"answered_within_50_ms", answered_soon_}}},
            {"background", {{"served", background_waits_.size()}, {"waits_ms", background_waits_}}}};
  }

 private:
  std::shared_ptr<Section> section(Client& client, Priority priority, milliseconds length) {
    return std::make_shared<Section>(timeline_, client, monitor_, priority, length);
  }
  void count(bool granted, Milliseconds waited) {
    if (granted) return waits_.push_back(waited.count());
    ++in_vain_;
    if (waited <= milliseconds(50)) ++answered_soon_;
  }
  void again(Clock::time_point end) {
    if (Clock::now() >= end) return;
    section(foreground_, Priority::foreground, work_.foreground_section)
        ->begin(std::chrono::minutes(1), [this, end](bool granted, Milliseconds waited) {
          count(granted, waited);
          again(end);
        });
  }

  Timeline& timeline_;
  const Work& work_;
  const std::string name_;
  Client foreground_;
  Client background_;
  std::string monitor_ = name_;
  int loads_ = 0;
  std::vector<double> waits_;  // of the foreground's that were granted
  std::size_t in_vain_ = 0;
  std::size_t answered_soon_ = 0;
  std::vector<double> background_waits_;
};

// At random, so many a second.
std::vector<Clock::time_point> arrivals_from(Clock::time_point begin, milliseconds duration, double rate,
                                             std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> gap(rate);
  std::vector<Clock::time_point> times;
  for (double at = gap(random); at * 1000 < static_cast<double>(duration.count()); at += gap(random)) {
    times.push_back(begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(at)));
  }
  return times;
}

// On the timeline, when it has come there.
template <class Action>
void on(Timeline& timeline, Clock::time_point time, Action action) {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  timeline.at(time, [&] {
    action();
    const std::lock_guard guard(mutex);
    done = true;
    changed.notify_one();
  });
  std::unique_lock guard(mutex);
  changed.wait(guard, [&] { return done; });
}

int main_of(int argc, char** argv) {
  const Options options(argc, argv,
                        {{"seconds", "230"},
                         {"seed", "1"},
                         {"loads", "0.9,1.1"},
                         {"foreground", "20"},
                         {"background", "50"},
                         {"timeout", "2000"},
                         {"waiting", "100"},
                         {"key", "zookeeper.background.max.wait"},
                         {"value", "2000"}});
  const Work work{milliseconds(options.number("foreground")), milliseconds(options.number("background")),
                  milliseconds(options.number("timeout")), std::chrono::seconds(options.number("seconds")),
                  options.number("waiting")};
  const test::TestServer server(server_options(false));
  Timeline timeline;
  Settings settings = client_settings(server.connect_string());
  std::vector<std::unique_ptr<Lane>> lanes;
  lanes.push_back(std::make_unique<Lane>(timeline, work, "without", settings));
  settings.set({{options.text("key"), options.text("value")}});
  lanes.push_back(std::make_unique<Lane>(timeline, work, "with", settings));
  constexpr std::chrono::seconds measured(8);
  const auto end = Clock::now() + measured;
  on(timeline, {}, [&] {
    for (auto& lane : lanes) lane->calibrate(end);
  });
  double capacity = 0;
  on(timeline, end + std::chrono::seconds(1),
     [&] { capacity = (lanes[0]->served() + lanes[1]->served()) / 2 / static_cast<double>(measured.count()); });

  nlohmann::json result = {{"capacity", capacity},
                           {"setting", options.text("key") + "=" + options.text("value")},
                           {"seconds", options.number("seconds")},
                           {"foreground_section_ms", work.foreground_section.count()},
                           {"background_section_ms", work.background_section.count()},
                           {"foreground_timeout_ms", work.foreground_timeout.count()},
                           {"background", work.background}};
  std::string loads = options.text("loads");
  for (std::size_t at = 0; at < loads.size();) {
    const std::size_t comma = std::min(loads.find(',', at), loads.size());
    const double load = std::stod(loads.substr(at, comma - at));
    at = comma + 1;
    const auto begin = Clock::now() + milliseconds(200);
    const auto arrivals =
        arrivals_from(begin, work.duration, load * capacity, static_cast<std::uint64_t>(options.number("seed")));
    on(timeline, {}, [&] {
      for (auto& lane : lanes) lane->load(arrivals);
    });
    nlohmann::json of_load = {{"load", load}, {"arrived", arrivals.size()}};
    on(timeline, begin + work.duration, [&] {
      for (std::size_t i = 0; i < lanes.size(); ++i) of_load[i == 0 ? "without" : "with"] = lanes[i]->result();
    });
    result["loads"].push_back(std::move(of_load));
  }
  std::puts(result.dump(1).c_str());
  std::fflush(stdout);
  std::_Exit(0);  // whoever still waits would wait for an hour
}

}  // namespace
}  // namespace forelock::bench

int main(int argc, char** argv) {
  return forelock::bench::main_of(argc, argv);
}
