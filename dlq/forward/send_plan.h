// A SendPlan decides which rows of the outbox may be passed to Kafka now, and which must wait. No I/O, threads or
// clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "outbox/outbox.h"
#include "retry/backoff.h"

namespace forelock::forward {

// Rows go through in the order of their sequence. A row is under way from sent() until removed() (after its delivery)
// or until failed() or refused(). A failed row holds back the later ones of its monitor until the next retry, when the
// plan goes back to the first row that was held, or all rows where the cause is the topic; a refused one holds back no
// other. Not thread-safe. Memory is bounded by the limits.
class SendPlan {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Limits {
    std::size_t rows = 4096;               // under way
    std::size_t bytes = 32 * 1024 * 1024;  // of records under way; one row may always be
    std::size_t held_monitors = 10'000;
    std::size_t refused_rows = 100'000;
    retry::Backoff retry{std::chrono::milliseconds(500), std::chrono::milliseconds(15'000)};
    std::chrono::milliseconds refused_retry{std::chrono::minutes(1)};
  };

  explicit SendPlan(std::uint64_t seed) : SendPlan(seed, Limits()) {}
  SendPlan(std::uint64_t seed, Limits limits) : limits_(limits), random_(seed), group_limit_(limits.rows) {}

  // The place where reading continues: rows up to this one have been read.
  std::int64_t cursor() const { return cursor_; }
  // Whether more rows may be sent; then at least one row and one byte.
  bool open() const;
  std::size_t free_rows() const;
  std::size_t free_bytes() const { return limits_.bytes - bytes_; }

  // Looks at the next row, and moves the cursor. \returns whether it is to be sent now.
  bool take(const outbox::Row& row);
  // Goes back to before this row, which could not be handed over.
  void give_back(std::int64_t sequence) { cursor_ = std::min(cursor_, sequence - 1); }
  void sent(const outbox::Row& row);

  // The outcome of a row that was sent.
  void delivered(const outbox::RowRef& row);
  enum class Holds { its_monitor, all };
  void failed(const outbox::RowRef& row, Time now, Holds holds = Holds::its_monitor);
  // \returns whether that is final, which it is not for a row in company.
  bool refused(const outbox::RowRef& row, Time now);
  // A row that cannot be sent at all is refused for good.
  void refuse(const outbox::RowRef& row, Time now);

  // Rows that the broker has confirmed and that are still in the outbox.
  const std::vector<outbox::RowRef>& delivered_rows() const { return delivered_; }
  // They are not, any more.
  void removed();

  // When release() has something to do; nothing: never.
  std::optional<Time> next_release() const;
  // Lets what has waited long enough be tried again.
  void release(Time now);
  // Goes back to the first row, to find what was put back into the queue.
  void rewind() { cursor_ = 0; }

  // Rows whose outcome is not known yet.
  std::size_t unconfirmed() const { return under_way_.size() - delivered_.size(); }
  std::size_t refused_rows() const { return refused_.size(); }
  bool holding() const { return !held_.empty(); }

 private:
  struct UnderWay {
    std::string monitor;
    std::size_t bytes = 0;
  };
  struct Hash {
    std::size_t operator()(const outbox::RowRef& row) const {
      return static_cast<std::size_t>(row.sequence ^ row.checksum);
    }
  };

  bool in_groups() const { return group_limit_ < limits_.rows; }
  void forget(const outbox::RowRef& row);
  void end_group();

  const Limits limits_;
  std::mt19937_64 random_;
  std::int64_t cursor_ = 0;

  std::unordered_map<outbox::RowRef, UnderWay, Hash> under_way_;
  std::size_t bytes_ = 0;
  std::vector<outbox::RowRef> delivered_;

  // A group: what has been sent since nothing was unconfirmed.
  std::size_t group_limit_;
  std::size_t group_rows_ = 0;
  std::size_t group_deliveries_ = 0;
  std::size_t doubtful_rows_ = 0;  // refused in company
  std::int64_t first_doubtful_ = std::numeric_limits<std::int64_t>::max();

  std::unordered_set<std::string> held_;  // monitors
  bool all_held_ = false;
  std::int64_t first_held_ = std::numeric_limits<std::int64_t>::max();
  std::optional<Time> retry_at_;
  std::uint32_t retries_ = 0;  // since the last delivery

  std::unordered_set<outbox::RowRef, Hash> refused_;
  std::int64_t first_refused_ = std::numeric_limits<std::int64_t>::max();
  std::optional<Time> refused_until_;
};

}  // namespace forelock::forward
