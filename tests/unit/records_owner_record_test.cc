
#include <nlohmann/json.hpp>

#include "forelock/owner_record.h"
#include "records/contender_record.h"
#include "records/holder_json.h"
#include "records/record_reader.h"
#include "records/wall_time.h"
#include "records/wish.h"
#include "support/test.h"

namespace forelock {
namespace {

using nlohmann::json;

WallTime at(std::int64_t ms) {
  return WallTime{milliseconds(ms)};
}

OwnerRecord full_record() {
  OwnerRecord record;
  record.lock_info = "Save Content";
  record.instance = "node-1/4711/main";
  record.priority = Priority::background;
  record.guid = "0f8fad5b-d9cb-469f-a165-70867728950e";
  record.enqueued_at = at(1763732700123);
  record.acquired_at = at(1763732700456);
  record.expected_runtime = milliseconds(30000);
  record.alert_at = at(1763732730456);
  record.auto_unlock_at = at(1763732760456);
  record.stack = {"save(Article&)+0x1f (plugin.so)", "plugin.so+0x1234"};
  return record;
}

OwnerRecord waiting_record() {
  OwnerRecord record = full_record();
  record.acquired_at.reset();
  record.alert_at.reset();
  record.auto_unlock_at.reset();
  return record;
}

TEST(OwnerRecord, IsOneLineOfJsonWithSortedKeys) {
  EXPECT_EQ(full_record().to_json(),
            R"({"acquiredAt":"2025-11-21T13:45:00.456Z","alertAt":"2025-11-21T13:45:30.456Z",)"
            R"("autoUnlockAt":"2025-11-21T13:46:00.456Z","enqueuedAt":"2025-11-21T13:45:00.123Z",)"
            R"("expectedRuntimeMs":30000,"guid":"0f8fad5b-d9cb-469f-a165-70867728950e",)"
            R"("instance":"node-1/4711/main","lockInfo":"Save Content","priority":"background",)"
            R"x("stack":["save(Article&)+0x1f (plugin.so)","plugin.so+0x1234"]})x");
}

TEST(OwnerRecord, LeavesOutWhatIsNotKnown) {
  OwnerRecord record;
  record.lock_info = "x";
  record.guid = "g";
  record.instance = "i";
  EXPECT_EQ(record.to_json(), R"({"enqueuedAt":"1970-01-01T00:00:00.000Z","guid":"g","instance":"i",)"
                              R"("lockInfo":"x","priority":"foreground"})");
}

TEST(OwnerRecord, OfALockThatMayLingerSaysSo) {
  OwnerRecord record;
  record.lock_info = "x";
  record.guid = "g";
  record.instance = "i";
  record.linger = std::chrono::seconds(10);
  EXPECT_EQ(record.to_json(), R"({"enqueuedAt":"1970-01-01T00:00:00.000Z","guid":"g","instance":"i",)"
                              R"("lingerMs":10000,"lockInfo":"x","priority":"foreground"})");
  EXPECT_EQ(OwnerRecord::from_json(record.to_json()), record);
}

TEST(OwnerRecord, OfOneThatAgesSaysSo) {
  OwnerRecord record;
  record.lock_info = "x";
  record.guid = "g";
  record.instance = "i";
  record.priority = Priority::background;
  record.max_wait = std::chrono::seconds(2);
  EXPECT_EQ(record.to_json(), R"({"enqueuedAt":"1970-01-01T00:00:00.000Z","guid":"g","instance":"i",)"
                              R"("lockInfo":"x","maxWaitMs":2000,"priority":"background"})");
  EXPECT_EQ(OwnerRecord::from_json(record.to_json()), record);
  // And where it stands when it has moved.
  const std::string moved = records::ContenderRecord(record, {}, {}).moved("h");
  record.guid = "h";
  record.rank = Priority::foreground;
  EXPECT_EQ(moved, record.to_json());
  EXPECT_EQ(OwnerRecord::from_json(moved), record);
}

TEST(OwnerRecord, OfOneWhoseClassAnOperatorHasWishedSaysSo) {
  OwnerRecord record;
  record.lock_info = "x";
  record.guid = "g";
  record.instance = "i";
  record.by_wish = true;
  EXPECT_EQ(record.to_json(), R"({"byWish":true,"enqueuedAt":"1970-01-01T00:00:00.000Z","guid":"g","instance":"i",)"
                              R"("lockInfo":"x","priority":"foreground"})");
  EXPECT_EQ(OwnerRecord::from_json(record.to_json()), record);
  record.stack = {"a", "b"};
  record.wish = Priority::background;
  EXPECT_EQ(OwnerRecord::from_json(record.to_json()), record);
}

TEST(OwnerRecord, AWishIsAddedToWhatIsThere) {
  const std::string others = R"({"lockInfo":"é\u0000\"","other":{"a":[1,null,2.50]},"guid":"g","stack":["b","a"]})";
  const auto wished = records::with_wish(others, Priority::foreground);
  EXPECT_EQ(wished, R"({"lockInfo":"é\u0000\"","other":{"a":[1,null,2.5]},"guid":"g","stack":["b","a"],)"
                    R"("wish":"foreground"})");
  EXPECT_EQ(records::with_wish(*wished, Priority::background),
            R"({"lockInfo":"é\u0000\"","other":{"a":[1,null,2.5]},"guid":"g","stack":["b","a"],"wish":"background"})");
  for (const char* none : {"", "forelock", "[]", "{}", R"({"guid":7})", R"({"guid":"g")", "\xff"}) {
    EXPECT_EQ(records::with_wish(none, Priority::foreground), std::nullopt) << none;
  }
}

TEST(OwnerRecord, OfAMemberOfASetSaysSo) {
  OwnerRecord record;
  record.lock_info = "x";
  record.guid = "g-1";
  record.instance = "i";
  record.set = "g";
  record.set_size = 500;
  record.set_members = {"P1", "P\"2"};
  record.stack = {"f"};
  EXPECT_EQ(record.to_json(), R"x({"enqueuedAt":"1970-01-01T00:00:00.000Z","guid":"g-1","instance":"i",)x"
                              R"x("lockInfo":"x","priority":"foreground","set":"g","setMembers":["P1","P\"2"],)x"
                              R"x("setSize":500,"stack":["f"]})x");
  EXPECT_EQ(OwnerRecord::from_json(record.to_json()), record);
}

TEST(ContenderRecord, IsTheRecordWithTheMembersGuid) {
  OwnerRecord record = waiting_record();
  record.guid = std::string(36, '0');
  const records::ContenderRecord encoded(record, {}, {});
  record.guid = full_record().guid;
  EXPECT_EQ(encoded.waiting(record.guid), record.to_json());
}

TEST(ContenderRecord, OfAClaimSaysWhoAndWhatForWithoutStackAndMembers) {
  OwnerRecord record = waiting_record();
  for (const bool of_set : {false, true}) {
    for (const bool with_stack : {false, true}) {
      record.set_size = of_set ? 2 : 0;
      record.set = "s";
      record.set_members = {"P1", R"(,"stack":[)"};
      record.stack.clear();
      if (with_stack) record.stack = {R"("setMembers":["guid":")"};
      OwnerRecord expected = record;
      expected.stack.clear();
      expected.set_members.clear();
      expected.guid = std::string(36, '1');
      EXPECT_EQ(records::ContenderRecord(record, {}, {}).claiming(expected.guid), expected.to_json());
    }
  }
}

TEST(ContenderRecord, OfAHolderHasTheTimesOfTheGrant) {
  OwnerRecord record = waiting_record();
  const WallTime before = records::wall_time_now();
  const records::ContenderRecord encoded(record, milliseconds(30000), milliseconds(60000));
  record.guid = std::string(36, '1');
  const std::string text = encoded.holding(record.guid);  // at another time it would be another one
  const auto held = OwnerRecord::from_json(text);
  ASSERT_TRUE(held);
  ASSERT_TRUE(held->acquired_at);
  EXPECT_GE(*held->acquired_at, before);
  record.acquired_at = held->acquired_at;
  record.alert_at = *held->acquired_at + milliseconds(30000);
  record.auto_unlock_at = *held->acquired_at + milliseconds(60000);
  EXPECT_EQ(text, record.to_json());
}

TEST(ContenderRecord, OfARecordThatIsTooLongIsCutLikeIt) {
  OwnerRecord record = waiting_record();
  record.lock_info = std::string(10'000, 'i');
  const records::ContenderRecord encoded(record, {}, {});
  EXPECT_EQ(encoded.waiting(record.guid), record.to_json());
  record.stack.clear();
  EXPECT_EQ(encoded.claiming(record.guid), record.to_json());
  EXPECT_LE(encoded.holding(record.guid).size(), OwnerRecord::max_record_bytes);
}

TEST(OwnerRecord, ShortensTheStackBeforeTheMembersOfASet) {
  OwnerRecord record = full_record();
  record.stack = {std::string(300, 'f')};
  record.set = record.guid;
  record.set_size = 100;
  for (int i = 0; i < 100; ++i) record.set_members.push_back(std::string(200, 'm'));
  const std::string text = record.to_json();
  EXPECT_LE(text.size(), OwnerRecord::max_record_bytes);
  const auto read = OwnerRecord::from_json(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->lock_info, record.lock_info);
  EXPECT_EQ(read->set_size, 100u);
  EXPECT_GT(read->set_members.size(), 30u);
  EXPECT_LT(read->set_members.size(), 100u);
  EXPECT_TRUE(read->stack.empty());
}

TEST(OwnerRecord, RoundTrips) {
  EXPECT_EQ(OwnerRecord::from_json(full_record().to_json()), full_record());
  OwnerRecord alive = full_record();
  alive.fencing_token = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(OwnerRecord::from_json(alive.to_json()), alive);
  OwnerRecord odd = full_record();
  odd.lock_info = std::string("\"\\/\b\f\n\r\t\x01\x7F\0é\U0001F512", 17) + "\u2028";
  odd.acquired_at.reset();
  odd.stack.clear();
  EXPECT_EQ(OwnerRecord::from_json(odd.to_json()), odd);
}

TEST(OwnerRecord, RandomRecordsRoundTrip) {
  std::mt19937_64 random(5);  // NOLINT: the same records in every run
  const std::string_view pieces[] = {"a", "\"", "\\", "\x02", "é", "価", "\U0001F512", " "};
  for (int i = 0; i < 2000; ++i) {
    OwnerRecord record = full_record();
    for (std::size_t k = random() % 40; k > 0; --k) record.lock_info += pieces[random() % std::size(pieces)];
    record.enqueued_at = at(static_cast<std::int64_t>(random() % 4'000'000'000'000));
    if (random() % 2) record.alert_at.reset();
    if (random() % 2) record.expected_runtime.reset();
    const std::string text = record.to_json();
    ASSERT_EQ(OwnerRecord::from_json(text), record);
    ASSERT_TRUE(json::accept(text));
  }
}

TEST(OwnerRecord, ReplacesWhatIsNotUtf8) {
  OwnerRecord record = full_record();
  record.lock_info =
      "a\xFF"
      "b\xE2\x82"
      "c\xED\xA0\x80"
      "d\xC3";
  const std::string text = record.to_json();
  ASSERT_TRUE(json::accept(text));
  EXPECT_EQ(OwnerRecord::from_json(text)->lock_info, "a\uFFFDb\uFFFDc\uFFFD\uFFFD\uFFFDd\uFFFD");
}

TEST(OwnerRecord, IsNeverLongerThanItsLimit) {
  OwnerRecord record = full_record();
  record.stack.assign(500, std::string(100, 'f'));
  const std::string long_stack = record.to_json();
  EXPECT_LE(long_stack.size(), OwnerRecord::max_record_bytes);
  EXPECT_GT(long_stack.size(), OwnerRecord::max_record_bytes - 400);
  const auto read = OwnerRecord::from_json(long_stack);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->lock_info, "Save Content");  // the stack goes first
  EXPECT_GT(read->stack.size(), 50u);

  record.lock_info = std::string(100'000, '\n');
  const auto long_info = OwnerRecord::from_json(record.to_json());
  ASSERT_TRUE(long_info);
  EXPECT_TRUE(long_info->stack.empty());
  EXPECT_GT(long_info->lock_info.size(), 3000u);
  EXPECT_EQ(long_info->instance, record.instance);
  EXPECT_EQ(long_info->guid, record.guid);
}

TEST(OwnerRecord, IsCutBetweenCharactersWhateverTheyAre) {
  for (const std::string piece : {"a", "é", "価", "\U0001F512", "\n", "\x01", "\xFF", "\""}) {
    for (std::size_t count = 1300; count < 9000; count += 611) {
      for (std::size_t offset = 0; offset < 7; ++offset) {
        OwnerRecord record = full_record();
        record.lock_info = std::string(offset, '.');
        for (std::size_t i = 0; i < count; ++i) record.lock_info += piece;
        record.stack.assign(8, record.lock_info.substr(0, count / 4));
        const std::string text = record.to_json();
        ASSERT_LE(text.size(), OwnerRecord::max_record_bytes);
        ASSERT_TRUE(OwnerRecord::from_json(text)) << text;
      }
    }
  }
  OwnerRecord record = full_record();
  record.instance = record.guid = std::string(50'000, '"');
  EXPECT_LE(record.to_json().size(), OwnerRecord::max_record_bytes);
  EXPECT_TRUE(OwnerRecord::from_json(record.to_json()));
}

TEST(OwnerRecord, TimesOfAHolderAreAddedWithoutEncodingAgain) {
  for (const std::size_t length : {std::size_t{5}, std::size_t{9000}}) {
    OwnerRecord record = full_record();
    record.lock_info = std::string(length, 'x');
    OwnerRecord waiting = record;
    waiting.acquired_at.reset();
    waiting.alert_at.reset();
    waiting.auto_unlock_at.reset();
    const records::HolderTimes times{*record.acquired_at, record.alert_at, record.auto_unlock_at};
    EXPECT_EQ(records::holder_json(waiting.to_json(), times), record.to_json());
    record.alert_at.reset();
    EXPECT_EQ(records::holder_json(waiting.to_json(), {*record.acquired_at, {}, record.auto_unlock_at}),
              record.to_json());
  }
}

TEST(OwnerRecord, ReadsRecordsOfOthers) {
  const auto record = OwnerRecord::from_json(
      R"( {"x": {"guid": 5, "stack": [[1], null]}, "lockInfo": "T", "y": [1, 2.5, true, {"lockInfo": 3}], "z": null,
           "stack": ["a", "b"], "expectedRuntimeMs": 7, "enqueuedAt": "2025-11-21T15:45:00+02:00"} )");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->lock_info, "T");
  EXPECT_EQ(record->stack, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(record->expected_runtime, milliseconds(7));
  EXPECT_EQ(records::format_wall_time(record->enqueued_at), "2025-11-21T13:45:00.000Z");
}

TEST(OwnerRecord, IsNothingWhereThereIsNoRecord) {
  for (const std::string text : {"",
                                 " ",
                                 "null",
                                 "5",
                                 "\"guid\"",
                                 "[]",
                                 "{}",
                                 R"({"a":1})",
                                 "{",
                                 R"({"guid":"g")",
                                 R"({"guid":5})",
                                 R"({"guid":null})",
                                 R"({"guid":["g"]})",
                                 R"({"guid":{"guid":"g"}})",
                                 R"({"lockInfo":"x","priority":"middle"})",
                                 R"({"lockInfo":"x","enqueuedAt":"yesterday"})",
                                 R"({"lockInfo":"x","enqueuedAt":5})",
                                 R"({"lockInfo":"x","stack":"s"})",
                                 R"({"lockInfo":"x","stack":[1]})",
                                 R"({"lockInfo":"x","stack":[["a"]]})",
                                 R"({"lockInfo":"x","expectedRuntimeMs":-1})",
                                 R"({"lockInfo":"x","expectedRuntimeMs":1e3})",
                                 R"({"lockInfo":"x","expectedRuntimeMs":99999999999999999999})",
                                 R"({"lockInfo":"x"} trailing)",
                                 "{\"lockInfo\":\"\xFF\"}",
                                 R"({"lockInfo":"\ud800"})",
                                 "192.168.1.5",
                                 "\xFF\xFE"}) {
    EXPECT_FALSE(OwnerRecord::from_json(text)) << text;
  }
}

TEST(OwnerRecord, SurvivesHostileInput) {
  EXPECT_FALSE(OwnerRecord::from_json(std::string(1'000'000, '[')));
  EXPECT_FALSE(
      OwnerRecord::from_json(R"({"lockInfo":"x","a":)" + std::string(20'000, '[') + std::string(20'000, ']') + "}"));
  EXPECT_FALSE(OwnerRecord::from_json(R"({"lockInfo":")" + std::string(records::max_record_input, 'x') + "\"}"));
  std::string frames = R"({"lockInfo":"x","stack":["a")";
  for (int i = 0; i < 5000; ++i) frames += ",\"a\"";
  const auto record = OwnerRecord::from_json(frames + "]}");
  ASSERT_TRUE(record);
  EXPECT_LE(record->stack.size(), 256u);
  const std::string whole = full_record().to_json();
  for (std::size_t end = 0; end < whole.size(); ++end) EXPECT_FALSE(OwnerRecord::from_json(whole.substr(0, end)));
  std::mt19937 random(9);  // NOLINT: the same bytes in every run
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = whole;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    const auto read = OwnerRecord::from_json(damaged);
    EXPECT_TRUE(!read || read->to_json().size() <= OwnerRecord::max_record_bytes);
  }
}

TEST(OwnerRecord, IsFastToWrite) {
  OwnerRecord record = full_record();
  record.stack.clear();
  const auto begin = std::chrono::steady_clock::now();
  std::size_t bytes = 0;
  constexpr int rounds = 10'000;
  for (int i = 0; i < rounds; ++i) bytes += record.to_json().size();
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GT(bytes, 0u);
  RecordProperty("nanoseconds", static_cast<int>((took / rounds).count()));
  // 25 times what it should take: fails for a change of kind, not for a busy machine.
  EXPECT_LT(took / rounds, std::chrono::microseconds(50));
}

}  // namespace
}  // namespace forelock
