// The order of the waiting contenders, and the place of each.
#include "lock/contender_queue.h"
#include "support/test.h"

#include "lock/contender.h"

namespace forelock::lock {
namespace {

bool lower_number(const Contender* a, const Contender* b) {
  return a->number < b->number;
}

class ContenderQueueTest : public ::testing::Test {
 protected:
  ContenderQueueTest() {
    for (std::size_t i = 0; i < contenders_.size(); ++i) contenders_[i].number = static_cast<std::int64_t>(i);
  }
  std::vector<std::int64_t> numbers() const {
    std::vector<std::int64_t> result;
    for (const Contender* contender : queue_) result.push_back(contender->number);
    return result;
  }

  std::vector<Contender> contenders_ = std::vector<Contender>(5);
  ContenderQueue queue_{lower_number};
};

TEST_F(ContenderQueueTest, KeepsTheOrderWhateverTheArrival) {
  for (const std::size_t i : {3u, 0u, 4u, 1u}) queue_.insert(&contenders_[i]);
  EXPECT_EQ(numbers(), (std::vector<std::int64_t>{0, 1, 3, 4}));
  EXPECT_EQ(&queue_.front(), &contenders_[0]);
  EXPECT_EQ(queue_.index_of(&contenders_[3]), 2u);
}

TEST_F(ContenderQueueTest, InsertingTwiceIsOnce) {
  queue_.insert(&contenders_[1]);
  queue_.insert(&contenders_[1]);
  EXPECT_EQ(queue_.size(), 1u);
}

TEST_F(ContenderQueueTest, WhatIsNotThereHasNoPlaceAndIsNotErased) {
  queue_.insert(&contenders_[1]);
  queue_.insert(&contenders_[3]);
  EXPECT_EQ(queue_.index_of(&contenders_[2]), std::nullopt);
  EXPECT_EQ(queue_.index_of(&contenders_[4]), std::nullopt);
  queue_.erase(&contenders_[2]);
  queue_.erase(&contenders_[4]);
  EXPECT_EQ(queue_.size(), 2u);
  queue_.erase(&contenders_[1]);
  EXPECT_EQ(numbers(), (std::vector<std::int64_t>{3}));
  queue_.clear();
  EXPECT_TRUE(queue_.empty());
}

}  // namespace
}  // namespace forelock::lock
