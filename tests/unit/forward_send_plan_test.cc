// Which rows may be sent, and in which order, whatever became of those before them.
#include "forward/send_plan.h"
#include "support/test.h"

namespace forelock::forward {
namespace {

using outbox::Row;
using outbox::RowRef;
using outbox::RowState;

// An outbox of rows that somebody forwards by the plan.
class SendPlanTest : public ::testing::Test {
 protected:
  SendPlanTest() : plan_(1, limits()) {}

  static SendPlan::Limits limits() {
    SendPlan::Limits limits;
    limits.rows = 4;
    limits.bytes = 100;
    limits.held_monitors = 2;
    limits.refused_rows = 5;
    limits.retry = retry::Backoff(1000ms, 4000ms);
    limits.refused_retry = 60s;
    return limits;
  }

  void add(std::int64_t sequence, const std::string& monitor, RowState state = RowState::queued) {
    rows_.push_back({.sequence = sequence, .state = state, .id = "id", .monitor = monitor, .record = record_});
  }
  static RowRef ref(std::int64_t sequence) { return {.sequence = sequence}; }
  // Sends what may be sent now. Returns the sequences.
  std::vector<std::int64_t> send() {
    std::vector<std::int64_t> sent;
    for (const Row& row : rows_) {
      if (!plan_.open() || row.sequence <= plan_.cursor() || !plan_.take(row)) continue;
      plan_.sent(row);
      sent.push_back(row.sequence);
    }
    return sent;
  }
  void remove_delivered() {
    for (const RowRef& gone : plan_.delivered_rows()) {
      std::erase_if(rows_, [&](const Row& row) { return row.ref() == gone; });
    }
    plan_.removed();
  }
  // Long enough for every retry.
  void retry() {
    now_ += 5s;
    plan_.release(now_);
  }

  std::vector<Row> rows_;
  std::string record_ = "{}";
  SendPlan plan_;
  SendPlan::Time now_{};
};

TEST_F(SendPlanTest, SendsInOrderAndOnce) {
  for (std::int64_t i = 1; i <= 3; ++i) add(i, "P1");
  EXPECT_THAT(send(), ElementsAre(1, 2, 3));
  plan_.rewind();
  EXPECT_THAT(send(), IsEmpty()) << "they are under way";
  plan_.delivered(ref(2));
  plan_.rewind();
  EXPECT_THAT(send(), IsEmpty()) << "2 is delivered and not removed yet";
  EXPECT_THAT(plan_.delivered_rows(), ElementsAre(ref(2)));
  EXPECT_EQ(plan_.unconfirmed(), 2u);
}

TEST_F(SendPlanTest, NeverMoreUnderWayThanTheLimits) {
  for (std::int64_t i = 1; i <= 9; ++i) add(i, "P" + std::to_string(i));
  EXPECT_THAT(send(), ElementsAre(1, 2, 3, 4));
  plan_.delivered(ref(1));
  EXPECT_THAT(send(), IsEmpty()) << "a delivered row counts until it is removed";
  remove_delivered();
  EXPECT_THAT(send(), ElementsAre(5));
  for (std::int64_t i = 2; i <= 5; ++i) plan_.delivered(ref(i));
  remove_delivered();
  rows_[0].record = std::string(100, ' ');
  EXPECT_THAT(send(), ElementsAre(6)) << "bytes are limited as well, but one row is always possible";
}

TEST_F(SendPlanTest, FailedRowHoldsBackItsMonitorAlone) {
  add(1, "P1");
  add(2, "P2");
  EXPECT_THAT(send(), ElementsAre(1, 2));
  plan_.failed(ref(1), now_);
  plan_.delivered(ref(2));
  remove_delivered();
  add(3, "P1");
  add(4, "P2");
  EXPECT_THAT(send(), ElementsAre(4));
  retry();
  EXPECT_THAT(send(), ElementsAre(1, 3)) << "in their order, 4 not again";
}

TEST_F(SendPlanTest, FailureOfTheTopicHoldsBackAllAndTheNextRowIsAlone) {
  for (std::int64_t i = 1; i <= 4; ++i) add(i, "P" + std::to_string(i));
  EXPECT_THAT(send(), ElementsAre(1, 2, 3, 4));
  plan_.delivered(ref(1));
  plan_.failed(ref(2), now_, SendPlan::Holds::all);
  remove_delivered();
  add(5, "P5");
  EXPECT_THAT(send(), IsEmpty());
  for (std::int64_t i = 3; i <= 4; ++i) plan_.failed(ref(i), now_, SendPlan::Holds::all);
  EXPECT_THAT(send(), IsEmpty());
  for (int i = 0; i < 2; ++i) {
    retry();
    EXPECT_THAT(send(), ElementsAre(2));
    plan_.failed(ref(2), now_, SendPlan::Holds::all);
  }
  retry();
  EXPECT_THAT(send(), ElementsAre(2));
  plan_.delivered(ref(2));
  remove_delivered();
  EXPECT_THAT(send(), ElementsAre(3, 4)) << "more, as long as they arrive";
}

TEST_F(SendPlanTest, LaterRowsOfTheMonitorThatFailAsWellKeepTheirOrder) {
  for (std::int64_t i = 1; i <= 3; ++i) add(i, "P1");
  send();
  plan_.failed(ref(3), now_);
  plan_.failed(ref(2), now_);
  plan_.delivered(ref(1));
  remove_delivered();
  retry();
  EXPECT_THAT(send(), ElementsAre(2, 3));
}

TEST_F(SendPlanTest, RefusedRowHoldsBackNobodyAndIsTriedAgainLater) {
  add(1, "P1");
  send();
  EXPECT_TRUE(plan_.refused(ref(1), now_));
  add(2, "P1");
  EXPECT_THAT(send(), ElementsAre(2));
  plan_.delivered(ref(2));
  retry();
  EXPECT_THAT(send(), IsEmpty());
  EXPECT_EQ(plan_.refused_rows(), 1u);
  now_ += 60s;
  plan_.release(now_);
  EXPECT_THAT(send(), ElementsAre(1));
  EXPECT_EQ(plan_.refused_rows(), 0u);
}

// A broker that refuses batches for some rows in them: those alone are refused, whatever travels with them.
TEST_F(SendPlanTest, RefusedInCompanyIsNotRefusedForGood) {
  const std::set<std::int64_t> bad = {2, 7, 8, 16};
  for (std::int64_t i = 1; i <= 20; ++i) add(i, "P1");
  std::vector<std::int64_t> arrived;
  std::vector<std::int64_t> refused;
  for (int round = 0; round < 100; ++round) {
    const auto group = send();
    if (group.empty()) break;
    const bool broken = std::any_of(group.begin(), group.end(), [&](std::int64_t row) { return bad.contains(row); });
    for (const std::int64_t row : group) {
      if (!broken) {
        plan_.delivered(ref(row));
        arrived.push_back(row);
      } else if (plan_.refused(ref(row), now_)) {
        refused.push_back(row);
      }
    }
    remove_delivered();
  }
  EXPECT_THAT(refused, ElementsAre(2, 7, 8, 16));
  EXPECT_THAT(arrived, ElementsAre(1, 3, 4, 5, 6, 9, 10, 11, 12, 13, 14, 15, 17, 18, 19, 20));
}

TEST_F(SendPlanTest, NothingIsSentWhileTheRestOfABatchIsInDoubt) {
  for (std::int64_t i = 1; i <= 4; ++i) add(i, "P1");
  send();
  EXPECT_FALSE(plan_.refused(ref(2), now_));
  EXPECT_FALSE(plan_.open());
  EXPECT_FALSE(plan_.refused(ref(1), now_));
  plan_.delivered(ref(3));
  plan_.failed(ref(4), now_);
  EXPECT_TRUE(plan_.open());
  remove_delivered();
  retry();
  EXPECT_THAT(send(), ElementsAre(1)) << "the next group is smaller";
  plan_.delivered(ref(1));
  remove_delivered();
  EXPECT_THAT(send(), ElementsAre(2, 4)) << "and larger again";
}

TEST_F(SendPlanTest, ParkedRowsStay) {
  add(1, "P1", RowState::parked);
  add(2, "P1");
  EXPECT_THAT(send(), ElementsAre(2));
}

TEST_F(SendPlanTest, RowThatCouldNotBeHandedOverComesNext) {
  add(1, "P1");
  add(2, "P1");
  ASSERT_TRUE(plan_.take(rows_[0]));
  plan_.give_back(1);
  EXPECT_THAT(send(), ElementsAre(1, 2));
}

TEST_F(SendPlanTest, WaitsLongerFromFailureToFailureUntilADelivery) {
  add(1, "P1");
  // The longest of many waits for this retry after a delivery.
  const auto longest = [&](int retry) {
    SendPlan::Time::duration result{};
    for (int i = 0; i < 200; ++i) {
      plan_.delivered(ref(1));
      remove_delivered();
      rows_.clear();
      add(1, "P1");
      for (int failure = 1; failure <= retry; ++failure) {
        plan_.rewind();
        send();
        plan_.failed(ref(1), now_);
        if (failure == retry) result = std::max(result, *plan_.next_release() - now_);
        now_ = *plan_.next_release();
        plan_.release(now_);
      }
      plan_.rewind();
      send();
    }
    return result;
  };
  const std::vector<SendPlan::Time::duration> bounds = {1000ms, 2000ms, 4000ms, 4000ms};
  for (int retry = 1; retry <= 4; ++retry) {
    const auto bound = bounds[static_cast<std::size_t>(retry) - 1];
    EXPECT_LE(longest(retry), bound) << retry;
    EXPECT_GE(longest(retry), bound * 8 / 10) << retry;
  }
}

TEST_F(SendPlanTest, SendsNothingMoreWhenItCannotRememberMore) {
  for (std::int64_t i = 1; i <= 9; ++i) add(i, "P" + std::to_string(i));
  send();
  plan_.failed(ref(1), now_);
  EXPECT_THAT(send(), ElementsAre(5));
  plan_.failed(ref(2), now_);
  EXPECT_FALSE(plan_.open()) << "two monitors are held";
  retry();
  EXPECT_TRUE(plan_.open());
  EXPECT_THAT(send(), ElementsAre(1)) << "3, 4 and 5 are under way still";
  for (std::int64_t row = 10; row < 15; ++row) plan_.refuse(ref(row), now_);
  EXPECT_FALSE(plan_.open()) << "five rows are refused";
}

// Numbers begin anew where an outbox is removed with its lock.
TEST_F(SendPlanTest, AnotherRowWithTheNumberOfOneUnderWay) {
  add(1, "P1");
  send();
  rows_[0].checksum = 1;
  plan_.rewind();
  EXPECT_THAT(send(), ElementsAre(1));
  plan_.delivered(ref(1));
  EXPECT_THAT(plan_.delivered_rows(), ElementsAre(ref(1)));
  remove_delivered();
  EXPECT_EQ(rows_.size(), 1U);
  EXPECT_EQ(plan_.unconfirmed(), 1U);
}

// Outcomes of rows that are not under way any more change nothing.
TEST_F(SendPlanTest, LateOutcomes) {
  add(1, "P1");
  send();
  plan_.failed(ref(1), now_);
  plan_.delivered(ref(1));
  plan_.failed(ref(1), now_);
  plan_.refused(ref(1), now_);
  EXPECT_THAT(plan_.delivered_rows(), IsEmpty());
  EXPECT_EQ(plan_.refused_rows(), 0u);
  retry();
  EXPECT_THAT(send(), ElementsAre(1));
}

}  // namespace
}  // namespace forelock::forward
