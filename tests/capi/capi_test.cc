// The C interface on a real server.
#include "capi/cases.h"
#include "capi/client_object.h"
#include "capi/handles.h"
#include "forelock/c.h"
#include "integration/fixture.h"
#include "support/session_killer.h"
#include "support/shared_server.h"
#include "support/tcp_proxy.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

class CInterface : public SharedServerTest<> {
 protected:
  fl_client open_client(const std::string& servers) {
    fl_config config = 0;
    EXPECT_EQ(fl_config_new(&config), FL_OK);
    EXPECT_EQ(fl_config_set(config, "zookeeper.servers", servers.c_str()), FL_OK);
    fl_client client = 0;
    EXPECT_EQ(fl_client_open(config, 0, &client), FL_OK);
    EXPECT_EQ(fl_config_free(config), FL_OK);
    EXPECT_EQ(fl_client_wait_connected(client, 10'000), FL_OK);
    return client;
  }
  static fl_lock new_lock(fl_client client, const std::string& monitor) {
    fl_lock lock = 0;
    EXPECT_EQ(fl_lock_new(client, "test", monitor.c_str(), FL_FOREGROUND, nullptr, &lock), FL_OK);
    return lock;
  }
};

TEST_F(CInterface, TimesWithoutEndAreNotOverBeforeTheyBegin) {
  constexpr auto ever = std::numeric_limits<std::int64_t>::max();
  fl_config config = 0;
  ASSERT_EQ(fl_config_new(&config), FL_OK);
  ASSERT_EQ(fl_config_set(config, "zookeeper.servers", server_->connect_string().c_str()), FL_OK);
  fl_client client = 0;
  ASSERT_EQ(fl_client_open(config, 0, &client), FL_OK);
  EXPECT_EQ(fl_client_wait_connected(client, ever), FL_OK) << fl_last_message();
  fl_view view = 0;
  EXPECT_EQ(fl_inspect_list(client, 1, ever, &view), FL_OK) << fl_last_message();
  EXPECT_EQ(fl_view_free(view), FL_OK);

  fl_lock_options options{};
  options.size = sizeof options;
  options.expected_runtime_ms = ever;
  options.auto_unlock_after_ms = ever;
  fl_lock lock = 0;
  ASSERT_EQ(fl_lock_new(client, "test", "ever", FL_FOREGROUND, &options, &lock), FL_OK);
  ASSERT_EQ(fl_lock_acquire(lock, ever), FL_OK);
  fl_owner owner;
  ASSERT_EQ(fl_lock_owner(lock, &owner), FL_OK);
  EXPECT_GT(owner.alert_at_ms, owner.acquired_at_ms);
  EXPECT_GT(owner.auto_unlock_at_ms, owner.acquired_at_ms);
  EXPECT_EQ(fl_lock_alive(lock, ever), FL_OK);
  ASSERT_EQ(fl_lock_owner(lock, &owner), FL_OK);
  EXPECT_GT(owner.alert_at_ms, owner.acquired_at_ms);
  EXPECT_EQ(fl_lock_free(lock), FL_OK);
  EXPECT_EQ(fl_client_free(client), FL_OK);
  EXPECT_EQ(fl_config_free(config), FL_OK);
}

TEST_F(CInterface, WithoutTimeALockIsAskedForOnce) {
  const fl_client client = open_client(server_->connect_string());
  const fl_lock lock = new_lock(client, "once");
  const fl_lock other = new_lock(client, "once");
  const char* const monitors[] = {"once", "once too"};
  fl_set set = 0;
  ASSERT_EQ(fl_set_new(client, "test", monitors, 2, FL_FOREGROUND, nullptr, &set), FL_OK);
  std::int32_t pending = -1;
  fl_event event;

  ASSERT_EQ(fl_lock_acquire(lock, 0), FL_OK) << fl_last_message();
  EXPECT_EQ(fl_lock_acquire(other, 0), FL_LOCK_UNAVAILABLE);
  EXPECT_EQ(fl_set_acquire(set, 0), FL_LOCK_UNAVAILABLE);
  ASSERT_EQ(fl_lock_acquire_async(other, 0, 1), FL_OK);
  ASSERT_EQ(fl_poll(client, 30'000, &event, 1), 1);
  EXPECT_EQ(event.code, FL_LOCK_UNAVAILABLE);
  EXPECT_EQ(fl_lock_acquire_within(other, 0, 30'000, 2, &pending), FL_LOCK_UNAVAILABLE);
  EXPECT_EQ(fl_lock_release(lock), FL_OK);

  ASSERT_EQ(fl_lock_acquire_async(lock, 0, 3), FL_OK);
  ASSERT_EQ(fl_poll(client, 30'000, &event, 1), 1);
  EXPECT_EQ(event.code, FL_OK);
  EXPECT_EQ(fl_lock_release(lock), FL_OK);
  EXPECT_EQ(fl_lock_acquire_within(lock, 0, 30'000, 4, &pending), FL_OK);
  EXPECT_EQ(fl_lock_release(lock), FL_OK);
  EXPECT_EQ(fl_set_acquire(set, 0), FL_OK) << fl_last_message();
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

TEST_F(CInterface, AMembersNameOutlivesItsSet) {
  const fl_client client = open_client(server_->connect_string());
  const std::string monitor = "a name that is too long to be kept in place";
  const char* const monitors[] = {monitor.c_str(), "other"};
  fl_set set = 0;
  ASSERT_EQ(fl_set_new(client, "test", monitors, 2, FL_FOREGROUND, nullptr, &set), FL_OK);
  const char* name = nullptr;
  ASSERT_EQ(fl_set_member(set, 0, &name, nullptr), FL_OK);
  EXPECT_EQ(fl_set_free(set), FL_OK);
  EXPECT_EQ(name, monitor);
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

TEST_F(CInterface, ATagCancelsItsOwnAcquisitionAlone) {
  const fl_client client = open_client(server_->connect_string());
  const fl_lock holder = new_lock(client, "tags");
  const fl_lock lock = new_lock(client, "tags");
  ASSERT_EQ(fl_lock_acquire(holder, 10'000), FL_OK);
  std::int32_t waited = -1;
  fl_event event;
  EXPECT_EQ(fl_lock_cancel_async(lock, 0, &waited), FL_OK);
  EXPECT_EQ(waited, 0) << "none was begun";
  ASSERT_EQ(fl_lock_acquire_async(lock, 10, 1), FL_OK);
  ASSERT_EQ(fl_poll(client, 10'000, &event, 1), 1);
  EXPECT_EQ(event.code, FL_LOCK_TIMEOUT);
  ASSERT_EQ(fl_lock_acquire_async(lock, 60'000, 2), FL_OK);
  EXPECT_EQ(fl_lock_acquire_async(lock, 60'000, 3), FL_ALREADY_HELD);
  for (const std::uint64_t other : {1u, 3u}) {
    EXPECT_EQ(fl_lock_cancel_async(lock, other, &waited), FL_OK);
    EXPECT_EQ(waited, 0) << other;
  }
  EXPECT_EQ(fl_lock_cancel_async(lock, 2, &waited), FL_OK);
  EXPECT_EQ(waited, 1);
  ASSERT_EQ(fl_poll(client, 10'000, &event, 1), 1);
  EXPECT_EQ(event.code, FL_CANCELLED);
  EXPECT_EQ(event.tag, 2u);
  EXPECT_EQ(fl_lock_free(lock), FL_OK);
  EXPECT_EQ(fl_lock_free(holder), FL_OK);
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

TEST_F(CInterface, TheHolderIsSeenWithoutTheQueue) {
  const fl_client client = open_client(server_->connect_string());
  fl_view view = 0;
  std::size_t count = 1;
  ASSERT_EQ(fl_inspect_holder(client, "looked at", 10'000, &view), FL_OK);
  EXPECT_EQ(fl_view_count(view, &count), FL_OK);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(fl_view_free(view), FL_OK);
  const fl_lock lock = new_lock(client, "looked at");
  const fl_lock waiter = new_lock(client, "looked at");
  ASSERT_EQ(fl_lock_acquire(lock, 10'000), FL_OK);
  ASSERT_EQ(fl_lock_acquire_async(waiter, 60'000, 1), FL_OK);
  ASSERT_EQ(fl_inspect_holder(client, "looked at", 10'000, &view), FL_OK);
  fl_monitor monitor{};
  monitor.size = sizeof monitor;
  ASSERT_EQ(fl_view_monitor(view, 0, &monitor), FL_OK);
  EXPECT_STREQ(monitor.monitor, "looked at");
  EXPECT_EQ(monitor.held, 1);
  EXPECT_STREQ(monitor.owner.lock_info, "test");
  EXPECT_EQ(monitor.holder_token, fl_lock_token(lock));
  EXPECT_EQ(monitor.waiting, 0u);
  EXPECT_EQ(fl_view_free(view), FL_OK);
  EXPECT_EQ(fl_inspect_holder(client, "", 10'000, &view), FL_INVALID_ARGUMENT);
  EXPECT_EQ(fl_lock_free(waiter), FL_OK);
  EXPECT_EQ(fl_lock_free(lock), FL_OK);
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

class SharedCases : public CInterface, public testing::WithParamInterface<const named_case*> {};

TEST_P(SharedCases, Passes) {
  TcpProxy proxy(server_->port());
  struct Context {
    TcpProxy& proxy;
    std::uint16_t port;
  } context{proxy, server_->port()};
  const std::string servers = proxy.connect_string();
  const std::string monitor = std::string("case-") + GetParam()->name;
  test_host host{};
  host.servers = servers.c_str();
  host.monitor = monitor.c_str();
  host.context = &context;
  host.stall = [](void* of, int on) { static_cast<Context*>(of)->proxy.stall(on != 0); };
  host.expire = [](void* of, std::int64_t session) {
    auto& faults = *static_cast<Context*>(of);
    EXPECT_TRUE(end_session("127.0.0.1", faults.port, session));
    faults.proxy.cut_connections();
  };
  EXPECT_EQ(GetParam()->run(&host), 0);
}

std::vector<const named_case*> cases() {
  std::vector<const named_case*> all;
  for (const named_case* one = all_cases; one->name != nullptr; ++one) all.push_back(one);
  return all;
}

INSTANTIATE_TEST_SUITE_P(C, SharedCases, testing::ValuesIn(cases()),
                         [](const auto& one) { return std::string(one.param->name); });

TEST_F(CInterface, ALockFreedByAnotherThreadEndsAWait) {
  const fl_client client = open_client(server_->connect_string());
  const fl_lock holder = new_lock(client, "freed");
  const fl_lock waiter = new_lock(client, "freed");
  ASSERT_EQ(fl_lock_acquire(holder, FL_CONFIGURED), FL_OK);
  std::atomic<int> code{-1};
  std::thread waiting([&] { code = fl_lock_acquire(waiter, FL_FOREVER); });
  EXPECT_TRUE(wait_until([&] {
    int32_t state = -1;
    return fl_lock_get_state(waiter, &state) == FL_OK && state == FL_STATE_WAITING;
  }));
  EXPECT_EQ(fl_lock_free(waiter), FL_OK);
  waiting.join();
  EXPECT_EQ(code, FL_CANCELLED);
  EXPECT_EQ(fl_lock_acquire(waiter, 0), FL_INVALID_HANDLE);
  EXPECT_EQ(fl_lock_free(holder), FL_OK);
  EXPECT_TRUE(wait_until_unused(*server_, "freed"));
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

TEST_F(CInterface, ASetFreedByAnotherThreadEndsAWait) {
  const fl_client client = open_client(server_->connect_string());
  const fl_lock holder = new_lock(client, "freed");
  const char* monitor = "freed";
  fl_set waiter = 0;
  ASSERT_EQ(fl_set_new(client, "test", &monitor, 1, FL_FOREGROUND, nullptr, &waiter), FL_OK);
  ASSERT_EQ(fl_lock_acquire(holder, FL_CONFIGURED), FL_OK);
  auto waiting = std::async(std::launch::async, [&] { return fl_set_acquire(waiter, FL_FOREVER); });
  EXPECT_TRUE(wait_until([&] { return fl_set_waits_for(waiter, &monitor) == FL_OK && *monitor != 0; }));
  EXPECT_EQ(fl_set_free(waiter), FL_OK);
  EXPECT_EQ(waiting.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  EXPECT_EQ(fl_client_close(client), FL_OK);  // ends a wait that goes on all the same
  EXPECT_EQ(waiting.get(), FL_CANCELLED);
  EXPECT_EQ(fl_lock_free(holder), FL_OK);
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

TEST_F(CInterface, DebugLinesTellTheCourseOfALock) {
  fl_config config = 0;
  ASSERT_EQ(fl_config_new(&config), FL_OK);
  ASSERT_EQ(fl_config_set(config, "zookeeper.servers", server_->connect_string().c_str()), FL_OK);
  fl_client client = 0;
  EXPECT_EQ(fl_client_open(config, 4, &client), FL_INVALID_ARGUMENT);
  ASSERT_EQ(fl_client_open(config, FL_CLIENT_LOG_EVENTS | FL_CLIENT_LOG_DEBUG, &client), FL_OK);
  EXPECT_EQ(fl_config_free(config), FL_OK);
  const fl_lock lock = new_lock(client, "course");
  ASSERT_EQ(fl_lock_acquire(lock, FL_FOREVER), FL_OK);
  EXPECT_TRUE(wait_until([&] {
    fl_event event;
    if (fl_poll(client, 100, &event, 1) != 1 || event.kind != FL_EVENT_LOG) return false;
    const std::string line = event.message;
    return event.name == std::string("debug") && line.find("is granted the lock") != std::string::npos;
  }));
  EXPECT_EQ(fl_lock_free(lock), FL_OK);
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

TEST_F(CInterface, WhatEndsInTheCallTakesNoRoomForAnEvent) {
  const fl_client client = open_client(server_->connect_string());
  const fl_lock holder = new_lock(client, "room");
  const fl_lock waiter = new_lock(client, "room");
  const auto reserved = [client] { return capi::find<capi::ClientObject>(client)->events().reserved(); };
  std::int32_t pending = -1;
  EXPECT_EQ(fl_lock_acquire_within(holder, FL_CONFIGURED, 10'000, 1, &pending), FL_OK);
  EXPECT_EQ(pending, 0);
  EXPECT_EQ(fl_lock_acquire_within(holder, FL_CONFIGURED, 10'000, 1, &pending), FL_ALREADY_HELD);
  EXPECT_EQ(fl_lock_acquire_async(holder, FL_CONFIGURED, 1), FL_ALREADY_HELD);
  EXPECT_EQ(fl_lock_try_within(waiter, 10'000, 1, &pending), FL_LOCK_UNAVAILABLE);
  EXPECT_EQ(reserved(), 0u);
  EXPECT_EQ(fl_lock_acquire_within(waiter, FL_FOREVER, 0, 1, &pending), FL_OK);
  EXPECT_EQ(pending, 1);
  EXPECT_EQ(reserved(), 1u);
  EXPECT_EQ(fl_lock_cancel(waiter, nullptr), FL_OK);
  fl_event event;
  EXPECT_EQ(fl_poll(client, 10'000, &event, 1), 1);
  EXPECT_EQ(event.code, FL_CANCELLED);
  // No time does not make it block either.
  EXPECT_EQ(fl_lock_acquire_within(waiter, 0, 0, 2, &pending), FL_OK);
  EXPECT_EQ(pending, 1);
  EXPECT_EQ(fl_poll(client, 10'000, &event, 1), 1);
  EXPECT_EQ(event.code, FL_LOCK_UNAVAILABLE);
  EXPECT_EQ(reserved(), 0u);
  for (const fl_lock lock : {holder, waiter}) EXPECT_EQ(fl_lock_free(lock), FL_OK);
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

TEST_F(CInterface, AClientClosedByAnotherThreadEndsTheWaitForItsConnection) {
  fl_config config = 0;
  ASSERT_EQ(fl_config_new(&config), FL_OK);
  ASSERT_EQ(fl_config_set(config, "zookeeper.servers", "127.0.0.1:1"), FL_OK);
  fl_client client = 0;
  ASSERT_EQ(fl_client_open(config, FL_CLIENT_LOG_EVENTS, &client), FL_OK);
  ASSERT_EQ(fl_config_free(config), FL_OK);
  std::thread connecting([&] { EXPECT_EQ(fl_client_wait_connected(client, 60'000), FL_CLOSED); });
  fl_event event{};
  EXPECT_EQ(fl_poll(client, 30'000, &event, 1), 1) << "it says why it does not connect";
  EXPECT_EQ(fl_client_close(client), FL_OK);
  connecting.join();
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

TEST_F(CInterface, AClientClosedByAnotherThreadEndsPollsAndWaits) {
  const fl_client client = open_client(server_->connect_string());
  const fl_lock holder = new_lock(client, "ended");
  const fl_lock waiter = new_lock(client, "ended");
  ASSERT_EQ(fl_lock_acquire(holder, FL_CONFIGURED), FL_OK);
  std::thread waiting([&] { EXPECT_EQ(fl_lock_acquire(waiter, FL_FOREVER), FL_CLOSED); });
  std::thread polling([&] {
    fl_event event;
    EXPECT_EQ(fl_poll(client, -1, &event, 1), -FL_CLOSED);
  });
  EXPECT_TRUE(wait_until([&] {
    int32_t state = -1;
    return fl_lock_get_state(waiter, &state) == FL_OK && state == FL_STATE_WAITING;
  }));
  EXPECT_EQ(fl_client_close(client), FL_OK);
  waiting.join();
  polling.join();
  EXPECT_EQ(fl_client_free(client), FL_OK);
  EXPECT_EQ(fl_lock_free(holder), FL_OK);
  EXPECT_EQ(fl_lock_free(waiter), FL_OK);
}

TEST_F(CInterface, ASetIsHeldWithAllItsMembers) {
  const fl_client client = open_client(server_->connect_string());
  const char* const monitors[] = {"set-2", "set-1", "set-2"};
  fl_set set = 0;
  EXPECT_EQ(fl_set_new(client, "test", monitors, 0, FL_FOREGROUND, nullptr, &set), FL_INVALID_ARGUMENT);
  EXPECT_EQ(fl_set_new(client, "test", nullptr, 1, FL_FOREGROUND, nullptr, &set), FL_INVALID_ARGUMENT);
  ASSERT_EQ(fl_set_new(client, "test", monitors, 3, FL_FOREGROUND, nullptr, &set), FL_OK);
  ASSERT_EQ(fl_set_size(set), 2u);
  const char* member = nullptr;
  int64_t token = -1;
  EXPECT_EQ(fl_set_member(set, 0, &member, &token), FL_OK);
  EXPECT_STREQ(member, "set-1");
  EXPECT_EQ(token, 0);
  EXPECT_EQ(fl_set_member(set, 2, &member, &token), FL_INVALID_ARGUMENT);
  ASSERT_EQ(fl_set_acquire(set, FL_CONFIGURED), FL_OK) << fl_last_message();
  EXPECT_EQ(fl_set_is_healthy(set), 1);
  EXPECT_GT(fl_set_expires_at_ns(set), 0);
  EXPECT_EQ(fl_set_member(set, 1, nullptr, &token), FL_OK);
  EXPECT_GT(token, 0);
  const fl_lock single = new_lock(client, "set-2");
  EXPECT_EQ(fl_lock_try(single), FL_LOCK_UNAVAILABLE);
  EXPECT_EQ(fl_lock_is_healthy(set), 1) << "the functions of locks take sets";
  EXPECT_EQ(fl_lock_token(set), 0) << "each member has one of its own";
  fl_owner owner;
  EXPECT_EQ(fl_lock_owner(set, &owner), FL_OK);
  EXPECT_STREQ(owner.lock_info, "test");
  EXPECT_EQ(fl_set_size(single), 0u) << "those of sets alone take no locks";
  EXPECT_EQ(fl_set_member(single, 0, &member, &token), FL_INVALID_HANDLE);
  EXPECT_EQ(fl_set_release(set), FL_OK);
  EXPECT_EQ(fl_set_release(set), FL_NOT_HELD);
  EXPECT_EQ(fl_lock_try(single), FL_OK);

  EXPECT_EQ(fl_set_try(set), FL_LOCK_UNAVAILABLE);
  EXPECT_STREQ(fl_last_monitor(), "set-2");
  fl_event event;
  ASSERT_EQ(fl_set_try_async(set, 6), FL_OK);
  ASSERT_EQ(fl_poll(client, 30'000, &event, 1), 1);
  EXPECT_EQ(event.tag, 6u);
  EXPECT_EQ(event.code, FL_LOCK_UNAVAILABLE);
  EXPECT_STREQ(event.monitor, "set-2");
  EXPECT_EQ(fl_set_watch(set, FL_ON_DANGER, 9), FL_INVALID_ARGUMENT) << "it is not told the margin";
  ASSERT_EQ(fl_lock_watch(set, FL_ON_QUEUED, 0, 9), FL_OK);
  ASSERT_EQ(fl_set_acquire_async(set, FL_FOREVER, 7), FL_OK);
  ASSERT_EQ(fl_poll(client, 30'000, &event, 1), 1);
  EXPECT_EQ(event.kind, FL_EVENT_QUEUED);
  EXPECT_EQ(event.tag, 9u);
  EXPECT_EQ(event.value, 1);
  EXPECT_STREQ(event.monitor, "set-2") << "the member that it waits for";
  EXPECT_EQ(fl_lock_release(single), FL_OK);
  ASSERT_EQ(fl_poll(client, 30'000, &event, 1), 1);
  EXPECT_EQ(event.kind, FL_EVENT_ACQUIRED);
  EXPECT_EQ(event.code, FL_OK);
  EXPECT_EQ(event.source, set);
  EXPECT_EQ(event.tag, 7u);
  ASSERT_EQ(fl_set_release_async(set, 8), FL_OK);
  ASSERT_EQ(fl_poll(client, 30'000, &event, 1), 1);
  EXPECT_EQ(event.kind, FL_EVENT_RELEASED);
  EXPECT_EQ(event.code, FL_OK);
  EXPECT_EQ(fl_lock_free(single), FL_OK);
  EXPECT_EQ(fl_set_free(set), FL_OK);
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

TEST_F(CInterface, ASetIsWaitedForAMomentAndThenByAnEvent) {
  const fl_client client = open_client(server_->connect_string());
  const char* const monitors[] = {"within-1", "within-2"};
  fl_set set = 0;
  ASSERT_EQ(fl_set_new(client, "test", monitors, 2, FL_FOREGROUND, nullptr, &set), FL_OK);
  std::int32_t pending = -1;
  EXPECT_EQ(fl_set_acquire_within(set, FL_CONFIGURED, 30'000, 1, nullptr), FL_INVALID_ARGUMENT);
  EXPECT_EQ(fl_set_acquire_within(set, FL_CONFIGURED, -1, 1, &pending), FL_INVALID_ARGUMENT);
  ASSERT_EQ(fl_set_acquire_within(set, FL_CONFIGURED, 30'000, 1, &pending), FL_OK) << fl_last_message();
  EXPECT_EQ(pending, 0);
  const char* waits_for = nullptr;
  EXPECT_EQ(fl_set_waits_for(set, &waits_for), FL_OK);
  EXPECT_STREQ(waits_for, "");
  EXPECT_EQ(fl_set_waits_for(set, nullptr), FL_INVALID_ARGUMENT);
  ASSERT_EQ(fl_set_release(set), FL_OK);
  const fl_lock busy = new_lock(client, "within-2");
  ASSERT_EQ(fl_lock_acquire(busy, FL_CONFIGURED), FL_OK);
  EXPECT_EQ(fl_set_try_within(set, 30'000, 2, &pending), FL_LOCK_UNAVAILABLE);
  EXPECT_EQ(pending, 0);
  fl_event event;
  ASSERT_EQ(fl_set_try_within(set, 0, 2, &pending), FL_OK);
  EXPECT_EQ(pending, 1);
  ASSERT_EQ(fl_poll(client, 30'000, &event, 1), 1);
  EXPECT_EQ(event.code, FL_LOCK_UNAVAILABLE);
  ASSERT_EQ(fl_set_acquire_within(set, FL_FOREVER, 0, 3, &pending), FL_OK);
  ASSERT_EQ(pending, 1);
  EXPECT_TRUE(wait_until([&] {
    EXPECT_EQ(fl_set_waits_for(set, &waits_for), FL_OK);
    return waits_for == std::string("within-2");
  }));
  ASSERT_EQ(fl_lock_release(busy), FL_OK);
  ASSERT_EQ(fl_poll(client, 30'000, &event, 1), 1) << "and nothing for those that ended in their calls";
  EXPECT_EQ(event.kind, FL_EVENT_ACQUIRED);
  EXPECT_EQ(event.code, FL_OK);
  EXPECT_EQ(event.tag, 3u);

  ASSERT_EQ(fl_set_alive(set, 60'000), FL_OK) << fl_last_message();
  EXPECT_EQ(fl_set_alive(set, -1), FL_INVALID_ARGUMENT);
  fl_write write{FL_WRITE_CREATE, -1, "/within", "x", 1};
  std::int32_t version = -1;
  ASSERT_EQ(fl_set_write_guarded(set, &write, 1, &version), FL_OK) << fl_last_message();
  EXPECT_EQ(fl_set_write_guarded(set, &write, 1, nullptr), FL_WRITE_CONFLICT);
  EXPECT_EQ(fl_set_write_guarded(set, nullptr, 1, nullptr), FL_INVALID_ARGUMENT);
  ASSERT_EQ(fl_set_release(set), FL_OK);
  EXPECT_EQ(fl_set_write_guarded(set, &write, 1, nullptr), FL_LOCK_UNHEALTHY);
  EXPECT_EQ(fl_set_watch_danger(set, 0, 4), FL_INVALID_ARGUMENT);
  EXPECT_EQ(fl_set_watch_danger(set, 1'000, 4), FL_OK);

  /* One that is freed while it waits. */
  ASSERT_EQ(fl_lock_acquire(busy, FL_CONFIGURED), FL_OK);
  ASSERT_EQ(fl_set_acquire_within(set, FL_FOREVER, 0, 5, &pending), FL_OK);
  ASSERT_EQ(pending, 1);
  EXPECT_EQ(fl_set_free(set), FL_OK);
  ASSERT_EQ(fl_poll(client, 30'000, &event, 1), 1);
  EXPECT_EQ(event.code, FL_CANCELLED);
  EXPECT_EQ(event.tag, 5u);
  EXPECT_EQ(fl_lock_free(busy), FL_OK);
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

TEST_F(CInterface, ASetThatIsLostNamesTheMember) {
  const fl_client client = open_client(server_->connect_string());
  const char* const monitors[] = {"lost-1", "lost-2"};
  fl_set set = 0;
  ASSERT_EQ(fl_set_new(client, "test", monitors, 2, FL_BACKGROUND, nullptr, &set), FL_OK);
  EXPECT_EQ(fl_set_watch(set, FL_ON_DANGER, 0), FL_INVALID_ARGUMENT);
  ASSERT_EQ(fl_set_watch(set, FL_ON_LOST, 5), FL_OK);
  ASSERT_EQ(fl_set_acquire(set, FL_CONFIGURED), FL_OK);
  Client admin(settings_for(server_->connect_string()));
  Inspector inspector(admin);
  ASSERT_EQ(inspector.force_release("lost-2", *inspector.show("lost-2")->holder->node), ForceReleaseResult::released);
  fl_event event;
  ASSERT_EQ(fl_poll(client, 30'000, &event, 1), 1);
  EXPECT_EQ(event.kind, FL_EVENT_LOST);
  EXPECT_EQ(event.value, FL_LOSS_REMOVED);
  EXPECT_EQ(event.tag, 5u);
  EXPECT_STREQ(event.monitor, "lost-2");
  int32_t state = -1;
  EXPECT_EQ(fl_set_get_state(set, &state), FL_OK);
  EXPECT_EQ(state, FL_STATE_LOST);
  EXPECT_EQ(fl_set_check_health(set), FL_LOCK_UNHEALTHY);
  EXPECT_STREQ(fl_last_monitor(), "lost-2");
  EXPECT_EQ(fl_set_release(set), FL_NO_NODE);
  EXPECT_TRUE(wait_until_unused(*server_, "lost-1"));
  EXPECT_EQ(fl_set_free(set), FL_OK);
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

TEST_F(CInterface, TenThousandWaitWithoutThreadsAndAreCancelled) {
  const fl_client client = open_client(server_->connect_string());
  constexpr std::size_t count = 10'000;
  const fl_lock holder = new_lock(client, "many");
  ASSERT_EQ(fl_lock_acquire(holder, FL_CONFIGURED), FL_OK);
  std::vector<fl_lock> locks;
  for (std::size_t i = 0; i < count; ++i) {
    locks.push_back(new_lock(client, "many"));
    ASSERT_EQ(fl_lock_acquire_async(locks.back(), FL_FOREVER, i), FL_OK);
  }
  for (const fl_lock lock : locks) EXPECT_EQ(fl_lock_cancel(lock, nullptr), FL_OK);
  std::vector<int> answers(count, 0);
  std::vector<fl_event> events(256);
  for (std::size_t got = 0; got < count;) {
    const auto some = fl_poll(client, 30'000, events.data(), events.size());
    ASSERT_GT(some, 0);
    for (std::int64_t i = 0; i < some; ++i) {
      const fl_event& event = events[static_cast<std::size_t>(i)];
      EXPECT_EQ(event.code, FL_CANCELLED);
      ++answers[event.tag];
    }
    got += static_cast<std::size_t>(some);
  }
  EXPECT_EQ(answers, std::vector<int>(count, 1));
  for (const fl_lock lock : locks) EXPECT_EQ(fl_lock_free(lock), FL_OK);
  EXPECT_EQ(fl_lock_free(holder), FL_OK);
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

}  // namespace
}  // namespace forelock::test
