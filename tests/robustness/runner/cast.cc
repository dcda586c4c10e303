#include "robustness/runner/cast.h"

namespace forelock::robustness {
namespace {

namespace fs = std::filesystem;

constexpr const char* fake_time = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";
// Of monitors that literal clients use too.
constexpr const char* mixed_monitor = "mixed-1";
const std::vector<std::string> host_names = {"zk1.forelock.test", "zk2.forelock.test", "zk3.forelock.test"};

// Of those that mostly one client uses, others visit these two: an administrator the first, literal clients the second.
constexpr int visited_of_each = 2;
// So many that each is used again only when it has been removed.
constexpr int rare_monitors = 1000;

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
  std::vector<std::string> visited = {};
  int linger_ms = 0;               // for how long its locks stay with it
  bool linger_reused = false;      // only those that were used shortly before
  int release_delay_ms = 0;        // of those that do not stay
  int background_max_wait_ms = 0;  // after which its background work ages; 0: never
  bool overdue = false;            // it holds longer than it has said, now and then, and has asked to be unlocked then
  int monitor_linger_ms = 5000;    // for how long a monitor that it has made stays unused; 0: it makes containers
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
      "zookeeper.lock.watch=" + part.watch, "zookeeper.lock.linger=" + std::to_string(part.linger_ms),
      "zookeeper.lock.linger.reused=" + std::string(part.linger_reused ? "true" : "false"),
      "zookeeper.lock.release.delay=" + std::to_string(part.release_delay_ms),
      "zookeeper.background.max.wait=" + std::to_string(part.background_max_wait_ms),
      "zookeeper.monitor.linger=" + std::to_string(part.monitor_linger_ms)};
  command.insert(command.end(), options.security.begin(), options.security.end());
  if (part.own_monitors > 0) command.push_back("rare=" + std::to_string(rare_monitors));
  if (!part.visited.empty()) command.push_back("visited=" + joined(part.visited));
  if (part.overdue) command.emplace_back("overdue=true");
  if (part.kind == "cli" || part.kind == "unlocker") command.emplace_back("command=" FORELOCK_COMMAND);
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

std::string own_monitor(const std::string& slot, int number) {
  return slot + "-own-" + std::to_string(number);
}

// Locks that stay with their process, monitors that are removed when they are not used: in three of four seeds some
// clients have them and others do not, or all have, and some delay what they release; in the fourth one nothing stays,
// and monitors are containers.
void decide_what_stays(std::vector<Part>& parts, std::uint64_t seed) {
  static constexpr int lock_times_ms[] = {400, 1500, 150};
  static constexpr int monitor_times_ms[] = {300, 5000, 1000, 0};
  static constexpr int delays_ms[] = {0, 5, 0, 20, 0};
  const std::uint64_t kind = seed % 4;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool stays = kind == 0 || (kind != 3 && i % 2 == kind % 2);
    parts[i].linger_ms = stays ? lock_times_ms[i % std::size(lock_times_ms)] : 0;
    parts[i].linger_reused = stays && i % 3 == 2;
    parts[i].release_delay_ms = kind == 3 ? 0 : delays_ms[i % std::size(delays_ms)];
    parts[i].monitor_linger_ms = kind == 3 ? 0 : monitor_times_ms[i % std::size(monitor_times_ms)];
  }
}

// In two of three seeds two of three clients have background work that ages.
void decide_what_ages(std::vector<Part>& parts, std::uint64_t seed) {
  static constexpr int times_ms[] = {100, 0, 400};
  if (seed % 3 == 0) return;
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i].background_max_wait_ms = times_ms[i % std::size(times_ms)];
}

void let_visit_each_other(std::vector<Part>& parts) {
  for (Part& part : parts) {
    for (const Part& other : parts) {
      if (other.slot == part.slot || other.own_monitors == 0) continue;
      for (int i = 0; i < visited_of_each; ++i) part.visited.push_back(own_monitor(other.slot, i));
    }
  }
}

std::unique_ptr<ClientProcess> make_literal(const CastOptions& options, const ClientProcess::Place& place,
                                            const std::string& slot, const std::string& prefix,
                                            const std::vector<std::string>& visited) {
  return std::make_unique<ClientProcess>(
      slot, "literal", options.server_ports,
      [options, prefix, visited](const ClientProcess& self, const std::string& process) {
        std::vector<std::string> command = in_environment(self, {FORELOCK_NAME_SERVICE});
        command.insert(command.end(), {"/usr/bin/python3", FORELOCK_LITERAL_WORKER, "--process", process, "--directory",
                                       options.directory.string(), "--resource", options.resource.string(), "--servers",
                                       self.wires().servers(host_names) + options.chroot, "--monitor", mixed_monitor,
                                       "--visited", joined(visited), "--prefix", prefix});
        for (const std::string& setting : options.security) command.insert(command.end(), {"--setting", setting});
        return command;
      },
      place);
}

}  // namespace

std::string server_names() {
  std::string names = "IP:127.0.0.1";
  for (const std::string& each : host_names) names += ",DNS:" + each;
  return names;
}

std::vector<std::string> shared_monitors() {
  return {"hot-1", "hot-2", "warm-1", "warm-2", "warm-3", "warm-4", "warm-5", "warm-6"};
}

bool has_unlockers(std::uint64_t seed) {
  return seed % 3 == 1;
}

std::vector<std::string> visited_monitors() {
  std::vector<std::string> monitors;
  for (const char* slot : {"api-1", "api-2", "async-1", "async-2", "letters-1", "sets-1"}) {
    monitors.push_back(own_monitor(slot, 0));
  }
  return monitors;
}

std::vector<std::unique_ptr<ClientProcess>> make_clients(const CastOptions& options, ClientProcess::Place place) {
  std::vector<std::string> with_mixed = shared_monitors();
  with_mixed.insert(with_mixed.begin() + 2, mixed_monitor);
  std::vector<Part> parts = {
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
      {.slot = "sets-1", .kind = "sets", .threads = 2, .own_monitors = 4, .pause_us = 10'000, .monitors = with_mixed},
      {.slot = "sets-2",
       .kind = "sets",
       .threads = 2,
       .own_monitors = 4,
       .pause_us = 10'000,
       .session_timeout_ms = 3000,
       .watch = "predecessor",
       .monitors = shared_monitors()},
      {.slot = "clock-1", .kind = "api", .threads = 2, .own_monitors = 2, .monitors = shared_monitors()},
  };
  decide_what_stays(parts, options.seed);
  decide_what_ages(parts, options.seed);
  if (has_unlockers(options.seed)) {
    for (Part& part : parts) part.overdue = part.slot == "api-1" || part.slot == "api-2";
  }
  let_visit_each_other(parts);
  std::vector<std::unique_ptr<ClientProcess>> clients;
  std::vector<std::string> for_literals;
  for (const Part& part : parts) {
    const bool settable_clock = part.slot.starts_with("clock");
    if (settable_clock && !fs::exists(fake_time)) continue;
    clients.push_back(make_worker(options, place, part, settable_clock));
    if (part.own_monitors > 1) for_literals.push_back(own_monitor(part.slot, 1));
  }
  if (has_unlockers(options.seed)) {
    for (const char* slot : {"unlocker-1", "unlocker-2"})
      clients.push_back(make_worker(options, place, {.slot = slot, .kind = "unlocker", .monitors = shared_monitors()}));
  }
  clients.push_back(make_literal(options, place, "literal-1", "A", for_literals));
  clients.push_back(make_literal(options, place, "literal-2", "B", for_literals));
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
