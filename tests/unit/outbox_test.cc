#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "forelock/error.h"
#include "letter/letter_json.h"
#include "outbox/letter_table.h"
#include "outbox/outbox.h"
#include "outbox_test_support.h"
#include "support/limited_process.h"
#include "support/temporary_directory.h"

namespace forelock::outbox {
namespace {

using test::all_rows;
using test::error_of;
using test::ids_of;
using test::sample_letter;

class OutboxTest : public ::testing::Test {
 protected:
  std::filesystem::path path() const { return directory_.path() / "outbox.db"; }
  OutboxOptions options() { return {.path = path(), .log = log_.sink()}; }

  // Runs one statement on the file, past the outbox.
  void sql(const std::string& statement) const {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, statement.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(handle);
    sqlite3_close(handle);
  }

  test::TemporaryDirectory directory_;
  test::LogLines log_;
};

unsigned mode_of(const std::filesystem::path& path) {
  struct stat status {};
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

TEST_F(OutboxTest, KeepsLettersInTheOrderOfArrival) {
  Outbox outbox(options());
  EXPECT_THAT(all_rows(outbox), IsEmpty());
  for (const char* const id : {"c", "a", "b"}) outbox.add(sample_letter(id));
  const std::vector<Row> rows = all_rows(outbox);
  EXPECT_THAT(ids_of(outbox), ElementsAre("c", "a", "b"));
  EXPECT_LT(rows[0].sequence, rows[1].sequence);
  EXPECT_LT(rows[1].sequence, rows[2].sequence);
  EXPECT_EQ(rows[1].record, letter::to_json(sample_letter("a")));
  EXPECT_EQ(rows[1].monitor, "P1");
  EXPECT_EQ(rows[1].state, RowState::queued);
  EXPECT_EQ(rows[1].tries, 0U);
}

TEST_F(OutboxTest, KeepsThemForTheNextProcess) {
  Outbox(options()).add(sample_letter("a"));
  Outbox again(options());
  EXPECT_THAT(ids_of(again), ElementsAre("a"));
  EXPECT_THAT(log_.lines(), IsEmpty());
}

// With the limit of a process on its files' sizes comes a signal, which would end the host.
int add_until_the_limit(Outbox& outbox) {
  test::set_limit(RLIMIT_FSIZE, 256 * 1024);
  DeadLetter large = sample_letter("large");
  large.payload.assign(512 * 1024, 'x');
  const ErrorCode refused = error_of([&] { outbox.add(large); }).code();
  test::set_limit(RLIMIT_FSIZE, test::hard_limit(RLIMIT_FSIZE));
  if (refused != ErrorCode::outbox_unavailable && refused != ErrorCode::outbox_full) return 1;
  outbox.add(large);
  return ids_of(outbox) == std::vector<std::string>{"small", "large"} ? 0 : 2;
}

TEST_F(OutboxTest, AFileThatMayNotBecomeLargerIsAnErrorAndNoMore) {
  Outbox(options()).add(sample_letter("small"));
  EXPECT_EXIT(
      {
        Outbox outbox(options());
        std::exit(add_until_the_limit(outbox));
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(OutboxTest, NeverUsesANumberTwice) {
  Outbox outbox(options());
  outbox.add(sample_letter("a"));
  const RowRef first = outbox.find("a")->ref();
  outbox.remove({&first, 1});
  outbox.add(sample_letter("b"));
  EXPECT_GT(outbox.find("b")->sequence, first.sequence);
}

// Who has seen a row changes that one, whatever has its number by then.
void expect_untouched_by(Outbox& outbox, const RowRef& seen, const std::string& id) {
  const RowRef there = outbox.find(id)->ref();
  ASSERT_EQ(there.sequence, seen.sequence) << "the numbers begin anew: this is what the test is about";
  EXPECT_EQ(outbox.count_try(seen), 0U);
  outbox.set_state(seen, RowState::parked);
  outbox.remove(std::array{seen});
  ASSERT_THAT(ids_of(outbox), ElementsAre(id));
  EXPECT_EQ(outbox.find(id)->state, RowState::queued);
  EXPECT_EQ(outbox.find(id)->tries, 0U);
  outbox.remove(std::array{there});
  EXPECT_THAT(ids_of(outbox), IsEmpty());
}

TEST_F(OutboxTest, ALetterWithTheNumberOfOneBeforeStaysWhereTheFilesWereRemoved) {
  Outbox outbox(options());
  outbox.add(sample_letter("under way"));
  const RowRef seen = outbox.find("under way")->ref();
  for (const char* const suffix : {"", "-journal", ".lock"}) std::filesystem::remove(path().string() + suffix);
  outbox.add(sample_letter("new"));
  expect_untouched_by(outbox, seen, "new");
}

TEST_F(OutboxTest, ALetterWithTheNumberOfOneBeforeStaysWhereAnOlderCopyWasPutBack) {
  Outbox outbox(options());
  const std::filesystem::path copy = directory_.path() / "copy.db";
  std::filesystem::copy_file(path(), copy);
  outbox.add(sample_letter("under way"));
  const RowRef seen = outbox.find("under way")->ref();
  std::filesystem::rename(copy, path());
  outbox.add(sample_letter("new"));
  expect_untouched_by(outbox, seen, "new");
}

TEST_F(OutboxTest, ReadsWithinBothLimitsButAtLeastOne) {
  Outbox outbox(options());
  for (const char* const id : {"a", "b", "c", "d"}) outbox.add(sample_letter(id, std::string(1000, 'x')));
  const std::vector<Row> rows = all_rows(outbox);
  EXPECT_EQ(outbox.read(0, 2, 1'000'000).size(), 2U);
  EXPECT_EQ(outbox.read(0, 100, 2 * rows[0].record.size()).size(), 2U);
  EXPECT_EQ(outbox.read(0, 100, 1).size(), 1U);
  EXPECT_EQ(outbox.read(rows[1].sequence, 100, 1'000'000).front().id, "c");
  EXPECT_THAT(outbox.read(rows[3].sequence, 100, 1'000'000), IsEmpty());
}

TEST_F(OutboxTest, FindsByIdAndOnlyThen) {
  Outbox outbox(options());
  outbox.add(sample_letter("a"));
  EXPECT_EQ(outbox.find("a")->record, letter::to_json(sample_letter("a")));
  EXPECT_FALSE(outbox.find("A"));
  EXPECT_FALSE(outbox.find(""));
}

TEST_F(OutboxTest, TheSameLetterTwiceIsOne) {
  Outbox outbox(options());
  outbox.add(sample_letter("a"));
  DeadLetter strange = sample_letter("strange");
  strange.type = "no UTF-8: \xFF";
  outbox.add(strange);
  outbox.add(strange);
  DeadLetter again = sample_letter("a");
  again.attempts.push_back(again.attempts.back());
  outbox.add(again);
  ASSERT_THAT(ids_of(outbox), ElementsAre("a", "strange"));
  EXPECT_EQ(outbox.find("a")->record, letter::to_json(sample_letter("a"))) << "the first one stays";
}

// As in Kafka: the earlier one may be under way in a replay, or parked; nothing would be left of the later one.
TEST_F(OutboxTest, AnIdThatFailsAgainLaterIsAnotherLetter) {
  Outbox outbox(options());
  outbox.add(sample_letter("a"));
  const RowRef first = outbox.find("a")->ref();
  outbox.set_state(first, RowState::parked);
  DeadLetter later = sample_letter("a");
  later.failed_at += std::chrono::milliseconds(1);
  DeadLetter latest = sample_letter("a", "another payload");
  latest.failed_at += std::chrono::hours(1);
  for (int i = 0; i < 2; ++i) {  // a caller that could not see the outcome gives it again
    outbox.add(later);
    outbox.add(latest);
    outbox.add(sample_letter("a"));
    outbox.add(sample_letter("a-b"));
  }
  ASSERT_THAT(ids_of(outbox), ElementsAre("a", "a", "a", "a-b"));
  EXPECT_EQ(outbox.depth().rows, 4u);
  EXPECT_EQ(outbox.find("a")->record, letter::to_json(later)) << "the first that is queued";
  EXPECT_EQ(outbox.find(sample_letter("a"))->ref(), first);
  EXPECT_EQ(outbox.find(latest)->record, letter::to_json(latest));
  outbox.remove(std::array{first});
  outbox.add(latest);
  ASSERT_THAT(ids_of(outbox), ElementsAre("a", "a", "a-b"));
  for (const DeadLetter& letter : {later, latest}) {
    outbox.remove(std::array{outbox.find(letter)->ref()});
    EXPECT_FALSE(outbox.find(letter));
  }
  EXPECT_FALSE(outbox.find("a"));
  outbox.add(later);
  EXPECT_EQ(outbox.find("a")->record, letter::to_json(later));
  EXPECT_EQ(outbox.depth().rows, 2u);
}

// An operation that is replayed out of this outbox and fails again before the replay has removed its row.
TEST_F(OutboxTest, ALetterThatComesBackIsNotTakenForTheOneBeforeItsReplay) {
  Outbox outbox(options());
  outbox.add(sample_letter("a"));
  const RowRef replayed = outbox.find("a")->ref();
  DeadLetter again = sample_letter("a");
  ++again.replay_count;
  outbox.add(again);
  outbox.add(again);
  outbox.remove(std::array{replayed});
  ASSERT_THAT(ids_of(outbox), ElementsAre("a"));
  EXPECT_EQ(outbox.find("a")->record, letter::to_json(again));
  EXPECT_EQ(outbox.depth().rows, 1u);
}

// It may have grown by its attempts.
TEST_F(OutboxTest, ALetterThatComesBackAndDoesNotFitLeavesTheOneBefore) {
  std::uint64_t bytes = 0;
  {
    Outbox outbox(options());
    outbox.add(sample_letter("a"));
    bytes = outbox.depth().bytes;
  }
  OutboxOptions full = options();
  full.max_bytes = static_cast<std::int64_t>(bytes) + 100;
  Outbox outbox(full);
  DeadLetter again = sample_letter("a");
  ++again.replay_count;
  again.attempts.resize(20, again.attempts.back());
  EXPECT_EQ(error_of([&] { outbox.add(again); }).code(), ErrorCode::outbox_full);
  ASSERT_THAT(ids_of(outbox), ElementsAre("a"));
  EXPECT_EQ(outbox.find("a")->record, letter::to_json(sample_letter("a")));
}

// A file that the first version has written. Whoever changes the format keeps it readable.
TEST_F(OutboxTest, AFileOfTheFirstVersionIsReadAndWritten) {
  std::filesystem::create_directories(options().path.parent_path());
  std::filesystem::copy_file(FORELOCK_TEST_DATA "/outbox-v1.db", options().path);
  std::filesystem::permissions(options().path,
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  Outbox outbox(options());
  ASSERT_THAT(ids_of(outbox), ElementsAre("queued", "parked", "tried"));
  EXPECT_EQ(outbox.find("parked")->state, RowState::parked);
  EXPECT_EQ(outbox.find("tried")->tries, 1u);
  const DeadLetter letter = letter::from_json(outbox.find("queued")->record);
  EXPECT_EQ(letter.payload, "payload of queued\n");
  EXPECT_EQ(letter.monitor, "P-queued");
  outbox.add(sample_letter("new"));
  EXPECT_THAT(ids_of(outbox), ElementsAre("queued", "parked", "tried", "new"));
  EXPECT_EQ(outbox.depth().rows, 4u);
}

// It is what makes doubtful transactions before it certain.
TEST_F(OutboxTest, ATransactionThatChangesNothingIsWrittenAllTheSame) {
  Outbox(options()).add(sample_letter("a"));
  LetterTable table{Connection(options().path, std::chrono::seconds(10))};
  const auto change_counter = [&] { return test::text_of(options().path).substr(24, 4); };
  const std::string before = change_counter();
  const OutboxDepth depth = table.depth();
  table.touch();
  EXPECT_NE(change_counter(), before);
  EXPECT_EQ(table.depth().rows, depth.rows);
}

TEST_F(OutboxTest, LookingChangesNothing) {
  OutboxOptions looking = options();
  looking.read_only = true;
  {
    const Outbox nothing(looking);
    EXPECT_EQ(nothing.depth().rows, 0u);
    EXPECT_TRUE(std::filesystem::is_empty(looking.path.parent_path())) << "not even a lock file is made";
  }
  Outbox outbox(options());
  outbox.add(sample_letter("a"));
  Outbox look(looking);
  EXPECT_THAT(ids_of(look), ElementsAre("a"));
  outbox.add(sample_letter("b"));
  EXPECT_THAT(ids_of(look), ElementsAre("a", "b")) << "what others do meanwhile is seen";
  EXPECT_EQ(error_of([&] { look.add(sample_letter("c")); }).code(), ErrorCode::outbox_unavailable);
  EXPECT_THAT(ids_of(outbox), ElementsAre("a", "b"));
  std::filesystem::permissions(looking.path, std::filesystem::perms::owner_all);
  std::ofstream(looking.path, std::ios::in | std::ios::binary) << "no header at all";
  const Outbox again(options());
  EXPECT_EQ(ids_of(again).size(), 2u) << "whoever may write repairs it";
}

TEST_F(OutboxTest, OneThatIsGoneDoesNotLookLikeAnEmptyOne) {
  OutboxOptions looking = options();
  looking.read_only = true;
  Outbox(options()).add(sample_letter("a"));
  const Outbox before(looking);
  const std::vector<std::function<void()>> losses{[&] { std::filesystem::resize_file(path(), 0); },
                                                  [&] { std::filesystem::remove(path()); }};
  for (const auto& lose : losses) {
    lose();
    for (const Error& error : {error_of([&] { Outbox look(looking); }), error_of([&] { before.depth(); })}) {
      EXPECT_EQ(error.code(), ErrorCode::outbox_unavailable);
      EXPECT_THAT(error.what(), HasSubstr("removed or emptied"));
    }
  }
  Outbox(options()).add(sample_letter("b"));
  EXPECT_THAT(ids_of(before), ElementsAre("b"));
}

TEST_F(OutboxTest, AnotherLetterOfTheSameIdIsRefused) {
  Outbox outbox(options());
  outbox.add(sample_letter("a"));
  const std::vector<std::function<void(DeadLetter&)>> changes{
      [](DeadLetter& letter) { letter.payload += "secret"; }, [](DeadLetter& letter) { letter.type = "other"; },
      [](DeadLetter& letter) { letter.monitor = "P2"; },      [](DeadLetter& letter) { letter.lock_info += "x"; },
      [](DeadLetter& letter) { ++letter.max_attempts; },      [](DeadLetter& letter) { letter.reason = "x"; }};
  for (const auto& change : changes) {
    DeadLetter other = sample_letter("a");
    change(other);
    const Error error = error_of([&] { outbox.add(other); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("another letter with the id a"), Not(HasSubstr("secret"))));
  }
  EXPECT_EQ(outbox.find("a")->record, letter::to_json(sample_letter("a")));
}

TEST_F(OutboxTest, RefusesLettersThatCannotBeRecords) {
  Outbox outbox(options());
  DeadLetter letter = sample_letter("a");
  letter.monitor = "\xFF";
  EXPECT_EQ(error_of([&] { outbox.add(letter); }).code(), ErrorCode::invalid_argument);
  letter = sample_letter("a", std::string(2 * 1024 * 1024, 'x'));
  EXPECT_EQ(error_of([&] { outbox.add(letter); }).code(), ErrorCode::request_too_large);
  EXPECT_EQ(outbox.depth().rows, 0U);
}

TEST_F(OutboxTest, MovesCountsAndRemoves) {
  Outbox outbox(options());
  for (const char* const id : {"a", "b", "c"}) outbox.add(sample_letter(id));
  const RowRef a = outbox.find("a")->ref();
  const RowRef b = outbox.find("b")->ref();
  const RowRef c = outbox.find("c")->ref();
  EXPECT_EQ(outbox.count_try(b), 1U);
  EXPECT_EQ(outbox.count_try(b), 2U);
  EXPECT_EQ(outbox.count_try({c.sequence + 100, c.checksum}), 0U);
  outbox.set_state(c, RowState::parked);
  EXPECT_EQ(outbox.find("b")->tries, 2U);
  EXPECT_EQ(outbox.find("c")->state, RowState::parked);
  EXPECT_EQ(outbox.depth().parked, 1U);
  const std::vector<RowRef> gone{a, b, {c.sequence + 100, c.checksum}};
  outbox.remove(gone);
  outbox.remove(gone);
  outbox.remove({});
  EXPECT_THAT(ids_of(outbox), ElementsAre("c"));
  outbox.set_state(c, RowState::queued);
  EXPECT_EQ(outbox.depth().parked, 0U);
}

TEST_F(OutboxTest, CountsExactly) {
  Outbox outbox(options());
  EXPECT_EQ(outbox.depth().bytes, 0U);
  EXPECT_EQ(outbox.depth().oldest, std::nullopt);
  DeadLetter old = sample_letter("a");
  old.failed_at -= std::chrono::hours(1);
  outbox.add(old);
  const std::uint64_t one = outbox.depth().bytes;
  EXPECT_GT(one, letter::to_json(old).size());
  outbox.add(sample_letter("b"));
  outbox.add(sample_letter("c", std::string(100'000, 'x')));
  outbox.add(sample_letter("b"));
  EXPECT_EQ(outbox.depth().rows, 3U);
  EXPECT_EQ(outbox.depth().oldest, old.failed_at);
  outbox.set_state(outbox.find("b")->ref(), RowState::parked);
  const std::vector<RowRef> gone{outbox.find("a")->ref(), outbox.find("c")->ref()};
  outbox.remove(gone);
  EXPECT_EQ(outbox.depth().rows, 1U);
  EXPECT_EQ(outbox.depth().bytes, one) << "a and b are equally long";
  EXPECT_EQ(outbox.depth().oldest, sample_letter().failed_at);
  const RowRef last = outbox.find("b")->ref();
  outbox.remove({&last, 1});
  EXPECT_EQ(outbox.depth().bytes, 0U);
  EXPECT_EQ(outbox.depth().parked, 0U);
}

TEST_F(OutboxTest, IsFullAtItsLimitAndNotBefore) {
  std::int64_t one = 0;
  {
    Outbox outbox(options());
    outbox.add(sample_letter("a"));
    one = static_cast<std::int64_t>(outbox.depth().bytes);
  }
  OutboxOptions limited = options();
  limited.max_bytes = 2 * one;
  Outbox outbox(limited);
  outbox.add(sample_letter("b"));
  const Error error = error_of([&] { outbox.add(sample_letter("c")); });
  EXPECT_EQ(error.code(), ErrorCode::outbox_full);
  EXPECT_EQ(error.monitor(), "P1");
  EXPECT_THAT(error.what(), AllOf(HasSubstr(path().string()), HasSubstr(std::to_string(2 * one) + " bytes")));
  EXPECT_THAT(error.hint(), HasSubstr("dlq.outbox.max.bytes"));
  EXPECT_THAT(ids_of(outbox), ElementsAre("a", "b"));
  outbox.add(sample_letter("b"));  // it is there: nothing is needed
  const RowRef first = outbox.find("a")->ref();
  outbox.remove({&first, 1});
  outbox.add(sample_letter("c"));
}

TEST_F(OutboxTest, IsPrivateWhateverTheUmask) {
  const mode_t before = umask(0);
  const std::filesystem::path deep = directory_.path() / "state" / "forelock" / "outbox.db";
  {
    Outbox outbox({.path = deep});
    outbox.add(sample_letter());
  }
  umask(before);
  EXPECT_EQ(mode_of(deep), 0600U);
  EXPECT_EQ(mode_of(deep.string() + "-journal"), 0600U);
  EXPECT_EQ(mode_of(deep.string() + ".lock"), 0600U);
  EXPECT_EQ(mode_of(deep.parent_path()), 0700U);
  EXPECT_EQ(mode_of(deep.parent_path().parent_path()), 0700U);
}

TEST_F(OutboxTest, MakesAnOpenFilePrivateAndSaysSo) {
  Outbox(options()).add(sample_letter("a"));
  std::filesystem::permissions(path(), std::filesystem::perms(0644));
  std::filesystem::permissions(path().string() + "-journal", std::filesystem::perms(0640));
  Outbox outbox(options());
  EXPECT_EQ(mode_of(path()), 0600U);
  EXPECT_EQ(mode_of(path().string() + "-journal"), 0600U);
  EXPECT_THAT(log_.lines(), ElementsAre(AllOf(HasSubstr("warning"), HasSubstr(path().string())),
                                        AllOf(HasSubstr("warning"), HasSubstr("-journal"))));
  EXPECT_THAT(ids_of(outbox), ElementsAre("a"));
}

TEST_F(OutboxTest, LeavesAFileOfANewerVersionAlone) {
  Outbox(options()).add(sample_letter("a"));
  sql("PRAGMA user_version=7");
  const std::string before = test::text_of(path());
  const Error error = error_of([&] { Outbox outbox(options()); });
  EXPECT_EQ(error.code(), ErrorCode::outbox_unavailable);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("version 7"), HasSubstr("up to 1")));
  EXPECT_EQ(test::text_of(path()), before);
}

TEST_F(OutboxTest, LeavesOtherFilesAlone) {
  sql("CREATE TABLE theirs(x); INSERT INTO theirs VALUES(1)");
  const std::string before = test::text_of(path());
  const Error error = error_of([&] { Outbox outbox(options()); });
  EXPECT_EQ(error.code(), ErrorCode::outbox_unavailable);
  EXPECT_THAT(error.what(), HasSubstr("database of another program"));
  EXPECT_EQ(test::text_of(path()), before);

  const std::filesystem::path folder = directory_.path() / "folder";
  std::filesystem::create_directory(folder);
  EXPECT_THAT(error_of([&] { Outbox outbox({.path = folder}); }).what(), HasSubstr("not a regular file"));
  EXPECT_THAT(error_of([] { Outbox outbox({.path = ""}); }).what(), HasSubstr("dlq.outbox.path is empty"));
  EXPECT_EQ(error_of([&] { Outbox outbox({.path = path() / "below" / "a-file"}); }).code(),
            ErrorCode::outbox_unavailable);
}

TEST_F(OutboxTest, FollowsALinkToTheFileItself) {
  const std::filesystem::path real = directory_.path() / "elsewhere" / "real.db";
  std::filesystem::create_directory(real.parent_path());
  Outbox({.path = real}).add(sample_letter("a"));
  std::filesystem::create_symlink(real, path());
  Outbox outbox(options());
  outbox.add(sample_letter("b"));
  EXPECT_EQ(outbox.path(), std::filesystem::canonical(real));
  EXPECT_THAT(ids_of(Outbox({.path = real})), ElementsAre("a", "b"));
}

}  // namespace
}  // namespace forelock::outbox
