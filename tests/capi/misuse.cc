// Misuses the C interface: random calls of several threads on random handles, closed and made-up ones included.
//
// misuse SERVERS SECONDS [SEED]. Exits 0 if it survived and no
// handle is left.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "capi/handle_table.h"
#include "forelock/c.h"

namespace {

constexpr std::size_t places = 32;
constexpr int threads = 4;

std::atomic<fl_handle> clients[4];
std::atomic<fl_handle> locks[places];
std::atomic<fl_handle> sets[places];
std::atomic<std::int64_t> calls{0};
std::string servers;

fl_client open_client() {
  fl_config config = 0;
  fl_client client = 0;
  if (fl_config_new(&config) != FL_OK) return 0;
  fl_config_set(config, "zookeeper.servers", servers.c_str());
  fl_config_set(config, "zookeeper.foregound.task.timeout", "100");
  fl_client_open(config, FL_CLIENT_LOG_EVENTS, &client);
  fl_config_free(config);
  return client;
}

class Misuser {
 public:
  explicit Misuser(std::uint64_t seed) : random_(seed) {}

  void call() {
    ++calls;
    if (pick(3) == 0) return call_set();
    const fl_handle lock = any_lock();
    const auto timeout = static_cast<std::int64_t>(pick(30));
    fl_handle out = 0;
    std::int32_t number = 0;
    switch (pick(26)) {
      case 0:
      case 1: {
        const std::string monitor = "m" + std::to_string(pick(6));
        if (fl_lock_new(any_client(), "misuse", monitor.c_str(), static_cast<int>(pick(3)), nullptr, &out) == FL_OK) {
          replace(locks[pick(places)], out, fl_lock_free);
        }
        break;
      }
      case 2:
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
        fl_lock_cancel(lock, &number);
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
        break;
      }
      case 21:
        if (pick(40) == 0) replace(clients[pick(std::size(clients))], open_client(), fl_client_free);
        break;
      case 22:
        if (pick(40) == 0) fl_client_close(any_client());
        break;
      case 23:
        fl_lock_get_state(lock, &number);
        break;
      default: {
        fl_event events[8];
        fl_poll(any_client(), static_cast<std::int64_t>(pick(3)), events, std::size(events));
        break;
      }
    }
  }

 private:
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
        fl_set_cancel(set, &number);
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
        fl_set_waits_for(set, &text);  // another thread may free the set, and the text with it
        break;
      case 17:
        fl_set_free(set);
        break;
      default:
        fl_set_is_healthy(set);
        fl_set_check_health(set);
        fl_set_expires_at_ns(set);
        fl_set_get_state(set, &number);
        fl_set_member(set, pick(3), nullptr, nullptr);
        break;
    }
  }

  std::size_t pick(std::size_t below) { return random_() % below; }
  fl_handle any_client() { return handle(clients[pick(std::size(clients))]); }
  fl_handle any_lock() { return handle(locks[pick(places)]); }
  // Now and then one that is none, or of another kind.
  fl_handle handle(const std::atomic<fl_handle>& place) {
    switch (pick(30)) {
      case 0:
        return random_();
      case 1:
        return clients[0];
      case 2:
        return locks[0];
      case 3:
        return place ^ (fl_handle{1} << pick(64));
      default:
        return place;
    }
  }
  static void replace(std::atomic<fl_handle>& place, fl_handle handle, std::int32_t (*free)(fl_handle)) {
    free(place.exchange(handle));
  }

  std::mt19937_64 random_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 64;
  servers = argv[1];
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[2]));
  const std::uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  for (auto& place : clients) place = open_client();
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t) {
    team.emplace_back([&, t] {
      Misuser misuser(seed + static_cast<std::uint64_t>(t));
      while (std::chrono::steady_clock::now() < end) misuser.call();
    });
  }
  for (std::thread& thread : team) thread.join();
  for (auto& place : locks) fl_lock_free(place);
  for (auto& place : sets) fl_set_free(place);
  for (auto& place : clients) fl_client_free(place);
  const auto left = forelock::capi::HandleTable::instance().size();
  std::printf("%lld calls, %zu handles left\n", static_cast<long long>(calls.load()), left);
  std::fflush(stdout);  // a sanitizer's report may be the end of the process
  return left == 0 ? 0 : 2;
}
