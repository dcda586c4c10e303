// What locks weigh at a server: nodes, watches, bytes of data and of the server's heap for each session, each lock that
// is held, each contender that waits, and each idle monitor.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/bench_server.h"
#include "bench/options.h"
#include "forelock/forelock.h"
#include "support/wait_until.h"

namespace forelock::bench {
namespace {

using namespace std::chrono_literals;

// A server keeps its last transactions, 500 by default; some more of small ones take the place of grouped ones.
constexpr int kept_transactions = 600;
constexpr std::chrono::minutes patience{5};

struct Weight {
  double nodes = 0;
  double watches = 0;
  double data = 0;
  double heap = 0;
};

// What lives after a collection, from the histogram of a JDK's jcmd.
double live_heap(const test::TestServer& server) {
  const std::string command = "jcmd " + std::to_string(server.process_id()) + " GC.class_histogram | tail -n 1";
  const std::unique_ptr<FILE, int (*)(FILE*)> output(popen(command.c_str(), "r"), pclose);
  long long objects = 0;
  long long bytes = 0;
  if (!output || std::fscanf(output.get(), "Total %lld %lld", &objects, &bytes) != 2) {
    throw std::runtime_error("jcmd does not tell the heap of the server: is there a JDK?");
  }
  return static_cast<double>(bytes);
}

class Scale {
 public:
  Scale(const test::TestServer& server, nlohmann::json& results)
      : server_(server), results_(results), client_(client_settings(server.connect_string())) {
    std::printf("%-52s %8s %8s %10s %10s\n", "for each of", "nodes", "watches", "data, B", "heap, B");
    zero();
  }
  void zero() { before_ = now(); }
  void report(const std::string& name, int count) {
    const Weight weight = now();
    const auto each = [count](double after, double before) { return (after - before) / count; };
    const Weight one{each(weight.nodes, before_.nodes), each(weight.watches, before_.watches),
                     each(weight.data, before_.data), each(weight.heap, before_.heap)};
    const std::string title = std::to_string(count) + ' ' + name;
    std::printf("%-52s %8.2f %8.2f %10.0f %10.0f\n", title.c_str(), one.nodes, one.watches, one.data, one.heap);
    std::fflush(stdout);
    results_.push_back({{"name", name},
                        {"count", count},
                        {"nodes", one.nodes},
                        {"watches", one.watches},
                        {"data", one.data},
                        {"heap", one.heap}});
  }

 private:
  Weight now() {
    BlockingWriteLock lock(client_, "small", "small");
    for (int i = 0; i < kept_transactions / 2; ++i) {
      lock.lock_with_timeout();
      lock.unlock_or_throw();
    }
    const double heap = live_heap(server_);
    return {static_cast<double>(server_.counter("zk_znode_count")),
            static_cast<double>(server_.counter("zk_watch_count")),
            static_cast<double>(server_.counter("zk_approximate_data_size")), heap};
  }

  const test::TestServer& server_;
  nlohmann::json& results_;
  Client client_;
  Weight before_;
};

// What is counted next would be wrong without it.
void wait_for(const std::string& what, const std::function<bool()>& reached) {
  if (!test::wait_until(reached, patience)) throw std::runtime_error("not within five minutes: " + what);
}

// Locks of one client. Its idle monitors stay as long as it does.
class Many {
 public:
  explicit Many(const Settings& settings) : client_(settings) {
    if (!client_.wait_connected(30s)) throw std::runtime_error("no connection to the server");
  }
  // All at once.
  void ask(int count, const std::function<std::string(int)>& monitor) {
    held_ = 0;
    for (int i = 0; i < count; ++i) locks_.push_back(std::make_unique<AsyncWriteLock>(client_, "weight", monitor(i)));
    for (const auto& lock : locks_) {
      lock->acquire(patience, [this](const std::exception_ptr& problem) {
        if (!problem) ++held_;
      });
    }
  }
  void wait_held() const {
    const int all = static_cast<int>(locks_.size());
    wait_for("all locks held", [&] { return held_ == all; });
  }
  void release() {
    locks_.clear();
    wait_for("all locks released", [this] { return client_.statistics().contenders == 0; });
  }

 private:
  std::atomic<int> held_ = 0;
  Client client_;
  std::vector<std::unique_ptr<AsyncWriteLock>> locks_;
};

void wait_for_count(const test::TestServer& server, const char* counter, std::int64_t least) {
  wait_for(counter, [&] { return server.counter(counter) >= least; });
}

int run(const Options& options) {
  const int sessions = options.number("sessions");
  const int locks = options.number("locks");
  test::ServerOptions server_with = server_options(options.flag("sync"));
  test::TestServer server(std::move(server_with));
  Settings settings = client_settings(server.connect_string());
  settings.set({{"zookeeper.monitor.linger", "3600000"}});
  const auto monitor = [](int i) { return "document-" + std::to_string(i); };

  nlohmann::json results;
  Scale scale(server, results);
  {
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < sessions; ++i) clients.push_back(std::make_unique<Client>(settings));
    for (const auto& client : clients) client->wait_connected(30s);
    scale.report("sessions", sessions);
  }
  scale.zero();
  Many holders(settings);
  holders.ask(locks, monitor);
  holders.wait_held();
  holders.release();
  scale.report("idle monitors", locks);
  scale.zero();
  holders.ask(locks, monitor);
  holders.wait_held();
  // A holder has a watch on its node and on privateLock, when it has held the lock for a moment.
  wait_for_count(server, "zk_watch_count", std::int64_t{2} * locks);
  scale.report("held locks, beside their monitors", locks);
  scale.zero();
  {
    Many waiting(settings);
    waiting.ask(locks, monitor);
    wait_for_count(server, "zk_znode_count", std::int64_t{4} * locks);
    wait_for_count(server, "zk_watch_count", std::int64_t{3} * locks);
    scale.report("waiters, each at another monitor", locks);
    waiting.release();
  }
  scale.zero();
  {
    Many waiting(settings);
    waiting.ask(locks, [&monitor](int) { return monitor(0); });
    wait_for_count(server, "zk_znode_count", std::int64_t{4} * locks);
    scale.report("waiters of one process at one monitor", locks);
    waiting.release();
  }
  holders.release();
  std::ofstream(options.text("output")) << results.dump(1) << '\n';
  return 0;
}

}  // namespace
}  // namespace forelock::bench

int main(int argc, char** argv) {
  return forelock::bench::run(
      {argc, argv, {{"sessions", "200"}, {"locks", "4000"}, {"sync", "off"}, {"output", "/dev/null"}}});
}
