// Very many letters: how long it takes to look at them, and how much memory.
#include "integration/dead_letters.h"
#include "integration/drain_stores.h"
#include "support/child_process.h"
#include "support/temporary_directory.h"
#include "support/test.h"

namespace forelock::test {
namespace {

class DrainScaleTest : public ::testing::TestWithParam<std::string> {
 protected:
  static constexpr int count = 100'000;
  static constexpr int monitors = 1000;

  // What a worker says, by word.
  std::map<std::string, long> run(std::vector<std::string> command) {
    const TemporaryDirectory directory;
    const auto output = directory.path() / "output";
    command.insert(command.begin(), FORELOCK_DRAIN_WORKER);
    for (const auto& [key, value] : given_->settings()) command.push_back(key + "=" + value);
    const int status = ChildProcess(command, output).wait();
    std::ifstream file(output);
    std::string line;
    std::getline(file, line);
    EXPECT_EQ(status, 0) << line;
    std::cout << GetParam() << ", " << command[1] << ": " << line << "\n";
    std::map<std::string, long> said;
    std::istringstream words(line);
    std::string word;
    for (long number = 0; words >> word >> number;) said[word] = number;
    return said;
  }

  void fill() {
    std::vector<DeadLetter> letters;
    for (int i = 0; i < count; ++i) {
      letters.push_back(example_letter("id-" + std::to_string(i), "P" + std::to_string(i % monitors), 500));
      letters.back().type = "poison";
      if (letters.size() < 10'000) continue;
      given_->add(letters);
      letters.clear();
    }
  }

  std::unique_ptr<DrainStore> given_ = DrainStore::make(GetParam());
};

// The bounds hold on a busy machine and with sanitizers; what was needed is printed.
TEST_P(DrainScaleTest, VeryManyLetters) {
  fill();
  for (const auto& command : {std::vector<std::string>{"statistics"}, std::vector<std::string>{"find", "id-99999"}}) {
    auto said = run(command);
    EXPECT_EQ(said["letters"], command[0] == "find" ? 1 : count);
    EXPECT_LT(said["processor_ms"], 30'000);
    EXPECT_LT(said["kilobytes"], 200'000);
  }
  // Each monitor fails with its first letter, and all others are passed over.
  const TemporaryDirectory directory;
  auto said = run({"replay", (directory.path() / "journal").string(), "concurrency=32",
                   "zookeeper.servers=" + shared_server().connect_string() + "/scale-" + GetParam()});
  EXPECT_EQ(said["failed"], monitors);
  EXPECT_EQ(said["skipped"], count - monitors);
  EXPECT_LT(said["kilobytes"], 200'000);
}

INSTANTIATE_TEST_SUITE_P(Stores, DrainScaleTest, ::testing::Values("outbox", "kafka"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace forelock::test
