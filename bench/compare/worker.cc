// A worker of the comparison:
// bench_worker raw|create-delete|forelock|forelock-c|forelock-linger|forelock-predecessor SERVERS [SETTING=VALUE…]
// The settings are those of the library's own client. A job of it alone: {"connect": true, "seconds": S}.
// Reads jobs from stdin, one a line, and answers each on stdout (see job.h and crowd.h); ends at the end of its input.
// Workers for other locks (bench/peers) speak the same way, so that one driver can run them all in turns.
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/bench_server.h"
#include "bench/compare/c_load.h"
#include "bench/compare/crowd.h"
#include "bench/compare/job.h"
#include "bench/compare/many_locks.h"
#include "forelock/forelock.h"
#include "workload/async_load.h"
#include "workload/bench_lock.h"
#include "workload/raw_load.h"
#include "workload/thread_load.h"

namespace forelock::bench {
namespace {

using namespace workload;

// Each section is a new client: how long it takes to connect, and to close.
JobResult connect_again(const Settings& settings, double seconds) {
  JobResult result;
  const auto begin = Clock::now();
  while (result.seconds < seconds) {
    const auto begun = Clock::now();
    Client client(settings);
    if (!client.wait_connected(std::chrono::seconds(30))) throw std::runtime_error(client.last_problem());
    client.close();
    result.sections.push_back({.cycle = Clock::now() - begun});
    result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  }
  return result;
}

int serve(const std::string& kind, const std::string& servers, const std::vector<Settings::Override>& more) {
  std::unique_ptr<RawLoad> raw;
  std::unique_ptr<CLoad> by_c;
  Settings settings;
  std::unique_ptr<Client> client;
  std::unique_ptr<Crowd> crowd;
  if (kind == "raw" || kind == "create-delete") {
    raw = std::make_unique<RawLoad>(servers, kind == "raw" ? RawKind::transactions : RawKind::create_delete);
  } else if (kind == "forelock-c") {
    by_c = std::make_unique<CLoad>(servers);
  } else {
    settings = client_settings(servers);
    settings.set(more);
    if (kind == "forelock-predecessor") settings.set("zookeeper.lock.watch", "predecessor");
    if (kind == "forelock-linger") settings.set("zookeeper.lock.linger", "1h");
    client = std::make_unique<Client>(settings);
    if (!client->wait_connected(std::chrono::seconds(30))) throw std::runtime_error(client->last_problem());
    crowd = std::make_unique<Crowd>(*client);
  }
  std::cout << "{\"ready\":true}" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    const auto json = nlohmann::json::parse(line);
    if (crowd && json.contains("crowd")) {
      std::cout << crowd->run(json) << std::endl;
      continue;
    }
    if (client && json.contains("connect")) {
      std::cout << to_json_line(connect_again(settings, json.at("seconds"))) << std::endl;
      continue;
    }
    const Job job = to_job(json);
    JobResult result;
    if (raw) {
      result = raw->run(job);
    } else if (by_c) {
      result = by_c->run(job);
    } else if (json.contains("together")) {
      result = run_together(*client, job, json.at("together").get<std::string>());
    } else if (job.async && job.fresh) {
      result = run_fresh(*client, job);
    } else if (job.async) {
      result = AsyncLoad(*client, job).run(job);
    } else {
      result = run_threads(job, locks_of(*client, job));
    }
    std::cout << to_json_line(result) << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace forelock::bench

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: bench_worker KIND SERVERS [SETTING=VALUE...]\n");
    return 64;
  }
  try {
    std::vector<forelock::Settings::Override> more;
    for (int i = 3; i < argc; ++i) {
      const std::string argument = argv[i];
      const auto equals = argument.find('=');
      more.push_back({argument.substr(0, equals), argument.substr(equals + 1)});
    }
    return forelock::bench::serve(argv[1], argv[2], more);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_worker: %s\n", error.what());
    return 1;
  }
}
