// What is written of a process's sessions, and what is read of it when it is whole, torn or somebody else's.
#include "session_file/boot.h"
#include "session_file/record.h"
#include "support/test.h"

namespace forelock::session_file {
namespace {

RecordedSession made_up(std::int64_t id, const std::string& ensemble = "zk1:2181,zk2:2181/locks") {
  RecordedSession made{ensemble, id, {}};
  for (std::size_t i = 0; i < made.password.size(); ++i)
    made.password[i] = static_cast<char>(id + 37 * static_cast<int>(i));
  return made;
}

const Record two{"0f3b-boot", "8:4711", {made_up(0x1000a3b4c5d60001), made_up(-5, "[::1]:2181/with a blank")}};
const Record other{"0f3b-boot", "8:4711", {made_up(0x2000a3b4c5d60001), made_up(-7, "[::1]:2181/with a blank")}};

TEST(SessionRecord, IsReadAsItWasWritten) {
  for (const Record& record : {two, Record{"boot", "8:4711", {}}}) {
    const ReadRecord read = read_record(to_text(record));
    EXPECT_EQ(read.state, RecordState::whole);
    EXPECT_EQ(read.record, record);
  }
  EXPECT_EQ(read_record("").state, RecordState::empty);
}

TEST(SessionRecord, IsTornWhereverItEndsTooEarly) {
  const std::string text = to_text(two);
  for (std::size_t size = 1; size < text.size(); ++size) {
    EXPECT_EQ(read_record(text.substr(0, size)).state, RecordState::torn) << size;
  }
  EXPECT_EQ(read_record(text + "\n").state, RecordState::torn) << "something behind it";
}

TEST(SessionRecord, IsTornWhereTheNewOneEndsInTheOldOne) {
  const std::string before = to_text(two);
  const std::string after = to_text(other);
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t cut = 0; cut <= after.size(); ++cut) {
    const std::string mixed = after.substr(0, cut) + before.substr(cut);
    if (mixed != before && mixed != after) {
      EXPECT_EQ(read_record(mixed).state, RecordState::torn) << cut;
    }
  }
}

TEST(SessionRecord, IsNeverReadWithAChangedByte) {
  const std::string text = to_text(two);
  for (std::size_t place = 0; place < text.size(); ++place) {
    for (const char letter : {'\0', '0', 'f', '\n', ' '}) {
      std::string changed = text;
      changed[place] = letter;
      if (changed != text) {
        EXPECT_NE(read_record(changed).state, RecordState::whole) << place;
      }
    }
  }
}

TEST(SessionRecord, OfAnotherKindIsForeign) {
  EXPECT_EQ(read_record("zookeeper.servers=localhost:2181\n").state, RecordState::foreign);
  std::string later = to_text(two);
  later[later.find('1')] = '2';
  EXPECT_EQ(read_record(later).state, RecordState::foreign) << "a later version";
  EXPECT_EQ(read_record(to_text(two) + std::string(largest_record, 'x')).state, RecordState::foreign);
}

TEST(SessionRecord, OfZerosIsTorn) {
  EXPECT_EQ(read_record(std::string(100, '\0')).state, RecordState::torn);
}

TEST(SessionRecord, WithTooManySessionsIsRefused) {
  Record many{"boot", "8:4711", {}};
  for (std::size_t i = 0; i < most_sessions; ++i) many.sessions.push_back(made_up(static_cast<std::int64_t>(i) + 1));
  EXPECT_EQ(read_record(to_text(many)).state, RecordState::whole);
  many.sessions.push_back(made_up(4711));
  EXPECT_EQ(read_record(to_text(many)).state, RecordState::torn);
}

TEST(Boot, LocksLastOnLocalFileSystemsAlone) {
  for (const long local : {0xEF53L, 0x58465342L, 0x9123683EL, 0x01021994L, 0x794c7630L}) EXPECT_TRUE(locks_last(local));
  constexpr long nfs = 0x6969, cifs = 0xFF534D42, fuse = 0x65735546, gfs2 = 0x01161970, ocfs2 = 0x7461636f;
  for (const long shared : {nfs, cifs, fuse, gfs2, ocfs2, 0L}) EXPECT_FALSE(locks_last(shared)) << shared;
}

TEST(Boot, HasAnId) {
  EXPECT_EQ(boot_id().size(), 36u);
  EXPECT_EQ(boot_id(), boot_id());
}

}  // namespace
}  // namespace forelock::session_file
