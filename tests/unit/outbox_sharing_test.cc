// Threads, objects, processes and others that use one outbox at the same time.
#include <dlfcn.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forelock/error.h"
#include "letter/letter_json.h"
#include "outbox/file_lock.h"
#include "outbox/letter_table.h"
#include "outbox/outbox.h"
#include "outbox/shared_file.h"
#include "outbox_test_support.h"
#include "support/child_process.h"
#include "support/temporary_directory.h"
#include "support/wait_until.h"

namespace forelock::outbox {
namespace {

using test::error_of;
using test::ids_of;
using test::sample_letter;

constexpr std::chrono::seconds patience(60);  // for what comes at once on a machine that is not busy

class OutboxSharingTest : public ::testing::Test {
 protected:
  std::filesystem::path path() const { return directory_.path() / "outbox.db"; }
  OutboxOptions options() { return {.path = path(), .log = log_.sink()}; }

  test::TemporaryDirectory directory_;
  test::LogLines log_;
};

TEST_F(OutboxSharingTest, ThreadsAndObjectsShareTheFile) {
  constexpr int threads = 4;
  constexpr int letters = 50;
  Outbox first(options());
  Outbox second(options());
  std::atomic<int> called{0};
  first.on_add([&] { ++called; });
  {
    std::vector<std::jthread> adders;
    for (int t = 0; t < threads; ++t) {
      adders.emplace_back([&, t] {
        for (int i = 0; i < letters; ++i) {
          (t % 2 == 0 ? first : second).add(sample_letter(std::to_string(t) + '-' + std::to_string(i)));
        }
      });
    }
  }
  EXPECT_EQ(called, threads / 2 * letters);
  EXPECT_EQ(first.depth().rows, static_cast<std::uint64_t>(threads * letters));
  EXPECT_EQ(first.depth().bytes, second.depth().bytes);
  std::vector<int> next(threads, 0);
  for (const std::string& id : ids_of(first)) {  // each thread's in its order
    const int thread = id[0] - '0';
    EXPECT_EQ(id.substr(2), std::to_string(next[static_cast<std::size_t>(thread)]++));
  }
}

// Two threads share a transaction, of which the disk has no room for one.
TEST_F(OutboxSharingTest, WhatFitsIsWrittenBesideWhatDoesNot) {
  SharedFile file(options());
  int runs_of_large = 0;
  for (int tries = 0; runs_of_large != 2 && tries < 1000 && !HasFailure(); ++tries) {  // until they have met
    runs_of_large = 0;
    const std::string id = std::to_string(tries);
    std::atomic<int> ready{0};
    const auto write = [&](WriteJob job) {
      ++ready;
      file.write(job);
    };
    const DeadLetter letter = sample_letter("small-" + id);
    const auto insert = [&letter](LetterTable& table) {
      table.insert({letter.id, letter.monitor, letter.failed_at, letter::to_json(letter)});
    };
    const auto is_there = [&letter](LetterTable& table) { return table.find_key(letter.id).has_value(); };
    std::jthread first([&] {
      write({.work = [&ready](LetterTable&) { test::wait_until([&] { return ready == 3; }); },
             .is_done = [](LetterTable&) { return true; }});
    });
    test::wait_until([&] { return ready == 1; });
    std::jthread small([&] { EXPECT_NO_THROW(write({.work = insert, .is_done = is_there})) << "it fits"; });
    std::jthread large([&] {
      EXPECT_THROW(write({.work =
                              [&runs_of_large](LetterTable&) {
                                ++runs_of_large;
                                throw SqliteError(SQLITE_FULL, 0, "no room");
                              },
                          .is_done = [](LetterTable&) { return false; }}),
                   Error);
    });
    small.join();
    large.join();
    EXPECT_TRUE(Outbox(options()).find(letter.id));
  }
  EXPECT_EQ(runs_of_large, 2) << "once beside the other, once alone";
}

TEST_F(OutboxSharingTest, EachThreadGetsItsOwnAnswer) {
  Outbox outbox(options());
  outbox.add(sample_letter("known"));
  std::atomic<int> refused{0};
  {
    std::vector<std::jthread> adders;
    for (int t = 0; t < 8; ++t) {
      adders.emplace_back([&, t] {
        for (int i = 0; i < 20; ++i) {
          if (t % 2 == 0) {
            outbox.add(sample_letter(std::to_string(t) + '-' + std::to_string(i)));
          } else {
            if (error_of([&] { outbox.add(sample_letter("known", "other")); }).code() == ErrorCode::invalid_argument) {
              ++refused;
            }
          }
        }
      });
    }
  }
  EXPECT_EQ(refused, 80);
  EXPECT_EQ(outbox.depth().rows, 81U);
}

TEST_F(OutboxSharingTest, ProcessesShareTheFileFromItsFirstMoment) {
  constexpr int letters = 60;
  const std::filesystem::path output = directory_.path() / "output";
  {
    std::vector<std::unique_ptr<test::ChildProcess>> workers;
    for (const char* const prefix : {"x", "y", "z"}) {
      const std::string step = "add:" + std::string(prefix) + '*' + std::to_string(letters);
      workers.push_back(std::make_unique<test::ChildProcess>(
          std::vector<std::string>{FORELOCK_OUTBOX_WORKER, path().string(), step}, output));
    }
    for (const auto& worker : workers) EXPECT_EQ(worker->wait(), 0);
  }
  for (const std::string& line : test::lines_of(output)) EXPECT_THAT(line, ::testing::StartsWith("done "));
  Outbox outbox(options());
  const std::vector<std::string> ids = ids_of(outbox);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 3U * letters);
  EXPECT_EQ(outbox.depth().rows, ids.size());
  for (const char prefix : {'x', 'y', 'z'}) {
    int next = 0;
    for (const std::string& id : ids) {
      if (id[0] != prefix) continue;
      EXPECT_EQ(id, prefix + std::to_string(next++));
    }
    EXPECT_EQ(next, letters);
  }
  EXPECT_THAT(test::put_aside(path()), IsEmpty());
}

#ifdef FORELOCK_OUTBOX_COPY
// SQLite's own locks are those of the process, and do not keep its copies apart.
TEST_F(OutboxSharingTest, TwoCopiesOfTheLibraryInOneProcessShareTheFile) {
  constexpr int letters = 200;
  void* const copy = dlopen(FORELOCK_OUTBOX_COPY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(copy, nullptr) << dlerror();
  const auto add = reinterpret_cast<int (*)(const char*, const char*, int)>(dlsym(copy, "outbox_copy_add"));
  ASSERT_NE(add, nullptr);
  Outbox outbox(options());
  int theirs = 0;
  {
    const std::jthread other([&] { theirs = add(path().c_str(), "theirs-", letters); });
    for (int i = 0; i < letters; ++i) outbox.add(sample_letter("ours-" + std::to_string(i)));
  }
  EXPECT_EQ(theirs, letters);
  const std::vector<std::string> ids = ids_of(Outbox(options()));
  EXPECT_EQ(ids.size(), 2U * letters);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 2U * letters);
  outbox.check();
  EXPECT_THAT(log_.lines(), IsEmpty());
  EXPECT_THAT(test::put_aside(path()), IsEmpty());
}
#endif

TEST_F(OutboxSharingTest, AChildOfForkCannotUseItAndDoesNotDisturb) {
  Outbox outbox(options());
  outbox.add(sample_letter("a"));
  const pid_t child = fork();
  if (child == 0) {
    int refused = 0;
    const auto count = [&](const std::function<void()>& call) {
      try {
        call();
      } catch (const RequestRejectedException& error) {
        refused += error.code() == ErrorCode::forked ? 1 : 0;
      }
    };
    count([&] { outbox.add(sample_letter("b")); });
    count([&] { outbox.read(0, 1, 1); });
    count([&] { outbox.count_try({}); });
    count([&] { outbox.depth(); });
    // A destructor that closed the file would take the parent's locks away.
    outbox.~Outbox();
    _exit(refused == 4 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  outbox.add(sample_letter("c"));
  EXPECT_THAT(ids_of(outbox), ElementsAre("a", "c"));
}

TEST_F(OutboxSharingTest, NoticesThatTheFileWasTakenAway) {
  Outbox outbox(options());
  outbox.add(sample_letter("a"));
  const std::int64_t before = outbox.find("a")->sequence;
  std::filesystem::remove(path());
  outbox.add(sample_letter("b"));
  EXPECT_THAT(ids_of(Outbox(options())), ElementsAre("b")) << "not added to a file that nobody can find";
  EXPECT_GT(outbox.find("b")->sequence, before);
  EXPECT_THAT(log_.lines(), ElementsAre(AllOf(HasSubstr("warning"), HasSubstr("removed or emptied"))));
}

TEST_F(OutboxSharingTest, SaysThatAnotherProcessKeepsItBusy) {
  OutboxOptions impatient = options();
  impatient.patience = std::chrono::milliseconds(100);
  Outbox outbox(impatient);
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  const Error error = error_of([&] { outbox.add(sample_letter("a")); });
  EXPECT_EQ(error.code(), ErrorCode::outbox_unavailable);
  EXPECT_THAT(error.what(), HasSubstr("another process"));
  EXPECT_THAT(error.hint(), HasSubstr("fuser"));
  sqlite3_close(other);
  outbox.add(sample_letter("a"));
  EXPECT_THAT(ids_of(outbox), ElementsAre("a"));
}

// As a process that is stopped in the middle of a change does.
TEST_F(OutboxSharingTest, SaysThatAnotherKeepsItLocked) {
  OutboxOptions impatient = options();
  impatient.patience = std::chrono::milliseconds(100);
  Outbox outbox(impatient);
  FileLock other(path().string() + ".lock", path());
  ASSERT_TRUE(other.own(patience));
  for (const Error& error : {error_of([&] { outbox.add(sample_letter("a")); }), error_of([&] { outbox.depth(); })}) {
    EXPECT_EQ(error.code(), ErrorCode::outbox_unavailable);
    EXPECT_THAT(error.what(), HasSubstr("another process has been using it for too long"));
    EXPECT_THAT(error.hint(), HasSubstr("fuser"));
  }
  other.release();
  outbox.add(sample_letter("a"));
  EXPECT_THAT(ids_of(outbox), ElementsAre("a"));
}

// Else each of many letters would wait as long as the first.
TEST_F(OutboxSharingTest, DoesNotWaitForLongAgainRightAfterAWaitInVain) {
  constexpr int letters = 20;
  OutboxOptions given = options();
  given.patience = std::chrono::seconds(3);
  Outbox outbox(given);
  FileLock other(path().string() + ".lock", path());
  ASSERT_TRUE(other.own(patience));
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < letters; ++i) {
    EXPECT_EQ(error_of([&] { outbox.add(sample_letter(std::to_string(i))); }).code(), ErrorCode::outbox_unavailable);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, letters * given.patience / 2);
  other.release();
  outbox.add(sample_letter("a"));
  EXPECT_THAT(ids_of(outbox), ElementsAre("a"));
}

// Who still has the old one open keeps nobody out.
TEST_F(OutboxSharingTest, NoticesThatItsLockWasTakenAway) {
  Outbox outbox(options());
  outbox.add(sample_letter("a"));
  std::filesystem::remove(path().string() + ".lock");
  outbox.add(sample_letter("b"));
  FileLock other(path().string() + ".lock", path());
  ASSERT_TRUE(other.own(patience));
  OutboxOptions impatient = options();
  impatient.patience = std::chrono::milliseconds(100);
  EXPECT_EQ(error_of([&] { Outbox late(impatient); }).code(), ErrorCode::outbox_unavailable);
  other.release();
  EXPECT_THAT(ids_of(Outbox(options())), ElementsAre("a", "b"));
}

// The lock of a process that dies is free, whoever it has left behind.
TEST_F(OutboxSharingTest, AChildOfForkDoesNotKeepTheLockOfItsParent) {
  int pipe_ends[2] = {};
  ASSERT_EQ(pipe(pipe_ends), 0);
  FileLock lock(path().string() + ".lock", path());
  const pid_t child = fork();
  if (child == 0) {
    FileLock theirs(path().string() + ".lock", path());
    const bool owned = theirs.own(patience);
    if (fork() == 0) {  // lives until its grandparent has looked
      char byte = 0;
      ::close(pipe_ends[1]);
      _exit(read(pipe_ends[0], &byte, 1) < 0 ? 1 : 0);
    }
    _exit(owned ? 0 : 1);  // no destructor frees it
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(lock.own(patience));
  ::close(pipe_ends[1]);
  ::close(pipe_ends[0]);
}

}  // namespace
}  // namespace forelock::outbox
