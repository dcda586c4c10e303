
#include <nlohmann/json.hpp>

#include "cli/monitors/views_json.h"
#include "support/test.h"

namespace forelock::cli {
namespace {

HolderView holder() {
  HolderView view;
  view.owner.emplace();
  view.owner->lock_info = "Save";
  view.owner->guid = "g";
  view.owner->instance = "h/1/main";
  view.priority = Priority::foreground;
  view.node = "A-0000000003";
  view.session = 0x1000;
  view.token = 9'007'199'254'740'993;
  view.held = milliseconds(12);
  return view;
}

constexpr const char* owner_json =
    R"({"enqueuedAt":"1970-01-01T00:00:00.000Z","guid":"g","instance":"h/1/main","lockInfo":"Save",)"
    R"("priority":"foreground"})";

TEST(CliJson, HolderIsAsInTheContract) {
  EXPECT_EQ(json_of(holder()).dump(), std::string(R"({"owner":)") + owner_json +
                                          R"(,"priority":"foreground","node":"A-0000000003","session":"0x1000",)"
                                          R"("token":"9007199254740993","held_ms":12})");
}

TEST(CliJson, WhatIsNotKnownIsNull) {
  HolderView view;
  view.session = -1;
  EXPECT_EQ(json_of(view).dump(),
            R"({"owner":null,"priority":null,"node":null,"session":"0xffffffffffffffff","token":"0","held_ms":0})");
}

TEST(CliJson, MonitorIsAsInTheContract) {
  MonitorView view;
  view.monitor = "P1";
  view.path = "/P1";
  EXPECT_EQ(json_of(view).dump(), R"({"monitor":"P1","path":"/P1","holder":null,"queue":[]})");
  WaiterView waiter;
  waiter.position = 1;
  waiter.node = "B-0000000004";
  waiter.priority = Priority::background;
  waiter.session = 0x1001;
  waiter.waited = milliseconds(7);
  waiter.behind = "privateLock";
  view.queue.push_back(waiter);
  EXPECT_EQ(json_of(view)["queue"].dump(),
            R"([{"position":1,"node":"B-0000000004","priority":"background","owner":null,)"
            R"("session":"0x1001","waited_ms":7,"behind":"privateLock"}])");
}

TEST(CliJson, ListIsAsInTheContract) {
  MonitorSummary summary;
  summary.monitor = "P1";
  summary.waiting_foreground = 1;
  summary.waiting_background = 3;
  summary.oldest_wait = milliseconds(1234);
  EXPECT_EQ(json_of(std::vector<MonitorSummary>{summary}).dump(),
            R"({"monitors":[{"monitor":"P1","holder":null,"waiting":{"foreground":1,"background":3},)"
            R"("oldest_wait_ms":1234}]})");
}

}  // namespace
}  // namespace forelock::cli
