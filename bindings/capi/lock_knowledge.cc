// What is known of a held lock, and what may be done under it.
#include <algorithm>
#include <chrono>
#include <string>

#include "capi/lock_arguments.h"
#include "capi/lock_object.h"
#include "capi/owner.h"
#include "forelock/c.h"

using namespace forelock;
using namespace forelock::capi;
using std::chrono::steady_clock;

extern "C" {

int32_t fl_lock_is_healthy(fl_handle lock) {
  return read_held(lock, 0, [](const client::Hold& of) { return of.healthy() ? 1 : 0; });
}

int32_t fl_lock_check_health(fl_handle lock) {
  return capi::run([&] { find_held(lock)->hold().check_health(); });
}

int64_t fl_lock_token(fl_handle lock) {
  return read_held(lock, int64_t{0}, [](const client::Hold& of) { return of.token(); });
}

int32_t fl_lock_held_header(fl_handle lock, const char** header) {
  thread_local std::string text;  // the lock may be freed as soon as its use here ends
  return capi::run([&] {
    const char*& result = target(header);
    text = find_held(lock)->hold().held_header();
    result = text.c_str();
  });
}

int64_t fl_lock_expires_at_ns(fl_handle lock) {
  return read_held(lock, int64_t{0}, [](const client::Hold& of) { return count_ns(of.expires_at()); });
}

int64_t fl_lock_time_left_ns(fl_handle lock) {
  return read_held(lock, int64_t{0}, [](const client::Hold& of) {
    if (!of.healthy()) return int64_t{0};
    return std::max(int64_t{0}, count_ns(of.expires_at()) - count_ns(steady_clock::now()));
  });
}

int32_t fl_lock_get_state(fl_handle lock, int32_t* state) {
  return capi::run([&] { target(state) = state_of(find_held(lock)->hold().state()); });
}

int32_t fl_lock_owner(fl_handle lock, fl_owner* owner) {
  thread_local OwnerText text;
  return capi::run([&] {
    text = OwnerText(find_held(lock)->hold().owner());
    target(owner) = text.to_c();
  });
}

int32_t fl_lock_get_linger(fl_handle lock, int64_t* linger_ms) {
  return capi::run([&] { target(linger_ms) = OwnerText(find_held(lock)->hold().owner()).linger_ms(); });
}

int32_t fl_lock_alive(fl_handle lock, int64_t expected_ms) {
  return capi::run([&] {
    const auto use = find_held(lock);
    use->hold().alive(duration_of(expected_ms, "the expected time is negative"));
  });
}

int32_t fl_lock_write_guarded(fl_handle lock, const fl_write* writes, size_t count, int32_t* versions) {
  return capi::run([&] {
    const auto use = find_held(lock);
    tell_versions(use->hold().write_guarded(writes_of(writes, count)), versions);
  });
}
}
