// Events of the C interface beyond completions, stacks, and what its inspector shows.
#include <poll.h>

#include "capi/client_object.h"
#include "capi/handles.h"
#include "forelock/c.h"
#include "integration/fixture.h"
#include "support/shared_server.h"
#include "support/tcp_proxy.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

constexpr std::int64_t patience_ms = 30'000;

class CEvents : public SharedServerTest<> {
 protected:
  static fl_client open_client(const std::string& servers, const char* key = nullptr, const char* value = nullptr) {
    fl_config config = 0;
    EXPECT_EQ(fl_config_new(&config), FL_OK);
    EXPECT_EQ(fl_config_set(config, "zookeeper.servers", servers.c_str()), FL_OK);
    EXPECT_EQ(fl_config_set(config, "zookeeper.session.timeout", "4000"), FL_OK);
    if (key != nullptr) {
      EXPECT_EQ(fl_config_set(config, key, value), FL_OK) << fl_last_message();
    }
    fl_client client = 0;
    EXPECT_EQ(fl_client_open(config, 0, &client), FL_OK);
    EXPECT_EQ(fl_config_free(config), FL_OK);
    EXPECT_EQ(fl_client_wait_connected(client, patience_ms), FL_OK);
    return client;
  }
  static fl_client open_client() { return open_client(server_->connect_string()); }
  static fl_lock new_lock(fl_client client, const char* monitor, std::int32_t priority = FL_FOREGROUND,
                          const fl_lock_options* options = nullptr) {
    fl_lock lock = 0;
    EXPECT_EQ(fl_lock_new(client, "case", monitor, priority, options, &lock), FL_OK);
    return lock;
  }
  static fl_event next_event(fl_client client) {
    fl_event event{};
    EXPECT_EQ(fl_poll(client, patience_ms, &event, 1), 1);
    return event;
  }
  static fl_monitor shown(fl_view view, std::size_t index = 0) {
    fl_monitor monitor{};
    monitor.size = sizeof monitor;
    EXPECT_EQ(fl_view_monitor(view, index, &monitor), FL_OK) << fl_last_message();
    return monitor;
  }
  static std::string stack_of(fl_lock lock) {
    fl_owner owner{};
    EXPECT_EQ(fl_lock_owner(lock, &owner), FL_OK);
    return owner.stack;
  }
};

TEST_F(CEvents, AHolderIsToldOfEachClassThatWaitsBehindIt) {
  const fl_client client = open_client();
  const fl_client other = open_client();
  const fl_lock holder = new_lock(client, "contended");
  ASSERT_EQ(fl_lock_watch(holder, FL_ON_CONTENDED, 0, 9), FL_OK);
  ASSERT_EQ(fl_lock_acquire(holder, FL_CONFIGURED), FL_OK);
  for (const std::int32_t priority : {FL_BACKGROUND, FL_FOREGROUND}) {
    const fl_lock waiter = new_lock(other, "contended", priority);
    ASSERT_EQ(fl_lock_acquire_async(waiter, FL_FOREVER, 1), FL_OK);
    const fl_event event = next_event(client);
    EXPECT_EQ(event.kind, FL_EVENT_CONTENDED);
    EXPECT_EQ(event.source, holder);
    EXPECT_EQ(event.tag, 9u);
    EXPECT_EQ(event.value, priority);
    EXPECT_STREQ(event.monitor, "contended");
  }
  EXPECT_EQ(fl_client_free(other), FL_OK);
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

TEST_F(CEvents, ADescriptorTellsAnEventLoopThatALockIsGranted) {
  const fl_client client = open_client();
  pollfd descriptor{.fd = -1, .events = POLLIN, .revents = 0};
  ASSERT_EQ(fl_client_get_fd(client, &descriptor.fd), FL_OK) << fl_last_message();
  const fl_lock lock = new_lock(client, "descriptor");
  ASSERT_EQ(fl_lock_acquire_async(lock, FL_CONFIGURED, 5), FL_OK);
  ASSERT_EQ(poll(&descriptor, 1, int{patience_ms}), 1);
  fl_event event{};
  ASSERT_EQ(fl_poll(client, 0, &event, 1), 1);
  EXPECT_EQ(event.kind, FL_EVENT_ACQUIRED);
  EXPECT_EQ(event.tag, 5u);
  EXPECT_EQ(poll(&descriptor, 1, 0), 0);
  EXPECT_EQ(fl_client_close(client), FL_OK);
  ASSERT_EQ(poll(&descriptor, 1, int{patience_ms}), 1);
  EXPECT_EQ(fl_poll(client, 0, &event, 1), -FL_CLOSED);
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

TEST_F(CEvents, ASilentConnectionIsADangerBeforeTheLockIsLost) {
  TcpProxy proxy(server_->port());
  const fl_client client = open_client(proxy.connect_string());
  const fl_lock lock = new_lock(client, "danger");
  EXPECT_EQ(fl_lock_watch(lock, FL_ON_DANGER, 60'000, 3), FL_INVALID_ARGUMENT) << "more than a third of the time-out";
  EXPECT_EQ(fl_lock_watch(lock, 16, 100, 3), FL_INVALID_ARGUMENT);
  ASSERT_EQ(fl_lock_watch(lock, FL_ON_DANGER | FL_ON_LOST, 500, 3), FL_OK);
  ASSERT_EQ(fl_lock_acquire(lock, FL_CONFIGURED), FL_OK);
  proxy.stall(true);
  const fl_event danger = next_event(client);
  EXPECT_EQ(danger.kind, FL_EVENT_DANGER);
  EXPECT_EQ(danger.source, lock);
  EXPECT_EQ(danger.tag, 3u);
  const fl_event lost = next_event(client);
  EXPECT_EQ(lost.kind, FL_EVENT_LOST);
  EXPECT_EQ(lost.value, FL_LOSS_DEADLINE_PASSED);
  proxy.stall(false);
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

TEST_F(CEvents, ALockThatIsRemovedWhileItsRequestToStepAsideIsUnderWayIsNotHeld) {
  TcpProxy proxy(server_->port());
  const fl_client client = open_client(proxy.connect_string());
  const fl_client admin = open_client();
  const fl_lock lock = new_lock(client, "aside", FL_BACKGROUND);
  ASSERT_EQ(fl_lock_acquire(lock, FL_CONFIGURED), FL_OK);
  const auto state = [lock] {
    std::int32_t now = -1;
    EXPECT_EQ(fl_lock_get_state(lock, &now), FL_OK);
    return now;
  };
  proxy.stall(true);
  std::int32_t code = -1;
  std::thread stepping([&] { code = fl_lock_step_aside(lock, patience_ms); });
  EXPECT_TRUE(wait_until([&] { return state() == FL_STATE_WAITING; }));
  fl_view view = 0;
  EXPECT_EQ(fl_inspect_show(admin, "aside", patience_ms, &view), FL_OK);
  std::int32_t result = -1;
  EXPECT_EQ(fl_inspect_force_release(admin, "aside", shown(view).holder_node, patience_ms, &result), FL_OK);
  EXPECT_EQ(result, FL_FORCE_RELEASED);
  EXPECT_EQ(fl_view_free(view), FL_OK);
  proxy.stall(false);
  stepping.join();
  EXPECT_EQ(code, FL_LOCK_UNHEALTHY);
  EXPECT_EQ(state(), FL_STATE_LOST);
  EXPECT_EQ(fl_client_free(client), FL_OK);
  EXPECT_EQ(fl_client_free(admin), FL_OK);
}

// Completions are never dropped; and that a lock is not healthy any more needs no event.
TEST_F(CEvents, WhatNobodyFetchesIsDroppedAndCounted) {
  const fl_client client = open_client();
  const fl_lock lock = new_lock(client, "dropped");
  const fl_lock waiter = new_lock(client, "dropped");
  ASSERT_EQ(fl_lock_watch(lock, FL_ON_LOST, 0, 2), FL_OK);
  ASSERT_EQ(fl_lock_acquire(lock, FL_CONFIGURED), FL_OK);
  ASSERT_EQ(fl_lock_acquire_async(waiter, FL_FOREVER, 1), FL_OK);
  constexpr std::size_t kept = 65'536;
  for (std::size_t i = 0; i < kept; ++i) {
    capi::find<capi::ClientObject>(client)->events().notify({.kind = FL_EVENT_QUEUED});
  }
  EXPECT_EQ(fl_client_close(client), FL_OK);
  EXPECT_EQ(fl_lock_is_healthy(lock), 0);
  std::vector<fl_event> events(kept + 10);
  ASSERT_EQ(fl_poll(client, 0, events.data(), events.size()), static_cast<std::int64_t>(kept + 2));
  EXPECT_EQ(events[kept].kind, FL_EVENT_ACQUIRED);
  EXPECT_EQ(events[kept].code, FL_CLOSED);
  EXPECT_EQ(events[kept + 1].kind, FL_EVENT_DROPPED);
  EXPECT_EQ(events[kept + 1].value, 1) << "the loss";
  EXPECT_EQ(fl_poll(client, 0, events.data(), events.size()), -FL_CLOSED);
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

TEST_F(CEvents, ARecordSaysWhereTheHostCalled) {
  const fl_client client = open_client();
  const fl_lock lock = new_lock(client, "stack");
  EXPECT_EQ(fl_lock_set_stack(1, "a"), FL_INVALID_HANDLE);
  ASSERT_EQ(fl_lock_set_stack(lock, "inner (a.rb:1)\nouter (b.rb:2)\n\n"), FL_OK);
  ASSERT_EQ(fl_lock_acquire(lock, FL_CONFIGURED), FL_OK);
  fl_view view = 0;
  ASSERT_EQ(fl_inspect_show(client, "stack", patience_ms, &view), FL_OK);
  EXPECT_STREQ(shown(view).owner.stack, "inner (a.rb:1)\nouter (b.rb:2)");
  EXPECT_EQ(fl_view_free(view), FL_OK);
  ASSERT_EQ(fl_lock_release(lock), FL_OK);
  ASSERT_EQ(fl_lock_acquire(lock, FL_CONFIGURED), FL_OK);
  EXPECT_EQ(stack_of(lock), "") << "of one acquisition alone";
  ASSERT_EQ(fl_lock_release(lock), FL_OK);

  std::string many;
  for (int i = 0; i < 100; ++i) many += "frame " + std::to_string(i) + "\n";
  ASSERT_EQ(fl_lock_set_stack(lock, many.c_str()), FL_OK);
  ASSERT_EQ(fl_lock_acquire(lock, FL_CONFIGURED), FL_OK);
  EXPECT_TRUE(stack_of(lock).ends_with("\nframe 31")) << stack_of(lock);
  ASSERT_EQ(fl_lock_release(lock), FL_OK);
  ASSERT_EQ(fl_lock_set_stack(lock, std::string(1 << 20, 'x').c_str()), FL_OK);
  ASSERT_EQ(fl_lock_acquire(lock, FL_CONFIGURED), FL_OK);
  EXPECT_EQ(stack_of(lock).size(), 4096u);
  ASSERT_EQ(fl_lock_release(lock), FL_OK);
  ASSERT_EQ(fl_lock_set_stack(lock, "a"), FL_OK);
  ASSERT_EQ(fl_lock_set_stack(lock, nullptr), FL_OK);
  ASSERT_EQ(fl_lock_acquire(lock, FL_CONFIGURED), FL_OK);
  EXPECT_EQ(stack_of(lock), "");
  EXPECT_EQ(fl_lock_free(lock), FL_OK);

  // A host whose frames are native ones leaves it to the library.
  fl_lock_options options{};
  options.size = sizeof options;
  options.capture_stack = 1;
  const fl_lock native = new_lock(client, "stack-native", FL_FOREGROUND, &options);
  ASSERT_EQ(fl_lock_acquire(native, FL_CONFIGURED), FL_OK);
  EXPECT_NE(stack_of(native), "");
  ASSERT_EQ(fl_lock_release(native), FL_OK);
  ASSERT_EQ(fl_lock_set_stack(native, "told"), FL_OK);
  ASSERT_EQ(fl_lock_acquire(native, FL_CONFIGURED), FL_OK);
  EXPECT_EQ(stack_of(native), "told");
  EXPECT_EQ(fl_lock_free(native), FL_OK);

  const char* const monitors[] = {"stack-1", "stack-2"};
  fl_set set = 0;
  ASSERT_EQ(fl_set_new(client, "case", monitors, 2, FL_FOREGROUND, nullptr, &set), FL_OK);
  ASSERT_EQ(fl_set_set_stack(set, "of the set"), FL_OK);
  ASSERT_EQ(fl_set_acquire(set, FL_CONFIGURED), FL_OK);
  ASSERT_EQ(fl_inspect_show(client, "stack-2", patience_ms, &view), FL_OK);
  EXPECT_STREQ(shown(view).owner.stack, "of the set");
  EXPECT_EQ(fl_view_free(view), FL_OK);
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

// The stack of an acquisition that needs no record is not kept for a later one.
TEST_F(CEvents, ALockThatHasLingeredKeepsTheStackOfItsRecord) {
  const fl_client client = open_client(server_->connect_string(), "zookeeper.lock.linger", "60000");
  const fl_lock lock = new_lock(client, "stack-lingers");
  const fl_lock second = new_lock(client, "stack-lingers");
  ASSERT_EQ(fl_lock_set_stack(lock, "first"), FL_OK);
  ASSERT_EQ(fl_lock_acquire(lock, FL_CONFIGURED), FL_OK);
  ASSERT_EQ(fl_lock_release(lock), FL_OK);
  ASSERT_EQ(fl_lock_set_stack(second, "second"), FL_OK);
  ASSERT_EQ(fl_lock_acquire(second, FL_CONFIGURED), FL_OK);
  EXPECT_EQ(stack_of(second), "");
  fl_view view = 0;
  ASSERT_EQ(fl_inspect_show(client, "stack-lingers", patience_ms, &view), FL_OK);
  EXPECT_STREQ(shown(view).owner.stack, "first");
  EXPECT_EQ(fl_view_free(view), FL_OK);
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

TEST_F(CEvents, AListShowsWhatIsHeldOrWaitedFor) {
  const fl_client client = open_client(server_->connect_string() + "/list");
  fl_view view = 0;
  std::size_t count = 7;
  ASSERT_EQ(fl_inspect_list(client, 0, patience_ms, &view), FL_OK) << fl_last_message();
  EXPECT_EQ(fl_view_count(view, &count), FL_OK);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(fl_view_free(view), FL_OK);
  EXPECT_EQ(fl_inspect_list(client, 0, -1, &view), FL_INVALID_ARGUMENT);
  EXPECT_EQ(fl_inspect_list(client, 0, patience_ms, nullptr), FL_INVALID_ARGUMENT);

  const fl_lock held = new_lock(client, "b");
  const fl_lock waiter = new_lock(client, "b", FL_BACKGROUND);
  const fl_lock other = new_lock(client, "a");
  ASSERT_EQ(fl_lock_acquire(held, FL_CONFIGURED), FL_OK);
  ASSERT_EQ(fl_lock_acquire(other, FL_CONFIGURED), FL_OK);
  ASSERT_EQ(fl_lock_watch(waiter, FL_ON_QUEUED, 0, 0), FL_OK);
  ASSERT_EQ(fl_lock_acquire_async(waiter, FL_FOREVER, 1), FL_OK);
  EXPECT_EQ(next_event(client).kind, FL_EVENT_QUEUED);
  ASSERT_EQ(fl_inspect_list(client, 1, patience_ms, &view), FL_OK);
  ASSERT_EQ(fl_view_count(view, &count), FL_OK);
  ASSERT_EQ(count, 2u);
  const fl_monitor first = shown(view, 0);
  EXPECT_STREQ(first.monitor, "a");
  EXPECT_EQ(first.waiting, 0u);
  EXPECT_EQ(first.oldest_wait_ms, -1);
  const fl_monitor second = shown(view, 1);
  EXPECT_STREQ(second.monitor, "b");
  EXPECT_EQ(second.held, 1);
  EXPECT_EQ(second.holder_token, fl_lock_token(held));
  EXPECT_EQ(second.waiting_background, 1u);
  EXPECT_GE(second.oldest_wait_ms, 0);
  fl_monitor none{};
  none.size = sizeof none;
  EXPECT_EQ(fl_view_monitor(view, 2, &none), FL_INVALID_ARGUMENT);
  // A program of older headers knows the beginning of the structure.
  none.size = offsetof(fl_monitor, oldest_wait_ms);
  none.oldest_wait_ms = 4711;
  EXPECT_EQ(fl_view_monitor(view, 0, &none), FL_OK);
  EXPECT_EQ(none.oldest_wait_ms, 4711);
  fl_view set = 0;
  EXPECT_EQ(fl_inspect_set(client, view, -1, patience_ms, &set), FL_INVALID_ARGUMENT) << "a view of several";
  EXPECT_EQ(fl_view_free(view), FL_OK);
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

TEST_F(CEvents, TheInspectorTellsWhatASetHoldsAndWaitsFor) {
  const fl_client client = open_client();
  const fl_lock busy = new_lock(client, "seen-2");
  ASSERT_EQ(fl_lock_acquire(busy, FL_CONFIGURED), FL_OK);
  const char* const monitors[] = {"seen-1", "seen-2"};
  fl_set set = 0;
  ASSERT_EQ(fl_set_new(client, "of the set", monitors, 2, FL_FOREGROUND, nullptr, &set), FL_OK);
  ASSERT_EQ(fl_set_acquire_async(set, FL_FOREVER, 1), FL_OK);
  fl_view view = 0;
  EXPECT_TRUE(wait_until([&] {
    EXPECT_EQ(fl_inspect_show(client, "seen-2", patience_ms, &view), FL_OK);
    if (shown(view).waiting == 1) return true;
    EXPECT_EQ(fl_view_free(view), FL_OK);
    return false;
  }));
  fl_view of_set = 7;
  EXPECT_EQ(fl_inspect_set(client, view, -1, patience_ms, &of_set), FL_OK) << fl_last_message();
  EXPECT_EQ(of_set, 0u) << "the holder is a single lock";
  EXPECT_EQ(fl_inspect_set(client, view, -2, patience_ms, &of_set), FL_INVALID_ARGUMENT);
  EXPECT_EQ(fl_inspect_set(client, view, 1, patience_ms, &of_set), FL_INVALID_ARGUMENT);
  EXPECT_EQ(fl_inspect_set(client, view, 0, patience_ms, nullptr), FL_INVALID_ARGUMENT);
  EXPECT_EQ(fl_inspect_set(client, client, 0, patience_ms, &of_set), FL_INVALID_HANDLE);
  ASSERT_EQ(fl_inspect_set(client, view, 0, patience_ms, &of_set), FL_OK) << fl_last_message();
  fl_seen_set seen{};
  EXPECT_EQ(fl_view_set(of_set, &seen), FL_INVALID_ARGUMENT) << "no size";
  seen.size = sizeof seen;
  EXPECT_EQ(fl_view_set(view, &seen), FL_INVALID_ARGUMENT);
  ASSERT_EQ(fl_view_set(of_set, &seen), FL_OK);
  EXPECT_EQ(seen.members, 2u);
  EXPECT_EQ(seen.named, 2u);
  EXPECT_EQ(seen.held, 1u);
  EXPECT_STREQ(seen.waits_for, "seen-2");
  EXPECT_EQ(seen.behind_holder, 1);
  EXPECT_STREQ(seen.owner.lock_info, "case");
  EXPECT_EQ(seen.holder_token, fl_lock_token(busy));
  EXPECT_EQ(seen.linger_ms, -1);
  const char* member = nullptr;
  std::int32_t held = -1;
  EXPECT_EQ(fl_view_set_member(of_set, 0, &member, &held), FL_OK);
  EXPECT_STREQ(member, "seen-1");
  EXPECT_EQ(held, 1);
  EXPECT_EQ(fl_view_set_member(of_set, 1, nullptr, &held), FL_OK);
  EXPECT_EQ(held, 0);
  EXPECT_EQ(fl_view_set_member(of_set, 2, &member, &held), FL_INVALID_ARGUMENT);
  EXPECT_EQ(fl_view_free(view), FL_OK);
  EXPECT_EQ(fl_view_free(of_set), FL_OK);
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

}  // namespace
}  // namespace forelock::test
