// Replayers that are killed at any moment, again and again, until one gets to the end.
#include <signal.h>
#include <sys/wait.h>

#include "drain/drainer_lock.h"
#include "forelock/inspector.h"
#include "integration/dead_letters.h"
#include "integration/drain_journal.h"
#include "integration/drain_replays.h"
#include "integration/fixture.h"
#include "support/child_process.h"
#include "support/temporary_directory.h"
#include "support/text_of.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

using ::testing::IsSubsetOf;
using ::testing::IsSupersetOf;

class DrainKillTest : public DrainReplayTest {
 protected:
  static constexpr int monitors = 10;
  static constexpr int per_monitor = 20;
  static constexpr std::uint32_t tries = 6;  // so many that few letters are parked that were in the wrong place

  void fill() {
    std::mt19937 random(7);
    std::vector<DeadLetter> letters;
    for (int number = 0; number < per_monitor; ++number) {
      for (int monitor = 0; monitor < monitors; ++monitor) {
        std::string type = "good";
        if (number == 3 + monitor % 5) type = "poison";
        if (number == 10 && monitor == 4) type = "deadly";
        const std::string name = "M" + std::to_string(monitor);
        letters.push_back(letter_of_type(type, name + "-" + std::to_string(number), name));
        if (type != "good") bad_.insert(letters.back().id);
        place_[letters.back().id] = number;
      }
    }
    given_->add(letters);
  }

  std::unique_ptr<ChildProcess> start_worker() {
    std::vector<std::string> command = {FORELOCK_DRAIN_WORKER,
                                        "replay",
                                        journal_.path().string(),
                                        "zookeeper.servers=" + servers_,
                                        "zookeeper.session.timeout=1000",
                                        "tries=" + std::to_string(tries)};
    for (const auto& [key, value] : given_->settings()) command.push_back(key + "=" + value);
    return std::make_unique<ChildProcess>(std::move(command), output_);
  }

  // What a dead process held would be free when its session has expired. This is faster.
  void free_locks() {
    Inspector inspector(client_);
    for (const auto& monitor : inspector.list()) {
      if (monitor.holder && monitor.holder->node) inspector.force_release(monitor.monitor, *monitor.holder->node);
    }
  }

  std::set<std::string> open_letters() {
    const auto ids = contents().ids();
    return {ids.begin(), ids.end()};
  }

  // What was written since the last look: nothing that had been resolved by then, and each monitor in its order.
  void check_new_entries(const std::set<std::string>& open_before) {
    const auto entries = journal_.entries(seen_);
    seen_ += entries.size();
    for (const auto& entry : entries) {
      EXPECT_TRUE(open_before.contains(entry.id)) << entry.id << " was resolved before";
      int& last = last_of_[entry.monitor];
      EXPECT_GE(place_.at(entry.id), last) << entry.id << " came after a later one of its monitor";
      last = place_.at(entry.id);
      ++(entry.what == "done" ? done_ : tried_)[entry.id];
    }
  }

  std::string output() const { return text_of(output_); }

  TemporaryDirectory directory_;
  const std::filesystem::path output_ = directory_.path() / "output";
  DrainJournal journal_{directory_.path() / "journal"};
  Client client_{settings()};
  std::set<std::string> bad_;
  std::map<std::string, int> place_;
  std::map<std::string, int> last_of_;
  std::map<std::string, int> done_;
  std::map<std::string, int> tried_;
  std::size_t seen_ = 0;
};

// FORELOCK_LONG=10 makes it more than 200 kills.
TEST_P(DrainKillTest, KilledAgainAndAgain) {
  std::mt19937 random(20250607);
  int kills = 0;
  for (int fillings = 0; fillings < length(); ++fillings) {
    if (fillings > 0) given_ = DrainStore::make(GetParam());
    fill();
    for (auto* each : {&last_of_, &done_, &tried_}) each->clear();
    int deaths = 0;
    bool finished = false;
    for (int round = 0; round < 200 && !finished; ++round) {
      const auto open = open_letters();
      const auto worker = start_worker();
      // Early rounds end anywhere, from the start of the process on; later ones let it get further and further.
      const std::size_t enough = journal_.size() + random() % static_cast<unsigned>(20 + 25 * round);
      const bool dead = wait_until([&] { return !worker->running() || journal_.size() > enough; },
                                   std::chrono::milliseconds(random() % 400 + static_cast<unsigned>(50 * round))) &&
                        !worker->running();
      if (!dead) {
        worker->kill();
        ++kills;
      } else if (WIFSIGNALED(worker->wait())) {
        ++deaths;  // of the deadly letter
      } else {
        ASSERT_EQ(worker->wait(), 0) << output();
        finished = open_letters().empty();
      }
      check_new_entries(open);
      // Sometimes the way that takes its time.
      if (round % 8 != 7) free_locks();
    }
    EXPECT_TRUE(finished) << output();
    EXPECT_GT(deaths, 0) << "the deadly letter has not been met";
    EXPECT_LE(deaths, static_cast<int>(tries));
    const auto in_parking = parked().ids();
    const std::set<std::string> parked_ids(in_parking.begin(), in_parking.end());
    EXPECT_THAT(parked_ids, IsSupersetOf(bad_));
    int innocent = 0;
    for (const auto& [id, place] : place_) {
      const bool is_parked = parked_ids.contains(id);
      EXPECT_TRUE(is_parked || done_[id] > 0) << id << " is lost";
      if (bad_.contains(id)) {
        EXPECT_EQ(done_[id], 0);
        EXPECT_GT(tried_[id], 0);
      } else if (is_parked) {
        ++innocent;
      }
      EXPECT_LE(tried_[id], static_cast<int>(tries)) << id;
    }
    EXPECT_LE(innocent, 5) << "parked because they were under way when the process was killed, six times";
    EXPECT_EQ(in_parking.size(), parked_ids.size());
  }
  std::cout << kills << " kills\n";
}

INSTANTIATE_TEST_SUITE_P(Stores, DrainKillTest, ::testing::Values("outbox", "kafka"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace forelock::test
