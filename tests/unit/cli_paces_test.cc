// How fast queues come forward: cli/monitors/paces.h; and what is shown of it.
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/monitors/paces.h"
#include "cli/serve/picture.h"

namespace forelock::cli {
namespace {

using namespace std::chrono_literals;

constexpr Paces::Steady first_look{1h};

// A queue of the nodes with these numbers.
MonitorView queue_of(const std::string& monitor, int from, int to) {
  MonitorView view;
  view.monitor = monitor;
  view.path = '/' + monitor;
  for (int number = from; number < to; ++number) {
    WaiterView waiter;
    waiter.position = view.queue.size() + 1;
    waiter.node = "A-" + std::to_string(number);
    view.queue.push_back(waiter);
  }
  return view;
}

TEST(Paces, APlaceTakesAsLongAsThoseThatHaveLeft) {
  Paces paces;
  EXPECT_TRUE(paces.take({queue_of("P", 0, 20)}, first_look).empty());
  EXPECT_TRUE(paces.take({queue_of("P", 5, 20)}, first_look + 1s).empty()) << "five say nothing";
  const auto known = paces.take({queue_of("P", 10, 40), queue_of("Q", 0, 9)}, first_look + 2s);
  EXPECT_EQ(known, (Paces::ByMonitor{{"P", 200ms}}));
  const auto slower = paces.take({queue_of("P", 10, 40), queue_of("Q", 9, 20)}, first_look + 3s);
  EXPECT_EQ(slower, (Paces::ByMonitor{{"P", 300ms}, {"Q", std::chrono::nanoseconds(1s) / 9}}));
}

TEST(Paces, WhatIsLongAgoDoesNotCount) {
  Paces paces;
  paces.take({queue_of("P", 0, 100)}, first_look);
  paces.take({queue_of("P", 50, 100)}, first_look + 1s);
  const auto later = paces.take({queue_of("P", 60, 100)}, first_look + 1s + Paces::window);
  EXPECT_EQ(later, (Paces::ByMonitor{{"P", Paces::window / 10}}));
}

TEST(Paces, OfNoTimeAtAllNothingIsKnown) {
  Paces paces;
  paces.take({queue_of("P", 0, 20)}, first_look);
  EXPECT_TRUE(paces.take({queue_of("P", 10, 20)}, first_look).empty());
  EXPECT_EQ(paces.take({queue_of("P", 10, 20)}, first_look + 1s), (Paces::ByMonitor{{"P", 100ms}}));
}

TEST(Paces, AQueueThatWasEmptyBeginsAnew) {
  Paces paces;
  paces.take({queue_of("P", 0, 100)}, first_look);
  paces.take({queue_of("P", 100, 100)}, first_look + 1s);
  EXPECT_TRUE(paces.take({queue_of("P", 100, 120)}, first_look + 2s).empty());
}

TEST(Paces, APictureTellsTheExpectedWaits) {
  const MonitorView view = queue_of("P", 0, 3);
  const Picture known({view}, first_look, WallTime(), 3s, {{"P", 250ms}});
  const auto json = known.view(*known.find("P"));
  EXPECT_EQ(json["queue"][0]["expected_wait_ms"], 250);
  EXPECT_EQ(json["queue"][2]["expected_wait_ms"], 750);
  const Picture without({view}, first_look, WallTime(), 3s);
  EXPECT_FALSE(without.view(*without.find("P"))["queue"][0].contains("expected_wait_ms"));
}

TEST(Pictures, TellWhatElseTheHoldersProcessHoldsAndWaitsFor) {
  const auto held = [](const std::string& id, std::int64_t session) {
    MonitorView view;
    view.monitor = id;
    view.holder.emplace().session = session;
    return view;
  };
  MonitorView waited = held("P3", 8);
  for (const std::int64_t session : {7, 7, 9}) waited.queue.emplace_back().session = session;
  const Picture picture({held("P1", 7), held("P2", 7), waited, held("P4", 9)}, first_look, WallTime(), 3s);
  const auto told = [&](const char* id) { return picture.view(*picture.find(id))["same_process"].dump(); };
  EXPECT_EQ(told("P1"), R"({"holds":["P2"],"waits":["P3"],"left_out":0})");
  EXPECT_EQ(told("P4"), R"({"holds":[],"waits":["P3"],"left_out":0})");
  EXPECT_EQ(told("P3"), R"({"holds":[],"waits":[],"left_out":0})");
  std::vector<MonitorView> many;
  for (int i = 100; i < 200; ++i) many.push_back(held("P" + std::to_string(i), 7));
  const Picture full(many, first_look, WallTime(), 3s);
  const auto json = full.view(*full.find("P150"))["same_process"];
  EXPECT_EQ(json["holds"].size() + json["left_out"].get<std::size_t>(), 99U);
}

}  // namespace
}  // namespace forelock::cli
