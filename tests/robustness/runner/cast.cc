#include "robustness/runner/cast.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <optional>
#include <utility>

namespace forelock::robustness {
namespace {

namespace fs = std::filesystem;

constexpr const char* fake_time = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";
// Of monitors that literal clients use too.
constexpr const char* mixed_monitor = "mixed-1";
const std::vector<std::string> host_names = {"zk1.forelock.test", "zk2.forelock.test", "zk3.forelock.test"};

struct Part {
  std::string slot;
  std::string kind;  // of the worker
  int threads = 4;
  int own_monitors = 0;
  int pause_us = 2000;
  int session_timeout_ms = 2000;
  int hold_ms = 0;
  std::string watch = "parent";
  std::vector<std::string> monitors;
};

// Settings of the environment, then the program.
std::vector<std::string> in_environment(const ClientProcess& client, const std::vector<std::string>& preload) {
  std::string libraries;
  for (const std::string& each : preload) libraries += (libraries.empty() ? "" : ":") + each;
  return {"/usr/bin/env", "LD_PRELOAD=" + libraries, "FORELOCK_NAMES=" + client.file(".names").string()};
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& each : words) text += (text.empty() ? "" : ",") + each;
  return text;
}

std::vector<std::string> worker_command(const CastOptions& options, const Part& part, const ClientProcess& client,
                                        const std::string& process) {
  const char* const program = options.mutation.empty() ? FORELOCK_ROBUSTNESS_WORKER : FORELOCK_ROBUSTNESS_MUTANT;
  std::vector<std::string> command = {
      program, part.kind, "process=" + process, "directory=" + options.directory.string(),
      "resource=" + options.resource.string(),
      // Another one for each process of a slot.
      "seed=" + std::to_string(options.seed ^ std::hash<std::string>{}(process)),
      "threads=" + std::to_string(part.threads), "own=" + std::to_string(part.own_monitors),
      "pause=" + std::to_string(part.pause_us), "hold=" + std::to_string(part.hold_ms),
      "monitors=" + joined(part.monitors), "zookeeper.servers=" + client.wires().servers(host_names) + options.chroot,
      "zookeeper.session.timeout=" + std::to_string(part.session_timeout_ms), "zookeeper.connection.delay=300",
      "zookeeper.foregound.task.timeout=3000", "zookeeper.backgound.task.timeout=4000",
      "zookeeper.lock.watch=" + part.watch};
  if (part.kind == "cli") command.emplace_back("command=" FORELOCK_COMMAND);
  if (part.kind == "operations") {
    command.emplace_back("elastic.request.retry.count=2");
    command.insert(command.end(), options.letter_settings.begin(), options.letter_settings.end());
  }
  return command;
}

std::unique_ptr<ClientProcess> make_worker(const CastOptions& options, const ClientProcess::Place& place, Part part,
                                           bool settable_clock = false) {
  const std::string slot = part.slot;
  const std::string kind = part.kind;
  auto client = std::make_unique<ClientProcess>(
      slot, kind, options.server_ports,
      [options, part = std::move(part), settable_clock](const ClientProcess& self, const std::string& process) {
        std::vector<std::string> preload = {FORELOCK_NAME_SERVICE};
        if (settable_clock) preload.emplace_back(fake_time);
        std::vector<std::string> command = in_environment(self, preload);
        if (settable_clock) {
          command.push_back("FAKETIME_TIMESTAMP_FILE=" + self.file(".clock").string());
          command.insert(command.end(), {"FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"});
        }
        if (!options.mutation.empty()) command.push_back("FORELOCK_MUTATION=" + options.mutation);
        const auto worker = worker_command(options, part, self, process);
        command.insert(command.end(), worker.begin(), worker.end());
        return command;
      },
      place);
  if (settable_clock) std::ofstream(client->file(".clock")) << "+0" << std::endl;
  return client;
}

std::unique_ptr<ClientProcess> make_literal(const CastOptions& options, const ClientProcess::Place& place,
                                            const std::string& slot, const std::string& prefix) {
  return std::make_unique<ClientProcess>(
      slot, "literal", options.server_ports,
      [options, prefix](const ClientProcess& self, const std::string& process) {
        std::vector<std::string> command = in_environment(self, {FORELOCK_NAME_SERVICE});
        command.insert(command.end(), {"/usr/bin/python3", FORELOCK_LITERAL_WORKER, "--process", process, "--directory",
                                       options.directory.string(), "--resource", options.resource.string(), "--servers",
                                       self.wires().servers(host_names) + options.chroot, "--monitor", mixed_monitor,
                                       "--prefix", prefix});
        return command;
      },
      place);
}

}  // namespace

std::vector<std::string> shared_monitors() {
  return {"hot-1", "hot-2", "warm-1", "warm-2", "warm-3", "warm-4", "warm-5", "warm-6"};
}

std::vector<std::unique_ptr<ClientProcess>> make_clients(const CastOptions& options, ClientProcess::Place place) {
  std::vector<std::string> with_mixed = shared_monitors();
  with_mixed.insert(with_mixed.begin() + 2, mixed_monitor);
  const std::vector<Part> parts = {
      {.slot = "api-1", .kind = "api", .own_monitors = 6, .monitors = with_mixed},
      {.slot = "api-2",
       .kind = "api",
       .own_monitors = 6,
       .session_timeout_ms = 3000,
       .watch = "predecessor",
       .monitors = shared_monitors()},
      {.slot = "async-1", .kind = "async", .threads = 6, .own_monitors = 6, .monitors = with_mixed},
      {.slot = "async-2",
       .kind = "async",
       .threads = 6,
       .own_monitors = 6,
       .session_timeout_ms = 4000,
       .watch = "predecessor",
       .monitors = shared_monitors()},
      {.slot = "cli-1", .kind = "cli", .pause_us = 100'000, .session_timeout_ms = 3000, .monitors = with_mixed},
      {.slot = "letters-1",
       .kind = "operations",
       .threads = 3,
       .own_monitors = 3,
       .pause_us = 30'000,
       .monitors = shared_monitors()},
      {.slot = "letters-2",
       .kind = "operations",
       .threads = 3,
       .own_monitors = 3,
       .pause_us = 30'000,
       .session_timeout_ms = 3000,
       .watch = "predecessor",
       .monitors = shared_monitors()},
  };
  std::vector<std::unique_ptr<ClientProcess>> clients;
  for (const Part& part : parts) clients.push_back(make_worker(options, place, part));
  clients.push_back(make_literal(options, place, "literal-1", "A"));
  clients.push_back(make_literal(options, place, "literal-2", "B"));
  if (fs::exists(fake_time)) {
    clients.push_back(make_worker(
        options, place,
        {.slot = "clock-1", .kind = "api", .threads = 2, .own_monitors = 2, .monitors = shared_monitors()}, true));
  }
  return clients;
}

std::vector<std::unique_ptr<ClientProcess>> make_stall_pair(const CastOptions& options, ClientProcess::Place place,
                                                            const std::string& monitor, int session_timeout_ms,
                                                            std::chrono::milliseconds hold) {
  std::vector<std::unique_ptr<ClientProcess>> pair;
  for (const char* side : {"a", "b"}) {
    Part part{.slot = monitor + side, .kind = "stall", .monitors = {monitor}};
    part.session_timeout_ms = session_timeout_ms;
    part.hold_ms = static_cast<int>(hold.count());
    pair.push_back(make_worker(options, place, part));
  }
  return pair;
}

}  // namespace forelock::robustness
