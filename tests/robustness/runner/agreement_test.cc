#include "robustness/runner/agreement.h"
#include "support/test.h"

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
  // The snapshots are the second server's.
  bool reached(std::int64_t zxid, const char* logs) const {
    Agreement agreement;
    agreement.add(1, directory_.path());
    return agreement.reached(zxid, ServerSet(logs));
  }

  test::TemporaryDirectory directory_;
};

TEST_F(AgreementTest, TwoOfThreeHaveIt) {
  EXPECT_TRUE(reached(third_epoch + 5, "101"));
  EXPECT_FALSE(reached(third_epoch + 5, "001"));
}

TEST_F(AgreementTest, OneHasItAndGaveASnapshotToAnother) {
  snapshot("snapshot.3000000a4");
  EXPECT_TRUE(reached(third_epoch + 0xa4, "001"));
  EXPECT_TRUE(reached(third_epoch + 5, "100"));
  EXPECT_FALSE(reached(third_epoch + 0xa5, "001")) << "after the snapshot";
}

TEST_F(AgreementTest, AServersOwnSnapshotSaysNothing) {
  snapshot("snapshot.3000000a4");
  EXPECT_FALSE(reached(third_epoch + 5, "010"));
}

TEST_F(AgreementTest, LaterEpochsKnowNothingOfIt) {
  snapshot("snapshot.400000001");
  EXPECT_FALSE(reached(third_epoch + 5, "001"));
}

}  // namespace
}  // namespace forelock::robustness
