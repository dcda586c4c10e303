// What an outbox's store changes in the name of its drainer, and what it does not.
#include "drain/outbox_store.h"
#include "forelock/error.h"
#include "sample_letter.h"
#include "support/temporary_directory.h"
#include "support/test.h"

namespace forelock::drain {
namespace {

class LostProof final : public DrainerProof {
 public:
  std::uint64_t token() const override { return 1; }
  void check_health() const override {
    throw LockUnhealthyException(ErrorCode::lock_unhealthy, "drainer", "the drainer's lock is lost");
  }
};

TEST(OutboxStoreTest, WhoIsNoDrainerAnyMoreRemovesAndParksNothing) {
  const test::TemporaryDirectory directory;
  auto outbox = std::make_unique<outbox::Outbox>(outbox::OutboxOptions{.path = directory.path() / "outbox.db"});
  outbox->add(test::sample_letter("a"));
  OutboxStore store(std::move(outbox), "drainer");
  const LostProof proof;
  store.set_drainer(&proof);
  const std::optional<StoredLetter> letter = store.find("a");
  ASSERT_TRUE(letter);
  for (const Resolution resolution : {Resolution::purged, Resolution::parked}) {
    EXPECT_THROW(store.resolve(*letter, resolution), LockUnhealthyException);
  }
  EXPECT_THROW(store.begin_try(*letter), LockUnhealthyException);
  EXPECT_THROW(store.take_back_try(*letter), LockUnhealthyException);
  EXPECT_THROW(store.restore(*letter), LockUnhealthyException);
  const std::optional<StoredLetter> left = store.find("a");
  ASSERT_TRUE(left);
  EXPECT_EQ(std::pair(left->state, left->tries), std::pair(LetterState::queued, 0U));
  store.resolve(*letter, Resolution::replayed);
  EXPECT_FALSE(store.find("a")) << "it is a fact by the letter's own lock";
}

// Numbers begin anew where the outbox is removed with its lock, while a replay goes on.
TEST(OutboxStoreTest, ALetterThatHasTheNumberOfOneBeforeStays) {
  const test::TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "outbox.db";
  auto outbox = std::make_unique<outbox::Outbox>(outbox::OutboxOptions{.path = path});
  outbox->add(test::sample_letter("a"));
  OutboxStore store(std::move(outbox), "drainer");
  const std::optional<StoredLetter> replayed = store.find("a");
  ASSERT_TRUE(replayed);
  for (const char* const suffix : {"", "-journal", ".lock"}) std::filesystem::remove(path.string() + suffix);
  outbox::Outbox({.path = path}).add(test::sample_letter("new"));
  ASSERT_EQ(store.find("new")->position, replayed->position);
  store.resolve(*replayed, Resolution::replayed);
  store.resolve(*replayed, Resolution::parked);
  const std::optional<StoredLetter> left = store.find("new");
  ASSERT_TRUE(left);
  EXPECT_EQ(left->state, LetterState::queued);
}

}  // namespace
}  // namespace forelock::drain
