#include "robustness/runner/agreement.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/temporary_directory.h"

namespace forelock::robustness {
namespace {

constexpr std::int64_t third_epoch = std::int64_t{3} << 32;

class AgreementTest : public ::testing::Test {
 protected:
  void snapshot(const std::string& name) {
    std::filesystem::create_directories(directory_.path() / "version-2");
    std::ofstream(directory_.path() / "version-2" / name).flush();
  }
  bool reached(std::int64_t zxid, std::size_t logs) const {
    return Agreement(3, {directory_.path()}).reached(zxid, logs);
  }

  test::TemporaryDirectory directory_;
};

TEST_F(AgreementTest, TwoOfThreeHaveIt) {
  EXPECT_TRUE(reached(third_epoch + 5, 2));
  EXPECT_FALSE(reached(third_epoch + 5, 1));
}

TEST_F(AgreementTest, OneHasItAndWasAskedForItsSnapshot) {
  snapshot("snapshot.3000000a4");
  EXPECT_TRUE(reached(third_epoch + 0xa4, 1));
  EXPECT_TRUE(reached(third_epoch + 5, 1));
  EXPECT_FALSE(reached(third_epoch + 0xa5, 1)) << "after the snapshot";
}

TEST_F(AgreementTest, LaterEpochsKnowNothingOfIt) {
  snapshot("snapshot.400000001");
  EXPECT_FALSE(reached(third_epoch + 5, 1));
}

}  // namespace
}  // namespace forelock::robustness
