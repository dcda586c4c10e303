// Processes that are killed, and disks that fail, at every single step of what an outbox does.
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include "outbox/outbox.h"
#include "outbox_test_support.h"
#include "support/child_process.h"
#include "support/temporary_directory.h"

namespace forelock::outbox {
namespace {

using test::all_rows;
using test::sample_letter;

// What a row is, for comparing.
using State = std::map<std::string, std::pair<RowState, std::uint32_t>>;

const std::vector<std::string> steps{"add:a", "add:b", "try:b", "park:b", "remove:a", "add:c"};

void apply(const std::string& step, State& state) {
  const std::string action = step.substr(0, step.find(':'));
  const std::string id = step.substr(step.find(':') + 1);
  if (action == "add") state.emplace(id, std::pair(RowState::queued, 0U));
  if (action == "try") ++state[id].second;
  if (action == "park") state[id].first = RowState::parked;
  if (action == "remove") state.erase(id);
}

class OutboxCrashTest : public ::testing::Test {
 protected:
  std::filesystem::path home() const { return directory_.path() / "home"; }
  std::filesystem::path path() const { return home() / "outbox.db"; }
  std::filesystem::path output() const { return directory_.path() / "output"; }
  std::filesystem::path calls() const { return directory_.path() / "calls"; }

  // Runs the worker on a new outbox with these settings of the shim. \returns its wait status.
  int run(std::vector<std::string> shim, const std::vector<std::string>& worker_steps) const {
    std::filesystem::remove_all(home());
    return run_again(std::move(shim), worker_steps);
  }

  int run_again(std::vector<std::string> shim, const std::vector<std::string>& worker_steps) const {
    std::filesystem::remove(output());
    std::vector<std::string> arguments{"env", "FAULT_SHIM_PATH=" + home().string()};
    std::move(shim.begin(), shim.end(), std::back_inserter(arguments));
    arguments.insert(arguments.end(), {FORELOCK_OUTBOX_WORKER, path().string()});
    arguments.insert(arguments.end(), worker_steps.begin(), worker_steps.end());
    return test::ChildProcess(arguments, output()).wait();
  }

  // The calls of an undisturbed run, as the shim names them.
  std::vector<std::string> calls_of(const std::vector<std::string>& worker_steps) const {
    std::filesystem::remove(calls());
    EXPECT_EQ(run({"FAULT_SHIM_LOG=" + calls().string()}, worker_steps), 0);
    return test::lines_of(calls());
  }

  // How each step ended, without "open": "done add:a", "failed add:b: why", …
  std::vector<std::string> endings() const {
    std::vector<std::string> lines;
    for (const std::string& line : test::lines_of(output())) {
      if (line.find(" open") == std::string::npos) lines.push_back(line);
    }
    return lines;
  }

  // Opens what is left as the next process would. It must be whole, and its totals exact.
  State state_left() const {
    test::LogLines log;
    const State state = seen(Outbox({.path = path(), .log = log.sink()}));
    EXPECT_THAT(log.lines(), IsEmpty());
    EXPECT_EQ(checked(), "ok");
    return state;
  }

  // What who only looks sees, in a copy: a look may undo what was begun, and must not do it for the next process.
  State state_seen() const {
    const std::filesystem::path copy = directory_.path() / "copy";
    std::filesystem::remove_all(copy);
    if (!std::filesystem::exists(home())) return {};
    std::filesystem::copy(home(), copy);
    return seen(Outbox({.path = copy / "outbox.db", .read_only = true}));
  }

  static State seen(const Outbox& outbox) {
    State state;
    for (const Row& row : all_rows(outbox)) state.emplace(row.id, std::pair(row.state, row.tries));
    EXPECT_EQ(outbox.depth().rows, state.size());
    return state;
  }

  std::string checked() const {
    sqlite3* handle = nullptr;
    std::string result = "cannot be opened";
    if (sqlite3_open_v2(path().c_str(), &handle, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK) {
      sqlite3_exec(
          handle, "PRAGMA integrity_check",
          [](void* to, int, char** values, char**) {
            *static_cast<std::string*>(to) = values[0];
            return 0;
          },
          &result, nullptr);
    }
    sqlite3_close(handle);
    return result;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(OutboxCrashTest, NothingIsLostOrDamagedByAKillAtAnyStep) {
  const std::vector<std::string> undisturbed = calls_of(steps);
  ASSERT_GT(undisturbed.size(), 100U);
  for (std::size_t call = 1; call <= undisturbed.size(); ++call) {
    const std::string& text = undisturbed[call - 1];
    // Of several writes of a page's parts, one after another, the middle ones say nothing new.
    const bool page_of_journal = text.find("pwrite 4 ") != std::string::npos;
    if (page_of_journal) continue;
    for (const char* const action : {"kill_before", "kill_half"}) {
      if (action == std::string("kill_half") && text.find("write") == std::string::npos) continue;
      SCOPED_TRACE(std::string(action) + ' ' + text);
      const int status =
          run({"FAULT_SHIM_ACTION=" + std::string(action), "FAULT_SHIM_STEP=" + std::to_string(call)}, steps);
      ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
      State before;
      const std::vector<std::string> done = endings();
      ASSERT_LE(done.size(), steps.size());
      for (std::size_t i = 0; i < done.size(); ++i) {
        ASSERT_EQ(done[i], "done " + steps[i]);
        apply(steps[i], before);
      }
      State after = before;
      if (done.size() < steps.size()) apply(steps[done.size()], after);
      ASSERT_NO_THROW(ASSERT_THAT(state_seen(), AnyOf(before, after)));
      ASSERT_THAT(state_left(), AnyOf(before, after));
    }
  }
}

TEST_F(OutboxCrashTest, WhoLooksGoesOnBehindAKillAtAnyStep) {
  ASSERT_EQ(run({}, {"add:a"}), 0);
  ASSERT_EQ(run_again({"FAULT_SHIM_LOG=" + calls().string()}, {"add:b"}), 0);
  const std::vector<std::string> undisturbed = test::lines_of(calls());
  ASSERT_GT(undisturbed.size(), 10U);
  std::size_t unreadable = 0;
  for (std::size_t call = 1; call <= undisturbed.size(); ++call) {
    SCOPED_TRACE("kill_before " + undisturbed[call - 1]);
    ASSERT_EQ(run({}, {"add:a"}), 0);
    const Outbox look({.path = path(), .read_only = true});
    ASSERT_EQ(seen(look).size(), 1U);
    const int status =
        run_again({"FAULT_SHIM_ACTION=kill_before", "FAULT_SHIM_STEP=" + std::to_string(call)}, {"add:b"});
    ASSERT_TRUE(WIFSIGNALED(status));
    // Where nothing may be undone, the reason is told.
    const std::filesystem::path copy = directory_.path() / "copy";
    std::filesystem::remove_all(copy);
    std::filesystem::copy(home(), copy);
    std::filesystem::remove(copy / "outbox.db.lock");
    try {
      EXPECT_GE(seen(Outbox({.path = copy / "outbox.db", .read_only = true})).size(), 1U);
    } catch (const Error& error) {
      ++unreadable;
      EXPECT_THAT(error.what(), HasSubstr("killed in the middle of a change"));
      EXPECT_THAT(error.hint(), HasSubstr("owner"));
    }
    ASSERT_NO_THROW(ASSERT_THAT(seen(look).size(), AnyOf(1U, 2U)));
  }
  EXPECT_GT(unreadable, 0U) << "the shim reached what it was to reach";
}

TEST_F(OutboxCrashTest, ARepairCanBeKilledAtAnyStep) {
  run({}, {"add:a*20"});
  const std::string whole = test::text_of(path());
  const auto damage = [&] {
    std::filesystem::remove_all(home());
    run({}, {});
    for (const auto& entry : std::filesystem::directory_iterator(home())) {
      if (entry.path().extension() != ".lock") std::filesystem::remove(entry);
    }
    std::ofstream(path(), std::ios::binary) << "no header" << whole.substr(9);
  };
  damage();
  std::filesystem::remove(calls());
  EXPECT_EQ(run_again({"FAULT_SHIM_LOG=" + calls().string()}, {}), 0);
  const std::size_t count = test::lines_of(calls()).size();
  ASSERT_GT(count, 20U);
  for (std::size_t call = 1; call <= count; call += 2) {
    SCOPED_TRACE("kill_before " + test::lines_of(calls())[call - 1]);
    damage();
    const int status = run_again({"FAULT_SHIM_ACTION=kill_before", "FAULT_SHIM_STEP=" + std::to_string(call)}, {});
    ASSERT_TRUE(WIFSIGNALED(status));
    const Outbox outbox({.path = path()});
    ASSERT_EQ(outbox.depth().rows, 20U);
    ASSERT_FALSE(test::put_aside(path()).empty());
  }
}

// Which error, and whether the disk is well again after one call. ("times" is the shim's.)
struct Failure {
  const char* error;
  const char* times;
};

class OutboxFailureTest : public OutboxCrashTest, public ::testing::WithParamInterface<Failure> {};

// A letter is in if its add() returned, and not in if it threw, unless it said that it did not know.
TEST_P(OutboxFailureTest, TheAnswerIsTheTruthWhicheverCallFails) {
  const std::vector<std::string> adds{"add:a", "add:b"};
  const std::vector<std::string> undisturbed = calls_of(adds);
  std::size_t done = 0;
  std::size_t failed = 0;
  std::size_t unknown = 0;
  for (std::size_t call = 1; call <= undisturbed.size(); ++call) {
    SCOPED_TRACE(undisturbed[call - 1]);
    run({"FAULT_SHIM_ACTION=" + std::string(GetParam().error), "FAULT_SHIM_TIMES=" + std::string(GetParam().times),
         "FAULT_SHIM_STEP=" + std::to_string(call)},
        adds);
    const State left = state_left();
    for (const std::string& ending : endings()) {
      const std::string id = ending.substr(ending.find(':') + 1, 1);
      if (ending.starts_with("done ")) {
        ++done;
        ASSERT_TRUE(left.contains(id)) << ending;
      } else {
        ASSERT_THAT(ending, HasSubstr(path().string()));
        if (ending.starts_with("failed ")) {
          ++failed;
          ASSERT_FALSE(left.contains(id)) << ending;
        } else {
          ++unknown;
        }
      }
    }
  }
  // The shim reached what it was to reach; and on a disk that works again, everything can be found out.
  EXPECT_GT(done, undisturbed.size() / 4);
  EXPECT_GT(failed, undisturbed.size() / 4);
  EXPECT_TRUE(unknown == 0 || GetParam().times != std::string("1")) << unknown;
}

INSTANTIATE_TEST_SUITE_P(, OutboxFailureTest,
                         ::testing::Values(Failure{"EIO", "1"}, Failure{"EIO", "1000000"}, Failure{"ENOSPC", "1"},
                                           Failure{"ENOSPC", "1000000"}),
                         [](const auto& tested) {
                           return std::string(tested.param.error) +
                                  (tested.param.times[1] == '\0' ? "Once" : "ForEver");
                         });

// What has failed to reach the disk is still in memory, where it can be read back: that it is there proves nothing.
TEST_F(OutboxCrashTest, WhatMayHaveFailedCountsOnlyBehindAWriteThatHasNot) {
  const std::vector<std::string> undisturbed = calls_of({"add:a"});
  std::size_t settled = 0;
  for (std::size_t call = 1; call <= undisturbed.size(); ++call) {
    SCOPED_TRACE(undisturbed[call - 1]);
    std::filesystem::remove(calls());
    run({"FAULT_SHIM_ACTION=EIO", "FAULT_SHIM_TIMES=1", "FAULT_SHIM_STEP=" + std::to_string(call),
         "FAULT_SHIM_LOG=" + calls().string()},
        {"add:a"});
    if (endings() != std::vector<std::string>{"done add:a"}) continue;
    const std::vector<std::string> made = test::lines_of(calls());
    std::size_t durable = 0;
    for (std::size_t i = call; i < made.size(); ++i) {
      if (made[i].find("sync ") != std::string::npos && made[i].ends_with("outbox.db")) ++durable;
    }
    EXPECT_GT(durable, 0U);
    ++settled;
  }
  EXPECT_GT(settled, 0U);
}

TEST_F(OutboxCrashTest, AFullDiskIsSaidAndPasses) {
  ASSERT_EQ(run({}, {"add:a"}), 0);
  // It becomes full while nothing is done, and has room again.
  const std::vector<std::string> shim{"FAULT_SHIM_ACTION=ENOSPC", "FAULT_SHIM_TIMES=1"};
  EXPECT_EQ(run_again(shim, {"add:b", "add:c"}), 0);
  EXPECT_THAT(endings(), ElementsAre(AllOf(HasSubstr("failed add:b"), HasSubstr("disk is full")), "done add:c"));
}

TEST_F(OutboxCrashTest, AReadOnlyDiskIsSaidAndWhatIsThereCanStillBeRead) {
  ASSERT_EQ(run({}, {"add:a"}), 0);
  EXPECT_EQ(run_again({"FAULT_SHIM_ACTION=EROFS"}, {"add:b", "try:a"}), 0);
  ASSERT_THAT(endings(), ::testing::SizeIs(2));
  EXPECT_THAT(endings()[0], AllOf(HasSubstr("failed add:b"), HasSubstr("ead-only")));
  EXPECT_THAT(endings()[1], AllOf(HasSubstr("failed try:a"), HasSubstr("ead-only")));
  EXPECT_EQ(state_left().size(), 1U);
  ASSERT_NE(run({"FAULT_SHIM_ACTION=EROFS"}, {}), 0);
  EXPECT_THAT(test::lines_of(output()), ElementsAre(AllOf(HasSubstr("failed open"), HasSubstr("Read-only"))));
}

}  // namespace
}  // namespace forelock::outbox
