#include "cases.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "forelock/c.h"

#define CHECK(condition)                                                                                          \
  do {                                                                                                            \
    if (!(condition)) {                                                                                           \
      fprintf(stderr, "%s:%d: %s; last: %s (%s)\n", __FILE__, __LINE__, #condition, fl_code_name(fl_last_code()), \
              fl_last_message());                                                                                 \
      return 1;                                                                                                   \
    }                                                                                                             \
  } while (0)
#define OK(call) CHECK((call) == FL_OK)

/* Of a case with these names: its client, its locks, one that is held and watched for its loss, and the next event of
 * a kind, of which this is true. */
#define OPEN_CLIENT(client) \
  fl_client client = 0;     \
  if (open_client(host, &client)) return 1
#define HOLD(client, lock)                   \
  OPEN_CLIENT(client);                       \
  NEW_LOCK(lock, FL_FOREGROUND);             \
  OK(fl_lock_watch(lock, FL_ON_LOST, 0, 5)); \
  OK(fl_lock_acquire(lock, timeout_ms))
#define NEW_LOCK(lock, priority) \
  fl_lock lock = 0;              \
  OK(fl_lock_new(client, "case", host->monitor, priority, NULL, &lock))
#define NEXT_EVENT(kind, condition)               \
  if (next_event(client, kind, &event)) return 1; \
  CHECK(condition)

enum { patience_ms = 30000, timeout_ms = 60000 };

static int open_lingering(const test_host* host, const char* linger_ms, fl_client* client) {
  fl_config config = 0;
  OK(fl_config_new(&config));
  const char* keys[] = {"zookeeper.servers", "zookeeper.session.timeout", "zookeeper.foregound.task.timeout",
                        "zookeeper.lock.linger"};
  const char* values[] = {host->servers, "4000", "300", linger_ms};
  OK(fl_config_set_all(config, keys, values, 4));
  OK(fl_client_open(config, 0, client));
  OK(fl_config_free(config));
  OK(fl_client_wait_connected(*client, patience_ms));
  return 0;
}

static int open_client(const test_host* host, fl_client* client) {
  return open_lingering(host, "0", client);
}

/* Frees the client before its locks, which it makes useless. The handles end with a 0. */
static int end(fl_client client, const fl_lock* locks) {
  OK(fl_client_free(client));
  for (; *locks != 0; ++locks) OK(fl_lock_free(*locks));
  return 0;
}

/* The next event of this kind; others are left out. */
static int next_event(fl_client client, int32_t kind, fl_event* event) {
  for (;;) {
    CHECK(fl_poll(client, patience_ms, event, 1) == 1);
    if (event->kind == kind) return 0;
  }
}

static int wait_until_queued(fl_client client, fl_lock lock) {
  fl_event event;
  do {
    if (next_event(client, FL_EVENT_QUEUED, &event)) return 1;
  } while (event.source != lock);
  return 0;
}

/* Its texts are the view's. */
static int show(const test_host* host, fl_client client, fl_view* view, fl_monitor* monitor) {
  monitor->size = sizeof *monitor;
  OK(fl_inspect_show(client, host->monitor, patience_ms, view));
  OK(fl_view_monitor(*view, 0, monitor));
  return 0;
}

/* Until so many of each class wait for the monitor. */
static int wait_until_waiting(const test_host* host, fl_client client, uint64_t foreground, uint64_t background) {
  for (;;) {
    fl_view view = 0;
    fl_monitor monitor;
    if (show(host, client, &view, &monitor)) return 1;
    const int done = monitor.waiting_foreground == foreground && monitor.waiting_background == background;
    OK(fl_view_free(view));
    if (done) return 0;
  }
}

static int blocking(const test_host* host) {
  OPEN_CLIENT(client);
  NEW_LOCK(lock, FL_FOREGROUND);
  CHECK(fl_lock_is_healthy(lock) == 0);
  OK(fl_lock_acquire(lock, timeout_ms));
  CHECK(fl_lock_is_healthy(lock) == 1);
  OK(fl_lock_check_health(lock));
  const int64_t token = fl_lock_token(lock);
  CHECK(token > 0);
  CHECK(fl_lock_expires_at_ns(lock) > 0);
  CHECK(fl_lock_time_left_ns(lock) > 0);
  CHECK(fl_lock_acquire(lock, FL_CONFIGURED) == FL_ALREADY_HELD);
  OK(fl_lock_release(lock));
  CHECK(fl_lock_is_healthy(lock) == 0);
  CHECK(fl_lock_check_health(lock) == FL_LOCK_UNHEALTHY);
  CHECK(fl_lock_release(lock) == FL_NOT_HELD);
  OK(fl_lock_try(lock));
  CHECK(fl_lock_token(lock) > token);
  OK(fl_lock_free(lock));
  CHECK(fl_lock_free(lock) == FL_INVALID_HANDLE);
  CHECK(fl_lock_acquire(lock, 0) == FL_INVALID_HANDLE);
  OK(fl_client_free(client));
  return 0;
}

static int timed_out(const test_host* host) {
  OPEN_CLIENT(client);
  NEW_LOCK(holder, FL_FOREGROUND);
  NEW_LOCK(waiter, FL_FOREGROUND);
  OK(fl_lock_acquire(holder, timeout_ms));
  CHECK(fl_lock_acquire(waiter, FL_CONFIGURED) == FL_LOCK_TIMEOUT);
  CHECK(fl_last_code() == FL_LOCK_TIMEOUT);
  CHECK(fl_is_retryable(fl_last_code()) == 1);
  CHECK(strcmp(fl_last_monitor(), host->monitor) == 0);
  CHECK(strstr(fl_last_message(), "; held by ") != NULL);
  CHECK(strstr(fl_last_message(), " for \"case\"") != NULL);
  CHECK(fl_last_hint()[0] != 0);
  CHECK(fl_lock_try(waiter) == FL_LOCK_UNAVAILABLE);
  OK(fl_lock_acquire_async(waiter, 50, 7));
  fl_event event;
  NEXT_EVENT(FL_EVENT_ACQUIRED,
             event.code == FL_LOCK_TIMEOUT && event.retryable == 1 && event.tag == 7 && event.source == waiter);
  return end(client, (fl_lock[]){holder, waiter, 0});
}

static int cancelled(const test_host* host) {
  OPEN_CLIENT(client);
  NEW_LOCK(holder, FL_FOREGROUND);
  NEW_LOCK(waiter, FL_FOREGROUND);
  int32_t was_waiting = -1;
  OK(fl_lock_cancel(waiter, &was_waiting));
  CHECK(was_waiting == 0);
  OK(fl_lock_acquire(holder, timeout_ms));
  OK(fl_lock_acquire_async(waiter, timeout_ms, 1));
  OK(fl_lock_cancel(waiter, &was_waiting));
  CHECK(was_waiting == 1);
  fl_event event;
  NEXT_EVENT(FL_EVENT_ACQUIRED, event.code == FL_CANCELLED && event.retryable == 0 && event.tag == 1);
  /* A lock that is freed while it waits. */
  OK(fl_lock_acquire_async(waiter, timeout_ms, 2));
  OK(fl_lock_free(waiter));
  NEXT_EVENT(FL_EVENT_ACQUIRED, event.code == FL_CANCELLED && event.tag == 2);
  OK(fl_lock_free(holder));
  OK(fl_client_free(client));
  return 0;
}

/* Blocks for a while; what takes longer ends with an event. */
static int within(const test_host* host) {
  OPEN_CLIENT(client);
  NEW_LOCK(holder, FL_FOREGROUND);
  NEW_LOCK(waiter, FL_FOREGROUND);
  fl_event event;
  int32_t pending = -1;
  OK(fl_lock_release_async(holder, 1));
  NEXT_EVENT(FL_EVENT_RELEASED, event.code == FL_NOT_HELD && event.tag == 1);
  CHECK(fl_lock_acquire_within(holder, FL_CONFIGURED, patience_ms, 2, NULL) == FL_INVALID_ARGUMENT);
  CHECK(fl_lock_acquire_within(holder, FL_CONFIGURED, -1, 2, &pending) == FL_INVALID_ARGUMENT);
  OK(fl_lock_acquire_within(holder, timeout_ms, patience_ms, 2, &pending));
  CHECK(pending == 0 && fl_lock_is_healthy(holder) == 1);
  CHECK(fl_lock_try_within(waiter, patience_ms, 3, &pending) == FL_LOCK_UNAVAILABLE);
  CHECK(fl_lock_acquire_within(waiter, 50, patience_ms, 4, &pending) == FL_LOCK_TIMEOUT);
  OK(fl_lock_acquire_within(waiter, timeout_ms, 10, 5, &pending));
  CHECK(pending == 1);
  OK(fl_lock_release(holder));
  /* The first event since: those before it had none. */
  NEXT_EVENT(FL_EVENT_ACQUIRED,
             event.code == FL_OK && event.tag == 5 && event.source == waiter && event.value == fl_lock_token(waiter));
  OK(fl_lock_release(waiter));
  return end(client, (fl_lock[]){holder, waiter, 0});
}

static int foreground_first(const test_host* host) {
  OPEN_CLIENT(client);
  NEW_LOCK(holder, FL_FOREGROUND);
  NEW_LOCK(background, FL_BACKGROUND);
  NEW_LOCK(foreground, FL_FOREGROUND);
  OK(fl_lock_acquire(holder, timeout_ms));
  OK(fl_lock_watch(background, FL_ON_QUEUED, 0, 0));
  OK(fl_lock_watch(foreground, FL_ON_QUEUED, 0, 0));
  OK(fl_lock_acquire_async(background, timeout_ms, 1));
  if (wait_until_queued(client, background)) return 1;
  OK(fl_lock_acquire_async(foreground, timeout_ms, 2));
  if (wait_until_queued(client, foreground)) return 1;

  fl_view view = 0;
  fl_monitor monitor;
  if (show(host, client, &view, &monitor)) return 1;
  CHECK(monitor.held == 1 && monitor.has_owner == 1 && strcmp(monitor.owner.lock_info, "case") == 0);
  CHECK(monitor.waiting == 2 && monitor.waiting_foreground == 1 && monitor.waiting_background == 1);
  fl_waiter waiter = {.size = sizeof waiter};
  OK(fl_view_waiter(view, 0, &waiter));
  CHECK(waiter.priority == FL_FOREGROUND && waiter.position == 1);
  CHECK(fl_view_waiter(view, 2, &waiter) == FL_INVALID_ARGUMENT);
  OK(fl_view_free(view));
  CHECK(fl_view_free(view) == FL_INVALID_HANDLE);

  OK(fl_lock_release_async(holder, 3));
  fl_event event;
  NEXT_EVENT(FL_EVENT_ACQUIRED, event.code == FL_OK && event.tag == 2 && event.value == fl_lock_token(foreground));
  OK(fl_lock_release(foreground));
  NEXT_EVENT(FL_EVENT_ACQUIRED, event.code == FL_OK && event.tag == 1);
  return end(client, (fl_lock[]){holder, background, foreground, 0});
}

static int priority_set(const test_host* host) {
  OPEN_CLIENT(client);
  NEW_LOCK(holder, FL_FOREGROUND);
  NEW_LOCK(bulk, FL_BACKGROUND);
  NEW_LOCK(moved, FL_BACKGROUND);
  int32_t changed = -1;
  fl_set set = 0;
  OK(fl_set_new(client, "case", (const char*[]){host->monitor}, 1, FL_BACKGROUND, NULL, &set));
  OK(fl_lock_acquire(holder, timeout_ms));
  OK(fl_lock_set_priority(holder, FL_BACKGROUND, &changed));
  CHECK(changed == 0);
  CHECK(fl_lock_set_priority(moved, 7, &changed) == FL_INVALID_ARGUMENT);
  OK(fl_lock_acquire_async(bulk, timeout_ms, 1));
  if (wait_until_waiting(host, client, 0, 1)) return 1;
  OK(fl_lock_acquire_async(moved, timeout_ms, 2));
  OK(fl_set_acquire_async(set, timeout_ms, 3));
  if (wait_until_waiting(host, client, 0, 3)) return 1;
  OK(fl_lock_set_priority(moved, FL_FOREGROUND, &changed));
  CHECK(changed == 1);
  if (wait_until_waiting(host, client, 1, 2)) return 1;
  OK(fl_set_set_priority(set, FL_FOREGROUND, &changed));
  CHECK(changed == 1);
  if (wait_until_waiting(host, client, 2, 1)) return 1;
  OK(fl_lock_release(holder));
  fl_event event;
  NEXT_EVENT(FL_EVENT_ACQUIRED, event.code == FL_OK && event.tag == 2);
  fl_owner owner;
  OK(fl_lock_owner(moved, &owner));
  CHECK(owner.priority == FL_FOREGROUND);
  OK(fl_lock_free(moved));
  NEXT_EVENT(FL_EVENT_ACQUIRED, event.code == FL_OK && event.tag == 3);
  OK(fl_set_set_priority(set, FL_BACKGROUND, &changed));
  CHECK(changed == 0);
  OK(fl_set_free(set));
  NEXT_EVENT(FL_EVENT_ACQUIRED, event.code == FL_OK && event.tag == 1);
  return end(client, (fl_lock[]){holder, bulk, 0});
}

static int queue_max(const test_host* host) {
  OPEN_CLIENT(client);
  NEW_LOCK(holder, FL_FOREGROUND);
  NEW_LOCK(waits, FL_FOREGROUND);
  fl_lock refused = 0;
  fl_lock_options options = {.size = sizeof options, .flags = FL_LOCK_ADMISSION_REFUSE, .queue_max = 1};
  OK(fl_lock_new(client, "case", host->monitor, FL_FOREGROUND, &options, &refused));
  options.queue_max = -2;
  CHECK(fl_lock_new(client, "case", host->monitor, FL_FOREGROUND, &options, &refused) == FL_INVALID_ARGUMENT);
  options.queue_max = FL_UNLIMITED;
  options.flags |= FL_LOCK_ADMISSION_OFF;
  CHECK(fl_lock_new(client, "case", host->monitor, FL_FOREGROUND, &options, &refused) == FL_INVALID_ARGUMENT);
  OK(fl_lock_acquire(holder, timeout_ms));
  OK(fl_lock_acquire_async(waits, timeout_ms, 1));
  if (wait_until_waiting(host, client, 1, 0)) return 1;
  CHECK(fl_lock_acquire(refused, timeout_ms) == FL_LOCK_REFUSED);
  OK(fl_lock_release(holder));
  fl_event event;
  NEXT_EVENT(FL_EVENT_ACQUIRED, event.code == FL_OK && event.tag == 1);
  return end(client, (fl_lock[]){holder, waits, refused, 0});
}

static int expected_wait(const test_host* host) {
  enum { count = 20 };
  OPEN_CLIENT(client);
  NEW_LOCK(holder, FL_FOREGROUND);
  fl_lock line[count];
  fl_event event;
  OK(fl_lock_acquire(holder, timeout_ms));
  for (uint64_t i = 0; i < count; ++i) {
    OK(fl_lock_new(client, "case", host->monitor, FL_FOREGROUND, NULL, &line[i]));
    OK(fl_lock_watch(line[i], FL_ON_QUEUED, 0, i));
    OK(fl_lock_acquire_async(line[i], FL_FOREVER, i));
    NEXT_EVENT(FL_EVENT_QUEUED, event.value == (int64_t)i + 1 && event.hint[0] == 0);
  }
  OK(fl_lock_release(holder));
  for (uint64_t i = 0; i < count; ++i) {
    NEXT_EVENT(FL_EVENT_ACQUIRED, event.code == FL_OK && event.tag == i);
    OK(fl_lock_release(line[i]));
  }
  OK(fl_lock_acquire(holder, timeout_ms));
  OK(fl_lock_acquire_async(line[0], FL_FOREVER, 0));
  do {
    if (next_event(client, FL_EVENT_QUEUED, &event)) return 1;
  } while (event.tag != 0);
  CHECK(event.hint[0] != 0);
  if (end(client, (fl_lock[]){holder, 0})) return 1;
  for (int i = 0; i < count; ++i) OK(fl_lock_free(line[i]));
  return 0;
}

/* Waits until this one stands first in the queue. */
static int wait_until_first(const test_host* host, fl_client client, const char* lock_info) {
  for (;;) {
    fl_view view = 0;
    fl_waiter waiter = {.size = sizeof waiter};
    OK(fl_inspect_show(client, host->monitor, patience_ms, &view));
    OK(fl_view_waiter(view, 0, &waiter));
    const int done = waiter.has_owner && strcmp(waiter.owner.lock_info, lock_info) == 0;
    OK(fl_view_free(view));
    if (done) return 0;
  }
}

static int lock_inside(const test_host* host) {
  char outer_monitor[300];
  snprintf(outer_monitor, sizeof outer_monitor, "%s+", host->monitor);
  OPEN_CLIENT(client);
  NEW_LOCK(holder, FL_FOREGROUND);
  NEW_LOCK(bulk, FL_BACKGROUND);
  fl_lock inner = 0;
  fl_lock outer = 0;
  fl_lock save = 0;
  fl_set set = 0;
  OK(fl_lock_new(client, "inner", host->monitor, FL_BACKGROUND, NULL, &inner));
  OK(fl_lock_new(client, "case", outer_monitor, FL_BACKGROUND, NULL, &outer));
  OK(fl_lock_new(client, "case", outer_monitor, FL_FOREGROUND, NULL, &save));
  OK(fl_set_new(client, "case", (const char*[]){outer_monitor}, 1, FL_BACKGROUND, NULL, &set));
  OK(fl_lock_acquire(holder, timeout_ms));
  OK(fl_lock_acquire(outer, timeout_ms));
  OK(fl_lock_inside(inner, outer));
  OK(fl_lock_acquire_async(bulk, timeout_ms, 1));
  if (wait_until_waiting(host, client, 0, 1)) return 1;
  OK(fl_lock_acquire_async(inner, timeout_ms, 2));
  if (wait_until_waiting(host, client, 0, 2)) return 1;
  OK(fl_lock_acquire_async(save, timeout_ms, 3));
  if (wait_until_first(host, client, "inner")) return 1;
  OK(fl_lock_release(holder));
  fl_event event;
  NEXT_EVENT(FL_EVENT_ACQUIRED, event.code == FL_OK && event.tag == 2);
  OK(fl_lock_inside_set(bulk, set));
  OK(fl_set_inside(set, bulk));
  OK(fl_set_inside_set(set, set));
  CHECK(fl_lock_inside(inner, 0) == FL_INVALID_HANDLE);
  OK(fl_set_free(set));
  return end(client, (fl_lock[]){holder, bulk, inner, outer, save, 0});
}

static int is_lost(fl_client client, fl_lock lock, int64_t reason) {
  fl_event event;
  NEXT_EVENT(FL_EVENT_LOST, event.source == lock && event.tag == 5 && event.value == reason);
  CHECK(fl_lock_is_healthy(lock) == 0);
  CHECK(fl_lock_time_left_ns(lock) == 0);
  CHECK(fl_lock_check_health(lock) == FL_LOCK_UNHEALTHY);
  int32_t state = -1;
  OK(fl_lock_get_state(lock, &state));
  CHECK(state == FL_STATE_LOST);
  return 0;
}

static int lost_by_a_stall(const test_host* host) {
  HOLD(client, lock);
  host->stall(host->context, 1);
  const int lost = is_lost(client, lock, FL_LOSS_DEADLINE_PASSED);
  host->stall(host->context, 0);
  if (lost) return 1;
  CHECK(fl_lock_release(lock) == FL_NO_NODE);
  return end(client, (fl_lock[]){lock, 0});
}

static int removed(const test_host* host) {
  HOLD(client, lock);
  fl_view view = 0;
  fl_monitor monitor;
  if (show(host, client, &view, &monitor)) return 1;
  int32_t result = -1;
  OK(fl_inspect_force_release(client, host->monitor, monitor.holder_node, patience_ms, &result));
  CHECK(result == FL_FORCE_RELEASED);
  OK(fl_view_free(view));
  if (is_lost(client, lock, FL_LOSS_REMOVED)) return 1;
  CHECK(fl_lock_release(lock) == FL_NO_NODE);
  return end(client, (fl_lock[]){lock, 0});
}

static int expired(const test_host* host) {
  HOLD(client, lock);
  fl_client_status status = {.size = sizeof status};
  OK(fl_client_get_status(client, &status));
  CHECK(status.connected == 1 && status.session_id != 0 && status.granted == 1 && status.instance[0] != 0);
  host->expire(host->context, status.session_id);
  if (is_lost(client, lock, FL_LOSS_SESSION_EXPIRED)) return 1;
  CHECK(fl_lock_release(lock) == FL_SESSION_EXPIRED);
  OK(fl_lock_acquire(lock, timeout_ms)); /* in a new session */
  fl_times times = {.size = sizeof times};
  uint64_t waits = 0;
  uint64_t holds = 0;
  OK(fl_client_get_times(client, FL_FOREGROUND, &times));
  for (int i = 0; i < FL_TIMES_BUCKETS; ++i) {
    waits += times.waits[i];
    holds += times.holds[i];
  }
  CHECK(waits == 2 && holds == 1 && times.wait_sum_ns > 0 && times.hold_sum_ns > 0);
  OK(fl_client_get_times(client, FL_BACKGROUND, &times));
  CHECK(times.wait_sum_ns == 0 && times.hold_sum_ns == 0);
  return end(client, (fl_lock[]){lock, 0});
}

static int closed(const test_host* host) {
  HOLD(client, lock);
  NEW_LOCK(waiter, FL_BACKGROUND);
  OK(fl_lock_acquire_async(waiter, timeout_ms, 6));
  OK(fl_client_close(client));
  fl_event events[2];
  CHECK(fl_poll(client, 0, events, 2) == 2);
  const int lost = events[0].kind == FL_EVENT_LOST ? 0 : 1;
  CHECK(events[lost].kind == FL_EVENT_LOST && events[lost].value == FL_LOSS_CLOSED);
  CHECK(events[1 - lost].kind == FL_EVENT_ACQUIRED && events[1 - lost].code == FL_CLOSED && events[1 - lost].tag == 6);
  CHECK(fl_poll(client, 0, events, 2) == -FL_CLOSED);
  CHECK(fl_lock_is_healthy(lock) == 0);
  CHECK(fl_lock_release(lock) == FL_NO_NODE);
  CHECK(fl_lock_acquire(lock, 0) == FL_CLOSED);
  OK(fl_client_free(client));
  CHECK(fl_client_free(client) == FL_INVALID_HANDLE);
  CHECK(fl_poll(client, 0, events, 2) == -FL_INVALID_HANDLE);
  CHECK(fl_lock_acquire(lock, 0) == FL_CLOSED);
  OK(fl_lock_free(lock));
  OK(fl_lock_free(waiter));
  return 0;
}

static int guarded_write(const test_host* host) {
  HOLD(client, lock);
  char path[300];
  snprintf(path, sizeof path, "/data-%s", host->monitor);
  int32_t versions[2] = {-1, -1};
  const fl_write create[] = {{FL_WRITE_CREATE, 0, path, "a", 1}, {FL_WRITE_SET, 0, path, "bc", 2}};
  OK(fl_lock_write_guarded(lock, create, 2, versions));
  CHECK(versions[1] == 1);
  CHECK(fl_lock_write_guarded(lock, create, 2, NULL) == FL_WRITE_CONFLICT);
  CHECK(fl_lock_is_healthy(lock) == 1);
  const fl_write unknown = {77, 0, path, NULL, 0};
  CHECK(fl_lock_write_guarded(lock, &unknown, 1, NULL) == FL_INVALID_ARGUMENT);
  OK(fl_lock_alive(lock, 1000));
  fl_owner owner;
  OK(fl_lock_owner(lock, &owner));
  CHECK(owner.expected_runtime_ms == 1000 && owner.acquired_at_ms > 0 && owner.priority == FL_FOREGROUND);
  OK(fl_lock_step_aside(lock, timeout_ms));
  OK(fl_lock_release(lock));
  CHECK(fl_lock_write_guarded(lock, create, 2, NULL) == FL_LOCK_UNHEALTHY);
  CHECK(fl_lock_step_aside(lock, 0) == FL_LOCK_UNHEALTHY);
  return end(client, (fl_lock[]){lock, 0});
}

static int holder_token(const test_host* host) {
  HOLD(client, lock);
  OPEN_CLIENT(reader);
  const int64_t minute_ms = 60000;
  fl_holder_token seen = {.size = sizeof seen};
  OK(fl_inspect_token(reader, host->monitor, minute_ms, 0, &seen));
  CHECK(seen.token == 0 && seen.age_ns == -1);
  OK(fl_inspect_token(reader, host->monitor, minute_ms, patience_ms, &seen));
  CHECK(seen.token == fl_lock_token(lock) && seen.age_ns >= 0);
  OK(fl_inspect_token(reader, host->monitor, minute_ms, 0, &seen));
  CHECK(seen.token == fl_lock_token(lock) && seen.age_ns >= 0);
  OK(fl_inspect_token(reader, host->monitor, 0, 0, &seen));
  CHECK(seen.age_ns == -1);
  CHECK(fl_inspect_token(reader, host->monitor, -1, 0, &seen) == FL_INVALID_ARGUMENT);
  OK(fl_lock_release(lock));
  OK(fl_lock_acquire(lock, timeout_ms));
  while (seen.token != fl_lock_token(lock)) OK(fl_inspect_token(reader, host->monitor, minute_ms, patience_ms, &seen));
  OK(fl_client_free(reader));
  return end(client, (fl_lock[]){lock, 0});
}

static int identity(const test_host* host) {
  OPEN_CLIENT(first);
  OPEN_CLIENT(second);
  char of_first[FL_IDENTITY_SIZE] = "";
  char of_second[FL_IDENTITY_SIZE] = "";
  OK(fl_inspect_identity(first, patience_ms, of_first));
  OK(fl_inspect_identity(second, patience_ms, of_second));
  CHECK(of_first[0] != 0);
  CHECK(strcmp(of_first, of_second) == 0);
  CHECK(fl_inspect_identity(first, patience_ms, NULL) == FL_INVALID_ARGUMENT);
  OK(fl_client_free(second));

  char servers[256];
  CHECK(snprintf(servers, sizeof servers, "%s/other", host->servers) < (int)sizeof servers);
  fl_config config = 0;
  fl_client other = 0;
  char of_other[FL_IDENTITY_SIZE] = "";
  OK(fl_config_new(&config));
  OK(fl_config_set(config, "zookeeper.servers", servers));
  OK(fl_client_open(config, 0, &other));
  OK(fl_config_free(config));
  OK(fl_inspect_identity(other, patience_ms, of_other));
  CHECK(strcmp(of_first, of_other) != 0);
  OK(fl_client_free(other));
  OK(fl_client_free(first));
  return 0;
}

static int own_grant(const test_host* host) {
  fl_client client = 0;
  if (open_lingering(host, "60000", &client)) return 1;
  NEW_LOCK(lock, FL_FOREGROUND);
  OK(fl_lock_acquire(lock, timeout_ms));
  const int64_t token = fl_lock_token(lock);
  int64_t linger_ms = 0;
  OK(fl_lock_get_linger(lock, &linger_ms));
  CHECK(linger_ms == 60000);
  CHECK(fl_lock_get_linger(lock, NULL) == FL_INVALID_ARGUMENT);
  OK(fl_lock_release(lock));
  fl_view view = 0;
  fl_monitor monitor;
  if (show(host, client, &view, &monitor)) return 1;
  CHECK(monitor.held == 1 && monitor.linger_ms == 60000);
  OK(fl_view_free(view));

  const fl_lock_options options = {.size = sizeof options, .flags = FL_LOCK_NO_LINGER};
  fl_lock own = 0;
  OK(fl_lock_new(client, "case", host->monitor, FL_FOREGROUND, &options, &own));
  OK(fl_lock_acquire(own, timeout_ms));
  CHECK(fl_lock_token(own) > token);
  OK(fl_lock_get_linger(own, &linger_ms));
  CHECK(linger_ms == -1);
  fl_owner owner;
  OK(fl_lock_owner(own, &owner));
  CHECK(owner.alert_at_ms == -1);
  OK(fl_lock_release(own));
  OK(fl_inspect_show(client, host->monitor, patience_ms, &view));
  CHECK(fl_view_monitor(view, 0, &monitor) != FL_OK || monitor.held == 0);
  OK(fl_view_free(view));

  fl_set set = 0;
  OK(fl_set_new(client, "case", &host->monitor, 1, FL_FOREGROUND, &options, &set));
  OK(fl_set_acquire(set, timeout_ms));
  OK(fl_set_release(set));
  fl_client_status status = {.size = sizeof status};
  OK(fl_client_get_status(client, &status));
  CHECK(status.lingering == 0 && status.taken_again == 0);
  OK(fl_client_free(client));
  return 0;
}

static int held_header(const test_host* host) {
  OPEN_CLIENT(client);
  fl_lock lock = 0;
  fl_set set = 0;
  const char* const monitors[] = {"P 2", "P1"};
  OK(fl_lock_new(client, "case", "Gr\303\266\303\237e/1, 2=3%", FL_FOREGROUND, NULL, &lock));
  OK(fl_set_new(client, "case", monitors, 2, FL_FOREGROUND, NULL, &set));
  const char* header = NULL;
  CHECK(fl_lock_held_header(lock, &header) == FL_INVALID_ARGUMENT);
  CHECK(fl_lock_held_header(set, &header) == FL_INVALID_ARGUMENT);
  CHECK(fl_lock_held_header(lock, NULL) == FL_INVALID_ARGUMENT);
  OK(fl_lock_acquire(lock, timeout_ms));
  OK(fl_set_acquire(set, timeout_ms));
  char wanted[256];
  OK(fl_lock_held_header(lock, &header));
  CHECK(snprintf(wanted, sizeof wanted, "Gr%%C3%%B6%%C3%%9Fe%%2F1%%2C%%202%%3D3%%25=%" PRId64, fl_lock_token(lock)) >
        0);
  CHECK(strcmp(header, wanted) == 0);
  int64_t tokens[2] = {0, 0};
  OK(fl_set_member(set, 0, NULL, &tokens[0]));
  OK(fl_set_member(set, 1, NULL, &tokens[1]));
  OK(fl_lock_held_header(set, &header));
  CHECK(snprintf(wanted, sizeof wanted, "P%%202=%" PRId64 ", P1=%" PRId64, tokens[0], tokens[1]) > 0);
  CHECK(strcmp(header, wanted) == 0);
  OK(fl_client_free(client));
  return 0;
}

#define CASE(name) \
  { #name, name }
const named_case all_cases[] = {CASE(blocking),         CASE(timed_out),       CASE(within),    CASE(cancelled),
                                CASE(foreground_first), CASE(priority_set),    CASE(queue_max), CASE(expected_wait),
                                CASE(lock_inside),      CASE(lost_by_a_stall), CASE(removed),   CASE(expired),
                                CASE(closed),           CASE(guarded_write),   CASE(own_grant), CASE(holder_token),
                                CASE(held_header),      CASE(identity),        {NULL, NULL}};
