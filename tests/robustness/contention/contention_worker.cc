// One client that contends with others: contention_worker KEY=VALUE… (settings of the library).
//
// Does what the standard input says, and answers each line with its state, one line of "key=value" words: "work"
// begins, "crowd" begins what starves background work that does not age, "rest" ends the sections and waits until
// nothing of them is left, "state" does nothing more, "probe" takes a lock of its own and gives it back. It ends with
// the input.
#include "forelock/blocking_write_lock.h"
#include "forelock/client.h"
#include "robustness/worker/patience.h"
#include "support/wait_until.h"

namespace forelock::robustness {
namespace {

using namespace std::chrono_literals;

constexpr int threads = 3;
constexpr int monitors = 3;
// The longer the names, the sooner the watches on them are too many for one packet.
constexpr std::size_t name_length = 200;
// Between two sections of a thread, on average.
constexpr std::chrono::microseconds mean_pause{2000};
constexpr auto settle_patience = 30s;
// Longer than any wait may be.
constexpr auto crowd_patience = 120s;

class Contender {
 public:
  explicit Contender(const Settings& settings)
      : client_(settings, [](std::string_view level, std::string_view message) {
          std::ostringstream line;
          line << level << ": " << message << "\n";
          std::cerr << line.str();
        }) {}

  void work() {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this, i](const std::stop_token& stop) { contend(stop, i); });
    }
  }

  // On one monitor, and nobody pauses: some foreground contender always waits.
  void crowd() {
    threads_.emplace_back([this](const std::stop_token& stop) { wait_in_crowd(stop); });
    for (int i = 1; i < threads; ++i) {
      threads_.emplace_back([this](const std::stop_token& stop) { press(stop); });
    }
  }

  void rest() {
    for (auto& thread : threads_) thread.request_stop();
    threads_.clear();
    test::wait_until([this] { return client_.statistics().contenders == 0; }, settle_patience);
  }

  void probe() {
    probed_ = false;
    try {
      BlockingWriteLock lock(client_, "probe", "probe-" + client_.instance());
      lock.lock_with_timeout();
      lock.unlock();
      probed_ = true;
    } catch (const Error& error) {
      std::cerr << "probe: " << error.what() << std::endl;
    }
  }

  std::string state() const {
    const ClientStatistics counts = client_.statistics();
    std::ostringstream words;
    words << "sections=" << sections_ << " requests=" << counts.requests << " disconnections=" << counts.disconnections
          << " expired=" << counts.sessions_expired << " contenders=" << counts.contenders
          << " connected=" << client_.connected() << " session=" << client_.session_id() << " probed=" << probed_
          << " aged=" << aged_ << " longest_wait_ms=" << longest_wait_ms_;
    return words.str();
  }

  bool wait_connected() { return client_.wait_connected(settle_patience); }

 private:
  void contend(const std::stop_token& stop, int index) {
    std::mt19937_64 random(std::hash<std::thread::id>{}(std::this_thread::get_id()));
    std::exponential_distribution<double> break_us(1.0 / static_cast<double>(mean_pause.count()));
    for (int i = index; !stop.stop_requested(); ++i) {
      const std::string monitor = std::to_string(i % monitors) + std::string(name_length, 'm');
      BlockingWriteLock lock(client_, "contention", monitor, i % 4 == 0 ? Priority::background : Priority::foreground,
                             {.capture_stack = false});
      const std::stop_callback give_up(stop, [&lock] { lock.cancel(); });
      try {
        // Some give up while they wait, some do not wait at all.
        const bool obtained = i % 10 == 3 ? lock.try_lock() : lock.try_lock_for(i % 10 == 7 ? 5ms : 10s);
        if (obtained) {
          lock.unlock();
          ++sections_;
        }
      } catch (const Error&) {
        pause(stop, 10ms);  // no spinning while a leader is elected
      }
      pause(stop, std::chrono::microseconds(static_cast<std::int64_t>(break_us(random))));
    }
  }

  // Background work. A wait that the end of the crowd ends counts as far as it went.
  void wait_in_crowd(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      BlockingWriteLock lock(client_, "waits", crowded, Priority::background, {.capture_stack = false});
      const std::stop_callback give_up(stop, [&lock] { lock.cancel(); });
      const auto begun = std::chrono::steady_clock::now();
      const auto waited_ms = [begun] { return (std::chrono::steady_clock::now() - begun) / 1ms; };
      try {
        if (lock.try_lock_for(crowd_patience)) {
          longest_wait_ms_ = std::max<std::int64_t>(longest_wait_ms_, waited_ms());
          ++aged_;
          lock.unlock();
        }
      } catch (const Error& error) {
        if (!stop.stop_requested()) std::cerr << "in the crowd: " << error.what() << std::endl;
      }
      longest_wait_ms_ = std::max<std::int64_t>(longest_wait_ms_, stop.stop_requested() ? waited_ms() : 0);
    }
  }

  void press(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      BlockingWriteLock lock(client_, "presses", crowded, Priority::foreground, {.capture_stack = false});
      const std::stop_callback give_up(stop, [&lock] { lock.cancel(); });
      try {
        if (lock.try_lock_for(10s)) lock.unlock();
      } catch (const Error&) {
        pause(stop, 10ms);
      }
    }
  }

  static constexpr const char* crowded = "crowded";

  Client client_;
  std::atomic<std::uint64_t> sections_{0};
  std::atomic<std::int64_t> aged_{0};             // sections of the background in the crowd
  std::atomic<std::int64_t> longest_wait_ms_{0};  // of them
  std::vector<std::jthread> threads_;
  bool probed_ = false;
};

int run(int count, char** arguments) {
  Settings settings;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    const auto equals = argument.find('=');
    if (equals == std::string::npos) throw std::runtime_error("no KEY=VALUE: " + argument);
    settings.set(argument.substr(0, equals), argument.substr(equals + 1), "the command line");
  }
  Contender contender(settings);
  if (!contender.wait_connected()) throw std::runtime_error("no server");
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "work") contender.work();
    if (line == "crowd") contender.crowd();
    if (line == "rest") contender.rest();
    if (line == "probe") contender.probe();
    std::cout << contender.state() << std::endl;
  }
  contender.rest();
  return 0;
}

}  // namespace
}  // namespace forelock::robustness

int main(int count, char** arguments) {
  try {
    return forelock::robustness::run(count, arguments);
  } catch (const std::exception& problem) {
    std::cerr << "unexpected: " << problem.what() << std::endl;
    return 1;
  }
}
