// The reader is strict: what it does not understand it refuses, with file and line.
#include "robustness/check/history_reader.h"
#include "support/test.h"

#include "robustness/check/planted_history.h"
#include "support/temporary_directory.h"

namespace forelock::robustness {
namespace {

using ::testing::ThrowsMessage;

History read(const std::string& text) {
  HistoryReader reader;
  std::istringstream file(text);
  reader.read(file, "a.ndjson");
  return reader.finish();
}

TEST(HistoryReaderTest, PutsACallTogether) {
  PlantedHistory planted;
  planted.client("a").background().invoke(10, 7, 1500).granted(20, 7, 100, 5).unhealthy(30, 7);
  planted.client("a").lost(31, 7, "removed").release(40, 7).released(50, 7, "no_node");
  const History history = planted.read();
  ASSERT_EQ(history.calls.size(), 1u);
  const Call& call = history.calls.front();
  EXPECT_EQ(history.process_of(call).name, "a");
  EXPECT_EQ(history.monitors[call.monitor], "P1");
  EXPECT_EQ(call.number, 7u);
  EXPECT_EQ(call.priority, Priority::background);
  EXPECT_EQ(call.deadline, 1500ms);
  EXPECT_EQ(call.granted - call.invoked, 10ms);
  EXPECT_EQ(call.doubted() - call.granted, 10ms);
  EXPECT_EQ(call.released - call.release, 10ms);
  EXPECT_EQ(call.token, 100);
  EXPECT_EQ(call.session, 5);
  EXPECT_EQ(history.word(call.loss_reason), "removed");
  EXPECT_EQ(history.word(call.release_code), "no_node");
}

TEST(HistoryReaderTest, ReadsNodesAndTransactions) {
  PlantedHistory planted;
  planted.runner()
      .transaction(3, 5, "create", "/P1/A-0000000007", "g")
      .transaction(1, 5, "create", "/P1")
      .transaction(2, 5, "create", "/P1/something")
      .transaction(4, 5, "set", "/chroot/P1/privateLock", "g")
      .transaction(5, 6, "close_session", "");
  const History history = planted.read();
  ASSERT_EQ(history.log.size(), 5u);
  EXPECT_EQ(history.log[0].type, LoggedChange::Type::monitor_made);
  EXPECT_EQ(history.log[1].type, LoggedChange::Type::monitor_made) << "whatever is no part of a line may be a monitor";
  EXPECT_EQ(history.log[2].zxid, 3);
  EXPECT_EQ(history.log[2].place.number, 7);
  EXPECT_EQ(history.prefixes[history.log[2].place.prefix], "A");
  EXPECT_TRUE(history.log[3].is_lock);
  EXPECT_EQ(history.log[0].monitor, history.log[2].monitor);
  EXPECT_EQ(history.log[2].monitor, history.log[3].monitor);
  EXPECT_EQ(history.log[2].guid, history.log[3].guid);
  EXPECT_EQ(history.log[4].type, LoggedChange::Type::session_end);
}

TEST(HistoryReaderTest, KnowsWhenAProcessStoodStill) {
  PlantedHistory planted;
  planted.client("a").event(0, "heartbeat").event(100, "heartbeat").event(900, "heartbeat").event(1000, "heartbeat");
  planted.runner().fault(850, 950, "client_paused_releasing", "a").fault(2000, 2100, "client_paused", "b");
  const History history = planted.read();
  ASSERT_EQ(history.processes.size(), 2u);
  const Process& process = history.processes.front();
  ASSERT_EQ(process.still.size(), 1u) << "a silence and a pause that touch are one";
  EXPECT_EQ(process.still.front().end - process.still.front().begin, 850ms);
}

TEST(HistoryReaderTest, ToleratesTheTornLastLineOfAKilledProcess) {
  PlantedHistory planted;
  planted.client("a").invoke(0, 1).granted(1, 1, 100);
  const std::string& whole = planted.client("a").text();
  const History torn = read(whole.substr(0, whole.size() - 20));
  ASSERT_EQ(torn.calls.size(), 1u);
  EXPECT_EQ(torn.calls.front().granted, never);
  EXPECT_TRUE(torn.processes.front().torn);
  EXPECT_FALSE(read(whole).processes.front().torn);
}

TEST(HistoryReaderTest, RefusesATornLineElsewhere) {
  PlantedHistory planted;
  planted.client("a").invoke(0, 1);
  const std::string& whole = planted.client("a").text();
  EXPECT_THAT([&] { read(whole.substr(0, 40) + "\n" + whole); },
              ThrowsMessage<HistoryError>(HasSubstr("a.ndjson:1: no JSON object")));
  EXPECT_THAT([&] { read(whole + "[]\n"); }, ThrowsMessage<HistoryError>(HasSubstr("a.ndjson:2: no JSON object")));
}

struct Wrong {
  const char* name;
  void (*plant)(PlantedProcess&);
  const char* message;
};

class WrongHistoryTest : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongHistoryTest, IsRefused) {
  PlantedHistory planted;
  PlantedProcess& process = planted.client("a");
  process.event(0, "heartbeat");
  GetParam().plant(process);
  EXPECT_THAT([&] { planted.read(); }, ThrowsMessage<HistoryError>(HasSubstr(GetParam().message)));
}

const Wrong wrong_histories[] = {
    {"UnknownEvent",
     [](PlantedProcess& p) {
       p.event(1, "grantd", {{"call", 1}});
     },
     "unknown event"},
    {"UnknownKind", [](PlantedProcess& p) { p.line(R"({"t":1,"process":"a","kind":"x","event":"heartbeat"})"); },
     "unknown kind"},
    {"AnotherProcess", [](PlantedProcess& p) { p.line(R"({"t":1,"process":"b","kind":"api","event":"heartbeat"})"); },
     "the file is of the process a"},
    {"NoTime", [](PlantedProcess& p) { p.line(R"({"process":"a","kind":"api","event":"heartbeat"})"); }, "no \"t\""},
    {"NeverInvoked", [](PlantedProcess& p) { p.granted(1, 1, 100); }, "a.ndjson:2: this call was never invoked"},
    {"InvokedTwice", [](PlantedProcess& p) { p.invoke(1, 1).invoke(2, 1); }, "was invoked before"},
    {"GrantedTwice", [](PlantedProcess& p) { p.invoke(1, 1).granted(2, 1, 3).granted(3, 1, 4); }, "had this event"},
    {"GrantedAndRefused", [](PlantedProcess& p) { p.invoke(1, 1).refused(2, 1).granted(3, 1, 3); }, "was refused"},
    {"LostUngranted", [](PlantedProcess& p) { p.invoke(1, 1).lost(2, 1); }, "was not granted"},
    {"ReleasedUncalled", [](PlantedProcess& p) { p.invoke(1, 1).granted(2, 1, 3).released(4, 1); }, "was not called"},
    {"AnotherMonitor", [](PlantedProcess& p) { p.invoke(1, 1).on("P2").granted(2, 1, 3); }, "for another monitor"},
    {"TokenIsNoNumber",
     [](PlantedProcess& p) {
       p.invoke(1, 1).event(2, "granted", {{"call", 1}, {"monitor", "P1"}, {"token", "7x"}, {"node", ""}});
     },
     "\"token\" is no number"},
    {"NodeHasNoNumber",
     [](PlantedProcess& p) {
       p.invoke(1, 1).event(2, "granted", {{"call", 1}, {"monitor", "P1"}, {"token", "7"}, {"node", "A-7"}});
     },
     "no name of a contender's node"},
    {"EntersTwice", [](PlantedProcess& p) { p.enters(1, "b", 1, 5).enters(2, "b", 1, 5); }, "inside already"},
    {"LeavesWithoutEntering", [](PlantedProcess& p) { p.leaves(1, "b", 1); }, "not inside"},
    {"FaultEndsWithoutBegin",
     [](PlantedProcess& p) {
       p.event(1, "fault_end", {{"fault", "f"}, {"target", "t"}, {"id", 1}});
     },
     "has not begun"},
};

INSTANTIATE_TEST_SUITE_P(All, WrongHistoryTest, ::testing::ValuesIn(wrong_histories),
                         [](const auto& wrong) { return wrong.param.name; });

TEST(HistoryReaderTest, ReadsADirectory) {
  test::TemporaryDirectory directory;
  EXPECT_THAT([&] { read_history(directory.path()); }, ThrowsMessage<HistoryError>(HasSubstr("no history")));
  EXPECT_THROW(read_history(directory.path() / "nowhere"), HistoryError);
  PlantedHistory planted;
  std::ofstream(directory.path() / "a.ndjson") << planted.client("a").invoke(0, 1).text();
  std::ofstream(directory.path() / "b.ndjson") << planted.client("b").invoke(0, 1).text();
  std::ofstream(directory.path() / "notes.txt") << "no history";
  EXPECT_EQ(read_history(directory.path()).calls.size(), 2u);
  std::ofstream(directory.path() / "c.ndjson") << planted.client("b").text();
  EXPECT_THAT([&] { read_history(directory.path()); },
              ThrowsMessage<HistoryError>(HasSubstr("this process has a file already, b.ndjson")));
}

}  // namespace
}  // namespace forelock::robustness
