// An EventLog keeps the last events, so that a stream that was interrupted goes on where it ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "web/site.h"

namespace forelock::web {

// Not thread-safe.
class EventLog {
 public:
  // `run` tells the ids of this process from those of an earlier one: letters and digits.
  explicit EventLog(std::string run, std::size_t most_events = 4096, std::size_t most_bytes = 8 * 1024 * 1024);

  void add(const Event& event);

  // The number of the last event; 0 before the first.
  std::uint64_t last() const { return last_; }
  std::string last_id() const { return run_ + '-' + std::to_string(last_); }
  // The event as a stream carries it, with the id of number `number`.
  std::string text_of(const Event& event, std::uint64_t number) const;
  // The number of an id, as Last-Event-ID carries it; nothing if it is none of this run.
  std::optional<std::uint64_t> number_of(std::string_view id) const;
  // Events after `number`, as many as fit into `most` bytes but at least one; moves `number` on. Empty if there are
  // none, nothing if some are no longer kept.
  std::optional<std::string> after(std::uint64_t& number, std::size_t most) const;

 private:
  const std::string run_;
  const std::size_t most_events_;
  const std::size_t most_bytes_;
  std::deque<std::string> texts_;  // the last of them is number last_
  std::size_t bytes_ = 0;
  std::uint64_t last_ = 0;
};

}  // namespace forelock::web
