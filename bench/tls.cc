// What TLS costs: the same work at both ports of one server, in turns. Exit 1 if locking and unlocking takes more than
// --most times as long at p50.
#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/bench_server.h"
#include "bench/options.h"
#include "bench/samples.h"
#include "forelock/async_write_lock.h"
#include "forelock/blocking_write_lock.h"
#include "forelock/client.h"
#include "support/secure_server.h"

namespace forelock::bench {
namespace {

using std::chrono::seconds;

constexpr std::size_t ports = 2;
constexpr std::array<const char*, ports> names = {"plain", "tls"};
constexpr int at_once = 64;

void timed(Samples& samples, const std::function<void()>& work) {
  const auto begun = Clock::now();
  work();
  samples.add(Clock::now() - begun);
}

// A monitor that is known and free: most of what clients wait for.
class Cycles {
 public:
  explicit Cycles(Client& client) : lock_(client, "bench_tls", "one") {}
  void operator()() {
    lock_.lock_with_timeout();
    lock_.unlock();
  }

 private:
  BlockingWriteLock lock_;
};

// Many monitors in one go: many bytes in few packets.
class Crowd {
 public:
  explicit Crowd(Client& client) {
    for (int i = 0; i < at_once; ++i) {
      locks_.push_back(std::make_unique<AsyncWriteLock>(client, "bench_tls", "many-" + std::to_string(i)));
    }
  }
  void operator()() {
    for (const auto& each : locks_) {
      each->acquire(seconds(30), [this](const std::exception_ptr& problem) { count(problem); });
    }
    wait_for_all();
    for (const auto& each : locks_) {
      each->release([this](const std::exception_ptr& problem) { count(problem); });
    }
    wait_for_all();
  }

 private:
  void count(const std::exception_ptr& problem) {
    const std::lock_guard guard(mutex_);
    if (problem) problem_ = problem;
    ++done_;
    changed_.notify_one();
  }
  void wait_for_all() {
    std::unique_lock wait(mutex_);
    changed_.wait(wait, [this] { return done_ == at_once; });
    done_ = 0;
    if (problem_) std::rethrow_exception(problem_);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int done_ = 0;
  std::exception_ptr problem_;
  std::vector<std::unique_ptr<AsyncWriteLock>> locks_;
};

struct Measured {
  std::array<Samples, ports> samples;
  std::array<Samples, ports> medians;  // of each round

  double ratio() const { return samples[1].median() / samples[0].median(); }
  nlohmann::json json() const {
    nlohmann::json all = {{"ratio", ratio()}};
    Samples ratios;
    for (std::size_t i = 0; i < medians[0].count(); ++i) ratios.add(medians[1].at(i) / medians[0].at(i));
    all["ratio_of_rounds"] = {ratios.lowest(), ratios.median(), ratios.highest()};
    for (std::size_t port = 0; port < ports; ++port) {
      const Samples& of_port = samples[port];
      all[names[port]] = {{"count", of_port.count()}, {"p50_us", of_port.median()}, {"p99_us", of_port.quantile(0.99)}};
    }
    return all;
  }
};

// In turns, each port first in every second round.
Measured measure(int rounds, int repeats, const std::function<void(std::size_t port)>& work) {
  for (std::size_t port = 0; port < ports; ++port) {
    for (int i = 0; i < std::max(repeats / 4, 1); ++i) work(port);  // both sides get warm
  }
  Measured result;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t turn = 0; turn < ports; ++turn) {
      const std::size_t port = (static_cast<std::size_t>(round) + turn) % ports;
      Samples of_round;
      for (int i = 0; i < repeats; ++i) timed(of_round, [&] { work(port); });
      for (std::size_t i = 0; i < of_round.count(); ++i) result.samples[port].add(of_round.at(i));
      result.medians[port].add(of_round.median());
    }
  }
  return result;
}

int main_of(int argc, char** argv) {
  const Options options(argc, argv, {{"rounds", "20"}, {"repeats", "300"}, {"sync", "on"}, {"most", "1.25"}});
  const int rounds = options.number("rounds");
  const int repeats = options.number("repeats");
  test::SecureServer server(server_options(options.flag("sync")));
  std::array<Settings, ports> settings;
  for (std::size_t port = 0; port < ports; ++port) {
    const std::uint16_t number = port == 0 ? server.server().port() : server.port();
    settings[port] = client_settings("localhost:" + std::to_string(number));
  }
  settings[1].set({{"zookeeper.tls.ca.file", server.authority().certificate()},
                   {"zookeeper.tls.certificate.file", server.client().certificate},
                   {"zookeeper.tls.key.file", server.client().key}});
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<std::unique_ptr<Cycles>> cycles;
  std::vector<std::unique_ptr<Crowd>> crowds;
  for (const Settings& each : settings) {
    clients.push_back(std::make_unique<Client>(each));
    cycles.push_back(std::make_unique<Cycles>(*clients.back()));
    crowds.push_back(std::make_unique<Crowd>(*clients.back()));
  }
  nlohmann::json result = {{"rounds", rounds}, {"sync", options.flag("sync")}};
  const Measured locked = measure(rounds, repeats, [&](std::size_t port) { (*cycles[port])(); });
  result["lock_unlock"] = locked.json();
  result["64_locks_at_once"] =
      measure(rounds, std::max(repeats / 20, 1), [&](std::size_t port) { (*crowds[port])(); }).json();
  result["connect"] = measure(rounds, std::max(repeats / 30, 1), [&](std::size_t port) {
                        Client client(settings[port]);
                        if (!client.wait_connected(seconds(30))) throw std::runtime_error(client.last_problem());
                        client.close();
                      }).json();
  std::puts(result.dump(1).c_str());
  for (const char* const what : {"lock_unlock", "64_locks_at_once", "connect"}) {
    const nlohmann::json& each = result[what];
    std::fprintf(stderr, "%-18s p50 %8.0f us plain, %8.0f us with TLS: %.2f times (rounds: %.2f to %.2f)\n", what,
                 each["plain"]["p50_us"].get<double>(), each["tls"]["p50_us"].get<double>(),
                 each["ratio"].get<double>(), each["ratio_of_rounds"][0].get<double>(),
                 each["ratio_of_rounds"][2].get<double>());
  }
  crowds.clear();
  cycles.clear();
  return locked.ratio() <= std::stod(options.text("most")) ? 0 : 1;
}

}  // namespace
}  // namespace forelock::bench

int main(int argc, char** argv) {
  try {
    return forelock::bench::main_of(argc, argv);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "bench_tls: %s\n", problem.what());
    return 2;
  }
}
