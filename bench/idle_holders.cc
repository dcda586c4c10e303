// What holders that do nothing cost the server: each process that holds a lock proves its session with a write now and
// then. Measured at the server, in turns: sessions that hold nothing, then the same with locks.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/bench_server.h"
#include "bench/options.h"
#include "forelock/forelock.h"
#include "support/wait_until.h"

namespace forelock::bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct Load {
  double writes = 0;     // transactions a second
  double packets = 0;    // requests a second, pings included
  double processor = 0;  // of one, in per cent
};

// Processor time of a process so far, in seconds.
double processor_seconds(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  long long user = 0;
  long long system = 0;
  const std::size_t after_name = text.rfind(')');
  if (std::sscanf(text.c_str() + after_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld", &user,
                  &system) != 2) {
    return 0;
  }
  return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::int64_t last_transaction(const test::TestServer& server) {
  const std::string answer = server.four_letter("srvr").value_or("");
  const std::size_t at = answer.find("Zxid: 0x");
  return at == std::string::npos ? 0 : std::stoll(answer.substr(at + 8), nullptr, 16);
}

Load measure(const test::TestServer& server, std::chrono::seconds time) {
  const std::int64_t zxid = last_transaction(server);
  const std::int64_t packets = server.packets_received();
  const double processor = processor_seconds(server.process_id());
  const auto begun = Clock::now();
  test::wait_until([&] { return Clock::now() - begun >= time; }, 2 * time);
  const double elapsed = std::chrono::duration<double>(Clock::now() - begun).count();
  return {.writes = static_cast<double>(last_transaction(server) - zxid) / elapsed,
          .packets = static_cast<double>(server.packets_received() - packets) / elapsed,
          .processor = 100 * (processor_seconds(server.process_id()) - processor) / elapsed};
}

int run(const Options& options) {
  const int processes = options.number("processes");
  const int locks = options.number("locks");
  const int rounds = options.number("rounds");
  const std::chrono::seconds time(options.number("seconds"));
  test::ServerOptions server_with = server_options(options.flag("sync"));
  server_with.config_lines.push_back("maxClientCnxns=0");  // all of these processes are one address
  test::TestServer server(std::move(server_with));
  Settings settings = client_settings(server.connect_string());
  settings.set({{"zookeeper.session.timeout", options.text("session")}});

  std::vector<std::unique_ptr<Client>> clients;
  std::vector<std::unique_ptr<BlockingWriteLock>> held;
  for (int i = 0; i < processes; ++i) clients.push_back(std::make_unique<Client>(settings));
  for (const auto& client : clients) {
    if (!client->wait_connected(30s)) return 1;
  }
  nlohmann::json results = {{"processes", processes}, {"locks", locks}, {"session_ms", options.number("session")}};
  std::printf("%d sessions of %s ms; a second:\n%-34s %8s %10s %12s\n", processes, options.text("session").c_str(), "",
              "writes", "requests", "processor");
  const auto report = [&](const std::string& name, const Load& load) {
    std::printf("%-34s %8.1f %10.1f %10.1f %%\n", name.c_str(), load.writes, load.packets, load.processor);
    results["rounds"].push_back(
        {{"name", name}, {"writes", load.writes}, {"requests", load.packets}, {"processor", load.processor}});
  };
  for (int round = 0; round < rounds; ++round) {
    report("nothing held", measure(server, time));
    for (int i = 0; i < locks; ++i) {
      const auto process = static_cast<std::size_t>(i % processes);
      held.push_back(std::make_unique<BlockingWriteLock>(*clients[process], "idle", "idle-" + std::to_string(i)));
      held.back()->lock_with_timeout();
    }
    // On its node and on privateLock, when it has been held for a moment.
    test::wait_until([&] { return server.counter("zk_watch_count") >= 2 * locks; }, 30s);
    report(std::to_string(locks) + " locks held", measure(server, time));
    const bool all_held = std::all_of(held.begin(), held.end(), [](const auto& lock) { return lock->healthy(); });
    if (!all_held) std::printf("a lock was lost meanwhile: the machine is too busy for a measurement\n");
    held.clear();
  }
  std::ofstream(options.text("output")) << results.dump(1) << '\n';
  return 0;
}

}  // namespace
}  // namespace forelock::bench

int main(int argc, char** argv) {
  return forelock::bench::run({argc,
                               argv,
                               {{"processes", "100"},
                                {"locks", "1000"},
                                {"session", "5000"},
                                {"seconds", "20"},
                                {"rounds", "3"},
                                {"sync", "on"},
                                {"output", "/dev/null"}}});
}
