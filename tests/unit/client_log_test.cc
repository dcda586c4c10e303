// The log of a client whose sink takes its time.
#include "client/client_log.h"
#include "forelock/client.h"
#include "support/test.h"

namespace forelock::client {
namespace {

TEST(ClientLogTest, ASinkThatBlocksLosesOnlyLinesAndSaysHowMany) {
  std::promise<void> open;
  auto gate = open.get_future().share();
  std::vector<std::string> lines;
  ClientLog log([&](std::string_view, std::string_view line) {
    gate.wait();
    lines.emplace_back(line);
  });
  // The thread does not run yet, so that all of them wait.
  for (std::size_t i = 0; i < ClientLog::max_waiting + 5; ++i) log.write("info", std::to_string(i));
  open.set_value();
  log.start();
  while (log.waiting() > 0) std::this_thread::yield();
  log.write("info", "last");
  log.stop();
  ASSERT_EQ(lines.size(), ClientLog::max_waiting + 2);
  EXPECT_EQ(lines[ClientLog::max_waiting - 1], std::to_string(ClientLog::max_waiting - 1));
  EXPECT_EQ(lines[ClientLog::max_waiting], "5 lines of the log were dropped: the log sink takes too long");
  EXPECT_EQ(lines.back(), "last");
}

TEST(ClientLogTest, TheCourseOfLocksLeavesRoomForWarnings) {
  std::vector<std::string> levels;
  ClientLog log([&](std::string_view level, std::string_view) { levels.emplace_back(level); });
  // The thread does not run yet, so that all of them wait.
  for (std::size_t i = 0; i < 2 * ClientLog::max_waiting; ++i) log.write("debug", "one of many");
  EXPECT_LT(log.waiting(), ClientLog::max_waiting);
  log.write("error", "the session has expired");
  log.start();
  log.stop();
  EXPECT_EQ(levels.back(), "error");
}

TEST(ClientLogTest, NamesKeysThatMayBeMisspelt) {
  std::vector<std::string> lines;
  {
    Client client(Settings::from_string("zookeper.servers=a:1\nzookeeper.servers=127.0.0.1:1\n",
                                        Settings::Format::properties, "host.properties"),
                  [&](std::string_view level, std::string_view line) {
                    lines.push_back(std::string(level) + ": " + std::string(line));
                  });
    client.close();
  }
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.front(),
            "warning: host.properties:1: zookeper.servers: is left to the application, but looks like a key of ours, "
            "is zookeeper.servers meant?");
}

}  // namespace
}  // namespace forelock::client
