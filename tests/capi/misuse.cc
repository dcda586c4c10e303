// Misuses the C interface: random calls of several threads on random handles, closed and made-up ones included.
//
// misuse SERVERS OUTBOX SECONDS [SEED]. Exits 0 if it survived and no handle is left; 2 if one is, 3 if what it called
// had nothing to do. OUTBOX is a file that does not exist.
#include "capi/handle_table.h"
#include "forelock/c.h"
#include "support/standard.h"

namespace {

constexpr std::size_t places = 32;
constexpr int threads = 4;

std::atomic<fl_handle> clients[4];
std::atomic<fl_handle> locks[places];
std::atomic<fl_handle> sets[places];
std::atomic<fl_handle> configs[4];
std::atomic<fl_handle> letters[2];
std::atomic<fl_handle> runners[4];
std::atomic<fl_handle> operations[places];
std::atomic<fl_handle> attempts[places];
std::atomic<fl_handle> replays[2];
std::atomic<std::int64_t> calls{0};
std::atomic<std::int64_t> attempts_ended{0};
std::atomic<std::int64_t> letters_taken{0};
std::atomic<std::int64_t> letters_replayed{0};
std::string servers;
std::string outbox;

fl_config new_config() {
  fl_config config = 0;
  if (fl_config_new(&config) != FL_OK) return 0;
  fl_config_set(config, "zookeeper.servers", servers.c_str());
  fl_config_set(config, "zookeeper.foregound.task.timeout", "100");
  fl_config_set(config, "elastic.request.retry.count", "2");
  fl_config_set(config, "dlq.outbox.path", outbox.c_str());
  return config;
}

// Every second one lets its locks linger.
fl_client open_client(std::uint64_t number) {
  const fl_config config = new_config();
  fl_client client = 0;
  if (number % 2 == 0) fl_config_set(config, "zookeeper.lock.linger", number % 4 == 0 ? "50" : "5000");
  const std::uint32_t detail = number % 8 == 3 ? std::uint32_t{FL_CLIENT_LOG_DEBUG} : 0;
  fl_client_open(config, FL_CLIENT_LOG_EVENTS | detail, &client);
  fl_config_free(config);
  return client;
}

fl_dlq open_letters() {
  const fl_config config = new_config();
  fl_dlq dlq = 0;
  fl_dlq_open(config, &dlq);
  fl_config_free(config);
  return dlq;
}

void replace(std::atomic<fl_handle>& place, fl_handle handle, std::int32_t (*free)(fl_handle)) {
  free(place.exchange(handle));
}

void open_runner(fl_client client, fl_dlq dlq, std::uint64_t max_operations, std::uint64_t retry_burst,
                 std::atomic<fl_handle>& place) {
  fl_runner_options options{};
  options.size = sizeof options;
  options.backoff_initial_ms = 1;
  options.backoff_cap_ms = 5;
  options.max_operations = max_operations;
  options.retry_burst = retry_burst;
  fl_runner runner = 0;
  if (fl_runner_new(client, dlq, &options, &runner) == FL_OK) replace(place, runner, fl_runner_free);
}

class Misuser {
 public:
  explicit Misuser(std::uint64_t seed) : random_(seed) {}

  void call() {
    ++calls;
    switch (pick(11)) {
      case 0:
      case 1:
        return call_set();
      case 2:
      case 3:
        return call_operation();
      case 4:
        return call_config();
      case 5:
        return call_inspector();
      case 6:
        return poll();
      case 7:
        return call_replay();
      default:
        return call_lock();
    }
  }

 private:
  void call_lock() {
    const fl_handle lock = any_lock();
    const auto timeout = static_cast<std::int64_t>(pick(30));
    fl_handle out = 0;
    std::int32_t number = 0;
    switch (pick(26)) {
      case 0:
      case 1: {
        const std::string monitor = "m" + std::to_string(pick(6));
        fl_lock_options options{};
        options.size = pick(20) == 0 ? pick(100) : sizeof options;
        options.expected_runtime_ms = static_cast<std::int64_t>(pick(100));
        options.capture_stack = static_cast<std::int32_t>(pick(2));
        options.flags = pick(3);
        const fl_lock_options* const given = pick(2) == 0 ? &options : nullptr;
        if (fl_lock_new(any_client(), "misuse", monitor.c_str(), static_cast<int>(pick(3)), given, &out) == FL_OK) {
          replace(locks[pick(places)], out, fl_lock_free);
        }
        break;
      }
      case 2:
        if (pick(3) == 0) fl_lock_set_stack(lock, pick(5) == 0 ? nullptr : "inner\n\nouter\n");
        if (pick(2) == 0) {
          fl_lock_acquire(lock, timeout);
        } else {
          fl_lock_acquire_within(lock, timeout * 10, timeout, 4, &number);
        }
        break;
      case 3:
        fl_lock_try(lock);
        break;
      case 4:
      case 5:
        fl_lock_acquire_async(lock, timeout * 10, 1);
        break;
      case 6:
        fl_lock_try_async(lock, 2);
        break;
      case 7:
        fl_lock_set_priority(lock, static_cast<std::int32_t>(pick(3)), &number);
        fl_lock_cancel(lock, &number);
        fl_lock_cancel_async(lock, pick(3), &number);
        break;
      case 8:
        fl_lock_release(lock);
        break;
      case 9:
        fl_lock_release_async(lock, 3);
        break;
      case 10:
        fl_lock_release_detached(lock);
        break;
      case 11:
        fl_lock_step_aside(lock, timeout);
        break;
      case 12:
        fl_lock_watch(lock, static_cast<std::uint32_t>(pick(32)), 100, 4);
        break;
      case 13:
        fl_lock_is_healthy(lock);
        fl_lock_check_health(lock);
        break;
      case 14:
        fl_lock_token(lock);
        fl_lock_expires_at_ns(lock);
        fl_lock_time_left_ns(lock);
        break;
      case 15: {
        fl_owner owner;
        fl_lock_owner(lock, &owner);
        break;
      }
      case 16:
        fl_lock_alive(lock, timeout);
        break;
      case 17: {
        const fl_write write{static_cast<std::int32_t>(pick(6)), -1, "/misuse", "x", 1};
        fl_lock_write_guarded(lock, &write, 1, &number);
        break;
      }
      case 18:
        fl_lock_free(lock);
        break;
      case 19:
        if (fl_inspect_show(any_client(), "m1", 1000, &out) == FL_OK) {
          fl_monitor monitor{};
          monitor.size = sizeof monitor;
          fl_view_monitor(out, pick(2), &monitor);
          fl_view_free(out);
        }
        break;
      case 20: {
        fl_client_status status{};
        status.size = sizeof status;
        fl_client_get_status(any_client(), &status);
        fl_times times{};
        times.size = sizeof times;
        fl_client_get_times(any_client(), static_cast<std::int32_t>(pick(3)), &times);
        break;
      }
      case 21:
        if (pick(40) == 0) replace(clients[pick(std::size(clients))], open_client(random_()), fl_client_free);
        break;
      case 22:
        if (pick(40) == 0) fl_client_close(any_client());
        break;
      case 23:
        fl_lock_get_state(lock, &number);
        break;
      case 24: {
        std::int64_t linger = 0;
        fl_lock_get_linger(lock, &linger);
        break;
      }
      default:
        poll();
        break;
    }
  }

  void poll() {
    std::int32_t descriptor = -1;
    if (pick(4) == 0) fl_client_get_fd(any_client(), &descriptor);
    fl_event events[32];
    const std::int64_t count = fl_poll(any_client(), static_cast<std::int64_t>(pick(3)), events, std::size(events));
    for (std::int64_t i = 0; i < count; ++i) {
      if (events[i].kind != FL_EVENT_ATTEMPT && events[i].kind != FL_EVENT_LETTER) continue;
      if (pick(2) == 0) {
        // What stood there has ended, or is left to the runner or replay that is freed.
        attempts[pick(places)] = events[i].source;
      } else if (events[i].kind == FL_EVENT_LETTER) {
        replay(events[i].source);
      } else if (fl_attempt_succeed(events[i].source) == FL_OK) {
        ++attempts_ended;
      }
    }
  }

  static void replay(fl_attempt attempt) {
    fl_letter letter{};
    letter.size = sizeof letter;
    if (fl_attempt_letter(attempt, &letter) == FL_OK && std::string(letter.type) != "misuse") std::abort();
    if (fl_attempt_succeed(attempt) == FL_OK) ++letters_replayed;
  }

  void call_operation() {
    const fl_attempt attempt = handle(attempts[pick(places)]);
    fl_operation_spec spec{};
    const std::string monitor = "m" + std::to_string(pick(8));
    spec.size = pick(30) == 0 ? pick(200) : sizeof spec;
    spec.type = pick(30) == 0 ? nullptr : "misuse";
    spec.monitor = monitor.c_str();
    spec.priority = static_cast<std::int32_t>(pick(3));
    spec.payload = pick(30) == 0 ? nullptr : monitor.data();
    spec.payload_length = pick(2) * monitor.size();
    spec.timeout_ms = static_cast<std::int64_t>(pick(3) * pick(100));
    fl_handle out = 0;
    std::int32_t number = 0;
    switch (pick(16)) {
      case 0:
        if (pick(20) == 0) replace(letters[pick(std::size(letters))], open_letters(), fl_dlq_free);
        break;
      case 1:
        if (pick(10) != 0) break;
        open_runner(any_client(), any_letters(), pick(50), pick(100), runners[pick(std::size(runners))]);
        break;
      case 2:
      case 3:
      case 4:
        if (fl_runner_submit(any_runner(), &spec, 11, pick(2) == 0 ? &out : nullptr) == FL_OK && out != 0) {
          replace(operations[pick(places)], out, fl_operation_free);
        }
        break;
      case 5:
        fl_operation_cancel(handle(operations[pick(places)]));
        break;
      case 6:
        fl_operation_free(handle(operations[pick(places)]));
        break;
      case 7:
      case 8:
        if (fl_attempt_succeed(attempt) == FL_OK) ++attempts_ended;
        break;
      case 9:
      case 10:
        fl_attempt_fail(attempt, pick(10) == 0 ? nullptr : "misuse", "on purpose", static_cast<std::int32_t>(pick(2)));
        break;
      case 11:
        fl_lock_watch(attempt, FL_ON_LOST | FL_ON_CONTENDED, 0, 12);
        fl_lock_is_healthy(attempt);
        fl_lock_alive(attempt, 10);
        break;
      case 12: {
        const fl_write write{static_cast<std::int32_t>(pick(6)), -1, "/misuse", "x", 1};
        fl_lock_write_guarded(attempt, &write, 1, &number);
        break;
      }
      case 13: {
        fl_failed_attempt failed[3]{};
        for (fl_failed_attempt& one : failed) {
          one.size = sizeof one;
          one.code = pick(10) == 0 ? nullptr : "misuse";
        }
        if (pick(10) == 0) failed[0].size = 8 * pick(sizeof failed[0] / 8);
        const char* id = nullptr;
        if (fl_dlq_accept(any_client(), any_letters(), &spec, failed, pick(4), 3, &id) == FL_OK) {
          ++letters_taken;
        }
        break;
      }
      case 14: {
        fl_dlq_status status{};
        status.size = sizeof status;
        fl_dlq_get_status(any_letters(), &status);
        fl_dlq_flush(any_letters(), 0, &number);
        break;
      }
      default:
        if (pick(60) == 0) fl_runner_free(any_runner());
        poll();
        break;
    }
  }

  void call_replay() {
    const fl_attempt attempt = handle(attempts[pick(places)]);
    const fl_replay replay = handle(replays[pick(std::size(replays))]);
    fl_replay_options options{};
    const char* const values[] = {"misuse", pick(30) == 0 ? nullptr : "m1"};
    options.size = pick(30) == 0 ? pick(200) : sizeof options;
    options.types = pick(2) == 0 ? values : nullptr;
    options.type_count = pick(3);
    options.max = pick(5);
    options.max_tries = 1'000'000;
    options.lock_timeout_ms = static_cast<std::int64_t>(pick(100));
    switch (pick(7)) {
      case 0: {
        fl_replay out = 0;
        if (fl_dlq_replay(any_client(), any_letters(), pick(5) == 0 ? nullptr : &options, 13, &out) == FL_OK) {
          replace(replays[pick(std::size(replays))], out, fl_replay_free);
        }
        break;
      }
      case 1: {
        fl_replay_preview preview{};
        preview.size = sizeof preview;
        fl_dlq_preview_replay(any_letters(), &options, &preview);
        break;
      }
      case 2: {
        fl_letter letter{};
        letter.size = pick(10) == 0 ? pick(200) : sizeof letter;
        fl_attempt_letter(attempt, &letter);
        fl_failed_attempt failed{};
        failed.size = sizeof failed;
        fl_attempt_failure(attempt, pick(3), &failed);
        break;
      }
      case 3: {
        fl_replay_report report{};
        report.size = sizeof report;
        fl_replay_get_report(replay, &report);
        fl_unresolved_letter letter{};
        letter.size = sizeof letter;
        fl_replay_unresolved(replay, pick(3), &letter);
        break;
      }
      case 4:
        fl_attempt_should_stop(attempt);
        break;
      case 5:
        if (pick(10) == 0) fl_replay_stop(replay);
        break;
      default:
        if (pick(20) == 0) fl_replay_free(replay);
        break;
    }
  }

  void call_config() {
    const fl_config config = handle(configs[pick(std::size(configs))]);
    static constexpr const char* keys[] = {"zookeeper.servers",
                                           "zookeeper.lock.linger",
                                           "dlq.outbox.path",
                                           "kafka.bootstrap.servers",
                                           "no.such.key",
                                           "",
                                           nullptr};
    static constexpr const char* values[] = {"127.0.0.1:1", "5s", "-1", "max", "\xff", "", nullptr};
    const char* const key = keys[pick(std::size(keys))];
    const char* const value = values[pick(std::size(values))];
    const char* text = nullptr;
    fl_config out = 0;
    switch (pick(8)) {
      case 0:
        replace(configs[pick(std::size(configs))], new_config(), fl_config_free);
        break;
      case 1: {
        const std::string content =
            std::string("zookeeper.servers=h:1\n\\u00e4=\\\n x\n") + static_cast<char>(pick(256));
        if (fl_config_parse(content.data(), pick(content.size() + 1), "misuse", &out) == FL_OK) {
          replace(configs[pick(std::size(configs))], out, fl_config_free);
        }
        break;
      }
      case 2:
        if (fl_config_load(pick(2) == 0 ? "/does/not/exist.properties" : nullptr, &out) == FL_OK) fl_config_free(out);
        break;
      case 3:
        fl_config_set(config, key, value);
        break;
      case 4:
        fl_config_get(config, key, &text);
        break;
      case 5: {
        const char* const all_keys[] = {key, keys[pick(std::size(keys))]};
        const char* const all_values[] = {value, values[pick(std::size(values))]};
        fl_config_set_all(config, all_keys, all_values, pick(3));
        break;
      }
      case 6:
        fl_config_free(config);
        break;
      default:
        fl_client_wait_connected(any_client(), static_cast<std::int64_t>(pick(5)));
        fl_last_message();
        fl_last_hint();
        fl_last_monitor();
        break;
    }
  }

  void call_inspector() {
    char identity[FL_IDENTITY_SIZE];
    if (pick(20) == 0) fl_inspect_identity(any_client(), 1000, pick(4) == 0 ? nullptr : identity);
    const std::string name = "m" + std::to_string(pick(7));
    fl_holder_token token{};
    token.size = pick(10) == 0 ? pick(30) : sizeof token;
    fl_inspect_token(any_client(), name.c_str(), static_cast<std::int64_t>(pick(3000)) - 1,
                     static_cast<std::int64_t>(pick(2)) * 1000, pick(20) == 0 ? nullptr : &token);
    fl_view view = 0;
    const std::int32_t code = pick(3) == 0
                                  ? fl_inspect_list(any_client(), static_cast<std::int32_t>(pick(2)), 1000, &view)
                              : pick(2) == 0 ? fl_inspect_show(any_client(), name.c_str(), 1000, &view)
                                             : fl_inspect_holder(any_client(), name.c_str(), 1000, &view);
    if (code != FL_OK) return;
    std::size_t count = 0;
    fl_view_count(view, &count);
    fl_monitor monitor{};
    monitor.size = pick(10) == 0 ? pick(300) : sizeof monitor;
    std::int32_t result = 0;
    if (fl_view_monitor(view, pick(3), &monitor) == FL_OK && monitor.size == sizeof monitor && monitor.held == 1 &&
        pick(50) == 0) {
      fl_inspect_force_release(any_client(), name.c_str(), monitor.holder_node, 1000, &result);
    }
    fl_waiter waiter{};
    waiter.size = sizeof waiter;
    fl_view_waiter(view, pick(3), &waiter);
    fl_view set = 0;
    if (fl_inspect_set(any_client(), view, static_cast<std::int64_t>(pick(4)) - 2, 1000, &set) == FL_OK && set != 0) {
      fl_seen_set seen{};
      seen.size = sizeof seen;
      fl_view_set(set, &seen);
      const char* member = nullptr;
      fl_view_set_member(set, pick(3), &member, &result);
      fl_view_free(set);
    }
    fl_view_free(view);
  }

  void call_set() {
    const fl_set set = handle(sets[pick(places)]);
    const auto timeout = static_cast<std::int64_t>(pick(30));
    std::int32_t number = 0;
    const char* text = nullptr;
    switch (pick(20)) {
      case 0:
      case 1: {
        const std::string names[] = {"m" + std::to_string(pick(6)), "m" + std::to_string(pick(6))};
        const char* const monitors[] = {names[0].c_str(), names[1].c_str()};
        fl_set made = 0;
        if (fl_set_new(any_client(), "misuse", monitors, pick(3), static_cast<std::int32_t>(pick(3)), nullptr, &made) ==
            FL_OK) {
          replace(sets[pick(places)], made, fl_set_free);
        }
        break;
      }
      case 2:
        fl_set_set_stack(set, "of a set");
        fl_set_acquire(set, timeout);
        break;
      case 3:
        fl_set_acquire_within(set, timeout * 10, timeout, 5, &number);
        break;
      case 4:
        fl_set_try_within(set, timeout, 6, &number);
        break;
      case 5:
        fl_set_try(set);
        break;
      case 6:
        fl_set_acquire_async(set, timeout * 10, 7);
        break;
      case 7:
        fl_set_try_async(set, 8);
        break;
      case 8:
        fl_set_set_priority(set, static_cast<std::int32_t>(pick(3)), &number);
        fl_set_cancel(set, &number);
        fl_set_cancel_async(set, pick(9), &number);
        break;
      case 9:
        fl_set_release(set);
        break;
      case 10:
        fl_set_release_async(set, 9);
        break;
      case 11:
        fl_set_release_detached(set);
        break;
      case 12:
        fl_set_step_aside(set, timeout);
        break;
      case 13:
        fl_set_watch(set, static_cast<std::uint32_t>(pick(32)), 10);
        fl_set_watch_danger(set, timeout * 10, 10);
        break;
      case 14:
        fl_set_alive(set, timeout);
        break;
      case 15: {
        const fl_write write{static_cast<std::int32_t>(pick(6)), -1, "/misuse", "x", 1};
        fl_set_write_guarded(set, &write, 1, &number);
        break;
      }
      case 16:
        // The text is this thread's, whoever frees the set meanwhile.
        if (fl_set_waits_for(set, &text) == FL_OK && text[0] != 0 && text[0] != 'm') std::abort();
        break;
      case 17:
        fl_set_free(set);
        break;
      default:
        fl_set_is_healthy(set);
        fl_set_check_health(set);
        fl_set_expires_at_ns(set);
        fl_set_get_state(set, &number);
        if (fl_set_member(set, pick(3), &text, nullptr) == FL_OK && text[0] != 'm') std::abort();
        break;
    }
  }

  std::size_t pick(std::size_t below) { return random_() % below; }
  fl_handle any_client() { return handle(clients[pick(std::size(clients))]); }
  fl_handle any_runner() { return handle(runners[pick(std::size(runners))]); }
  fl_handle any_letters() { return handle(letters[pick(std::size(letters))]); }
  fl_handle any_lock() { return handle(locks[pick(places)]); }
  // Now and then one that is none, or of another kind.
  fl_handle handle(const std::atomic<fl_handle>& place) {
    switch (pick(40)) {
      case 0:
        return random_();
      case 1:
        return clients[0];
      case 2:
        return locks[0];
      case 4:
        return runners[0];
      case 5:
        return attempts[0];
      case 6:
        return letters[0];
      case 7:
        return replays[0];
      case 3:
        return place ^ (fl_handle{1} << pick(64));
      default:
        return place;
    }
  }
  std::mt19937_64 random_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 64;
  servers = argv[1];
  outbox = argv[2];
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[3]));
  const std::uint64_t seed = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  for (std::size_t i = 0; i < std::size(clients); ++i) clients[i] = open_client(i);
  for (auto& place : letters) place = open_letters();
  for (std::size_t i = 0; i < std::size(runners); ++i) open_runner(clients[i], letters[0], 0, 0, runners[i]);
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t) {
    team.emplace_back([&, t] {
      Misuser misuser(seed + static_cast<std::uint64_t>(t));
      while (std::chrono::steady_clock::now() < end) misuser.call();
    });
  }
  for (std::thread& thread : team) thread.join();
  for (auto& place : replays) fl_replay_free(place);
  for (auto& place : runners) fl_runner_free(place);
  for (auto& place : operations) fl_operation_free(place);
  for (auto& place : letters) fl_dlq_free(place);
  for (auto& place : configs) fl_config_free(place);
  for (auto& place : locks) fl_lock_free(place);
  for (auto& place : sets) fl_set_free(place);
  for (auto& place : clients) fl_client_free(place);
  const auto left = forelock::capi::HandleTable::instance().size();
  std::printf("%lld calls, %lld attempts succeeded, %lld letters taken, %lld replayed, %zu handles left\n",
              static_cast<long long>(calls.load()), static_cast<long long>(attempts_ended.load()),
              static_cast<long long>(letters_taken.load()), static_cast<long long>(letters_replayed.load()), left);
  std::fflush(stdout);  // a sanitizer's report may be the end of the process
  // Else the calls have missed what they are about; a busy machine does not make enough of them in a few seconds.
  constexpr long long enough_calls = 20'000;
  if (calls.load() >= enough_calls && (attempts_ended == 0 || letters_taken == 0)) return 3;
  return left == 0 ? 0 : 2;
}
