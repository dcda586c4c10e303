// Files that are damaged in one way or another: what can be read is saved, and nothing is lost silently.
#include <sys/stat.h>

#include "letter/letter_json.h"
#include "outbox/letter_table.h"
#include "outbox/outbox.h"
#include "outbox_test_support.h"
#include "support/child_process.h"
#include "support/temporary_directory.h"

namespace forelock::outbox {
namespace {

using test::all_rows;
using test::ids_of;
using test::put_aside;
using test::sample_letter;

constexpr std::uintmax_t page_bytes = 4096;
constexpr std::size_t letter_count = 80;

class OutboxDamageTest : public ::testing::Test {
 protected:
  // One outbox for all tests, which damage copies of it.
  static void SetUpTestSuite() {
    model_directory_ = std::make_unique<test::TemporaryDirectory>();
    Outbox outbox({.path = model_directory_->path() / "outbox.db"});
    for (std::size_t i = 0; i < letter_count; ++i) {
      // Some need many pages, some share one.
      outbox.add(sample_letter("id-" + std::to_string(i), std::string(i % 10 == 3 ? 30'000 : 50 * i, 'x')));
    }
    outbox.set_state(outbox.find("id-7")->ref(), RowState::parked);
    outbox.count_try(outbox.find("id-8")->ref());
    outbox.remove(std::array{outbox.find("id-9")->ref()});
    for (const Row& row : all_rows(outbox)) model_.emplace(row.id, row);
  }
  static void TearDownTestSuite() {
    model_.clear();
    model_directory_.reset();
  }

  void SetUp() override { copy_model(); }

  void copy_model() const {
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) std::filesystem::remove(entry);
    for (const char* const suffix : {"", "-journal", ".lock"}) {
      std::filesystem::copy_file(model_directory_->path() / ("outbox.db" + std::string(suffix)),
                                 path().string() + suffix);
    }
  }

  std::filesystem::path path() const { return directory_.path() / "outbox.db"; }
  OutboxOptions options() { return {.path = path(), .log = log_.sink()}; }

  // Rows of the model that are there, each as it was. Others are counted in `others`.
  static std::size_t saved(const Outbox& outbox, std::size_t* others = nullptr) {
    std::size_t count = 0;
    for (const Row& row : all_rows(outbox)) {
      const auto known = model_.find(row.id);
      if (known == model_.end()) {
        if (others) ++*others;
        continue;
      }
      ++count;
      EXPECT_EQ(row.record, known->second.record);
      EXPECT_EQ(row.monitor, known->second.monitor);
      EXPECT_EQ(row.sequence, known->second.sequence);
      EXPECT_EQ(row.state, known->second.state);
      EXPECT_EQ(row.tries, known->second.tries);
    }
    return count;
  }

  static void expect_exact_totals(const Outbox& outbox) {
    const OutboxDepth depth = outbox.depth();
    std::uint64_t parked = 0;
    const std::vector<Row> rows = all_rows(outbox);
    for (const Row& row : rows) parked += row.state == RowState::parked ? 1 : 0;
    EXPECT_EQ(depth.rows, rows.size());
    EXPECT_EQ(depth.parked, parked);
  }

  static std::string garbage(std::size_t size, unsigned seed) {
    std::mt19937 random(seed);
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    return bytes;
  }

  static inline std::unique_ptr<test::TemporaryDirectory> model_directory_;
  static inline std::map<std::string, Row> model_;
  test::TemporaryDirectory directory_;
  test::LogLines log_;
};

TEST_F(OutboxDamageTest, TheModelIsWhole) {
  const Outbox outbox(options());
  EXPECT_EQ(saved(outbox), letter_count - 1);
  EXPECT_THAT(log_.lines(), IsEmpty());
}

TEST_F(OutboxDamageTest, SavesEverythingBehindAnOverwrittenHeader) {
  test::overwrite(path(), 0, std::string(100, 'x'));
  const std::string damaged = test::text_of(path());
  Outbox outbox(options());
  EXPECT_EQ(saved(outbox), letter_count - 1);
  expect_exact_totals(outbox);
  const auto aside = put_aside(path());
  ASSERT_THAT(aside, SizeIs(1));
  EXPECT_EQ(test::text_of(aside[0]), damaged);
  EXPECT_EQ(std::filesystem::status(aside[0]).permissions(), std::filesystem::perms(0600));
  EXPECT_THAT(log_.lines(), ElementsAre(AllOf(StartsWith("error: "), HasSubstr(path().string()),
                                              HasSubstr(aside[0].string()), HasSubstr("79 letters could be saved"))));
  // And it is an outbox like any other.
  outbox.add(sample_letter("new"));
  EXPECT_GT(outbox.find("new")->sequence, model_.at("id-79").sequence);
  Outbox again(options());
  EXPECT_EQ(ids_of(again).size(), letter_count);
  EXPECT_THAT(log_.lines(), SizeIs(1));
}

TEST_F(OutboxDamageTest, SavesTheFrontOfATruncatedFileAndSaysWhatIsMissing) {
  std::filesystem::resize_file(path(), std::filesystem::file_size(path()) / 2 + 1000);
  const Outbox outbox(options());
  const std::size_t count = saved(outbox);
  EXPECT_GT(count, letter_count / 10);
  EXPECT_LT(count, letter_count - 1);
  expect_exact_totals(outbox);
  EXPECT_THAT(put_aside(path()), SizeIs(1));
  EXPECT_THAT(log_.lines(), ElementsAre(HasSubstr(std::to_string(count) + " letters could be saved")));
}

TEST_F(OutboxDamageTest, SavesTheRestWhateverPageIsGarbage) {
  const std::uintmax_t pages = std::filesystem::file_size(path()) / page_bytes;
  std::size_t hurt = 0;
  for (std::uintmax_t page = 0; page < pages; page += 7) {
    SCOPED_TRACE("page " + std::to_string(page + 1) + " of " + std::to_string(pages));
    copy_model();
    test::overwrite(path(), page * page_bytes, garbage(page_bytes, static_cast<unsigned>(page)));
    test::LogLines log;
    Outbox outbox({.path = path(), .log = log.sink()});
    outbox.add(sample_letter("new"));
    std::size_t others = 0;
    const std::size_t count = saved(outbox, &others);
    EXPECT_EQ(others, 1U);
    // A page holds at most a dozen of the letters.
    EXPECT_GE(count, letter_count - 13);
    expect_exact_totals(outbox);
    if (count < letter_count - 1) {
      ++hurt;
      EXPECT_THAT(log.lines(), Contains(HasSubstr("was damaged")));
      EXPECT_THAT(put_aside(path()), SizeIs(1));
    }
  }
  EXPECT_GT(hurt, pages / 14) << "most pages hold letters";
}

TEST_F(OutboxDamageTest, NoticesOneWrongByteInALetter) {
  const std::string contents = test::text_of(path());
  const std::string wanted = "\"id\":\"id-33\"";
  const std::size_t place = contents.find(wanted);
  ASSERT_NE(place, std::string::npos);
  test::overwrite(path(), place + contents.substr(place).find("Bulk"), "Hulk");
  const Outbox outbox(options());
  EXPECT_EQ(saved(outbox), letter_count - 2);
  EXPECT_FALSE(outbox.find("id-33"));
  EXPECT_THAT(log_.lines(),
              ElementsAre(AllOf(HasSubstr("78 letters could be saved"), HasSubstr("1 letter of 79 could not"),
                                HasSubstr("Of 1 letter only parts were found"))));
}

TEST_F(OutboxDamageTest, SavesEachLetterOfAnId) {
  DeadLetter later = sample_letter("id-5", "of the later one");
  later.failed_at += std::chrono::hours(1);
  Outbox(options()).add(later);
  test::overwrite(path(), 0, std::string(100, 'x'));
  Outbox outbox(options());
  outbox.add(later);
  const std::vector<std::string> ids = ids_of(outbox);
  EXPECT_EQ(ids.size(), letter_count);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), "id-5"), 2);
  expect_exact_totals(outbox);
}

// Each length of a row around that at which it no longer fits into one page, and around the first one of which the part
// behind a whole page is as long as can be (8,153 bytes).
TEST_F(OutboxDamageTest, SavesRowsOfEveryLength) {
  constexpr std::size_t rows = 2000;
  {
    Outbox outbox(options());
    LetterTable table{Connection(path(), std::chrono::seconds(10))};
    table.begin();
    for (std::size_t i = 0; i < rows; ++i) {
      const std::size_t payload = (i < rows / 2 ? 2000 : 5200) + 3 * (i % (rows / 2) / 4);
      DeadLetter letter = sample_letter("length-" + std::to_string(10'000 + i), std::string(payload, 'x'));
      letter.type = "t" + std::string(i % 4, 'x');  // base64 goes in steps of four
      table.insert({letter.id, letter.monitor, letter.failed_at, letter::to_json(letter)});
    }
    table.commit();
  }
  std::ofstream(path(), std::ios::in | std::ios::binary) << "no header";
  const Outbox outbox(options());
  std::size_t others = 0;
  EXPECT_EQ(saved(outbox, &others), model_.size());
  EXPECT_EQ(others, rows);
}

// A page that has gone out of use may hold a row as it was before.
TEST_F(OutboxDamageTest, WhatHappenedToARowLaterCounts) {
  std::filesystem::remove(path());
  std::string before;
  {
    Outbox outbox(options());
    outbox.add(sample_letter("a"));
    before = test::text_of(path());
    outbox.set_state(outbox.find("a")->ref(), RowState::parked);
    for (int i = 0; i < 2; ++i) outbox.count_try(outbox.find("a")->ref());
  }
  std::ofstream(path(), std::ios::app | std::ios::binary) << before.substr(page_bytes);
  std::ofstream(path(), std::ios::in | std::ios::binary) << "no header";
  const Outbox outbox(options());
  const auto row = outbox.find("a");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->state, RowState::parked);
  EXPECT_EQ(row->tries, 2u);
}

TEST_F(OutboxDamageTest, BeginsAnewWhereNothingIsLeft) {
  std::ofstream(path(), std::ios::binary | std::ios::trunc) << garbage(50'000, 5);
  Outbox outbox(options());
  EXPECT_THAT(ids_of(outbox), IsEmpty());
  outbox.add(sample_letter("new"));
  EXPECT_GT(outbox.find("new")->sequence, model_.at("id-79").sequence);
  EXPECT_THAT(put_aside(path()), SizeIs(1));
  EXPECT_THAT(log_.lines(), ElementsAre(AllOf(HasSubstr("0 letters"), HasSubstr("How many it held is not known"))));
}

TEST_F(OutboxDamageTest, SaysThatAFileWasEmptied) {
  std::filesystem::resize_file(path(), 0);
  Outbox outbox(options());
  outbox.add(sample_letter("new"));
  EXPECT_THAT(ids_of(outbox), ElementsAre("new"));
  EXPECT_THAT(log_.lines(), ElementsAre(AllOf(StartsWith("warning"), HasSubstr("emptied"))));
}

TEST_F(OutboxDamageTest, RepairsWhatBreaksUnderItsHands) {
  Outbox outbox(options());
  EXPECT_EQ(saved(outbox), letter_count - 1);
  test::overwrite(path(), 0, std::string(100, 'x'));
  outbox.add(sample_letter("new"));
  std::size_t others = 0;
  EXPECT_EQ(saved(outbox, &others), letter_count - 1);
  EXPECT_EQ(others, 1U);
  EXPECT_THAT(log_.lines(), ElementsAre(HasSubstr("79 letters could be saved")));
}

TEST_F(OutboxDamageTest, GoesOnWithTheFileThatAnotherProcessRepaired) {
  Outbox outbox(options());
  test::overwrite(path(), 0, std::string(100, 'x'));
  test::ChildProcess worker({FORELOCK_OUTBOX_WORKER, path().string(), "add:theirs"}, directory_.path() / "output");
  EXPECT_EQ(worker.wait(), 0);
  outbox.add(sample_letter("ours"));
  EXPECT_EQ(outbox.count_try(model_.at("id-8").ref()), 2U) << "numbers mean the same as before";
  EXPECT_THAT(put_aside(path()), SizeIs(1));
  EXPECT_THAT(log_.lines(), IsEmpty());
  EXPECT_THAT(ids_of(Outbox(options())), AllOf(Contains("theirs"), Contains("ours"), SizeIs(letter_count + 1)));
}

TEST_F(OutboxDamageTest, IsRepairedOnceByManyProcesses) {
  test::overwrite(path(), 0, std::string(100, 'x'));
  const std::filesystem::path output = directory_.path() / "output";
  {
    std::vector<std::unique_ptr<test::ChildProcess>> workers;
    for (const char* const prefix : {"w", "x", "y", "z"}) {
      workers.push_back(std::make_unique<test::ChildProcess>(
          std::vector<std::string>{FORELOCK_OUTBOX_WORKER, path().string(), "add:" + std::string(prefix) + "*5"},
          output));
    }
    for (const auto& worker : workers) EXPECT_EQ(worker->wait(), 0);
  }
  std::vector<std::string> logged;
  for (const std::string& line : test::lines_of(output)) {
    if (line.starts_with("log ")) {
      logged.push_back(line);
    } else {
      EXPECT_THAT(line, StartsWith("done "));
    }
  }
  EXPECT_THAT(logged, ElementsAre(HasSubstr("79 letters could be saved")));
  EXPECT_THAT(put_aside(path()), SizeIs(1));
  const Outbox outbox(options());
  std::size_t others = 0;
  EXPECT_EQ(saved(outbox, &others), letter_count - 1);
  EXPECT_EQ(others, 20U);
  expect_exact_totals(outbox);
}

// It repairs nothing, and keeps nobody who does from it.
TEST_F(OutboxDamageTest, WhoOnlyLooksAndMeetsDamageLetsGoOfTheFile) {
  OutboxOptions looking = options();
  looking.read_only = true;
  const Outbox reader(looking);
  ASSERT_EQ(saved(reader), letter_count - 1);
  const std::filesystem::path other = directory_.path() / "other";
  std::filesystem::copy_file(path(), other);
  test::overwrite(other, 0, std::string(100, 'x'));
  std::filesystem::rename(other, path());
  EXPECT_THROW(reader.depth(), Error);
  const Outbox writer(options());
  EXPECT_EQ(saved(writer), letter_count - 1);
  EXPECT_EQ(saved(reader), letter_count - 1) << "what was repaired";
}

TEST_F(OutboxDamageTest, KeepsEachDamagedFile) {
  for (int i = 0; i < 3; ++i) {
    test::overwrite(path(), 0, std::string(100, 'x'));
    EXPECT_EQ(saved(Outbox(options())), letter_count - 1);
  }
  EXPECT_THAT(put_aside(path()), SizeIs(3));
}

TEST_F(OutboxDamageTest, ARepairThatFailsLeavesTheDamagedFileWhereItIs) {
  test::overwrite(path(), 0, std::string(100, 'x'));
  const std::string damaged = test::text_of(path());
  const std::filesystem::path output = directory_.path() / "output";
  test::ChildProcess worker({"env", "FAULT_SHIM_ACTION=ENOSPC", "FAULT_SHIM_STEP=4",
                             "FAULT_SHIM_PATH=" + path().string(), FORELOCK_OUTBOX_WORKER, path().string(), "add:a"},
                            output);
  worker.wait();
  EXPECT_THAT(test::lines_of(output),
              ElementsAre(AllOf(StartsWith("failed open"), HasSubstr("cannot be made or repaired"),
                                HasSubstr("No space left"))));
  EXPECT_EQ(test::text_of(path()), damaged);
  EXPECT_THAT(put_aside(path()), IsEmpty());
  EXPECT_EQ(saved(Outbox(options())), letter_count - 1);
}

}  // namespace
}  // namespace forelock::outbox
