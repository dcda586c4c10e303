// A Sighting is one monitor as it was read.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "forelock/inspector.h"

namespace forelock::cli {

// What the records of many contenders have in common: the members of a set were taken at one place.
struct RecordTexts {
  std::vector<std::string> stack;
  std::vector<std::string> set_members;
  bool operator==(const RecordTexts&) const = default;
};
using SharedTexts = std::shared_ptr<const RecordTexts>;

// Out of this record; empty if it has none.
RecordTexts take_texts(OwnerRecord& record);

// Never changes once it is made; pictures share it. The records in its view are without their texts.
class Sighting {
 public:
  // `texts_of(node, record)` takes the texts out of a record, and gives what equal ones share; null for none. `at`:
  // when it was read.
  template <class TextsOf>
  Sighting(MonitorView view, WallTime at, TextsOf texts_of) : view_(std::move(view)), at_(at) {
    if (view_.holder && view_.holder->owner) holder_ = texts_of(std::string(), *view_.holder->owner);
    waiters_.resize(view_.queue.size());
    for (std::size_t i = 0; i < waiters_.size(); ++i) {
      WaiterView& waiter = view_.queue[i];
      if (waiter.owner) waiters_[i] = texts_of(waiter.node, *waiter.owner);
    }
  }
  Sighting(MonitorView view, WallTime at);

  const std::string& monitor() const { return view_.monitor; }
  // Without texts, with the durations of that moment.
  const MonitorView& view() const { return view_; }
  WallTime at() const { return at_; }
  bool active() const { return view_.holder || !view_.queue.empty(); }
  // Where the holder has taken it; where the i-th of the queue waits.
  const std::vector<std::string>& stack() const { return stack_of(holder_); }
  const std::vector<std::string>& stack(std::size_t waiter) const { return stack_of(waiters_[waiter]); }
  const SharedTexts& texts() const { return holder_; }
  const SharedTexts& texts(std::size_t waiter) const { return waiters_[waiter]; }

  // The whole of it, with the durations of that time; of the queue the first `most`.
  MonitorView full(WallTime now, std::size_t most = std::numeric_limits<std::size_t>::max()) const;
  MonitorSummary summary(WallTime now) const;
  // How much longer all lasts at that time than it says.
  std::chrono::milliseconds later(WallTime now) const;

 private:
  static const std::vector<std::string>& stack_of(const SharedTexts& texts);

  MonitorView view_;
  WallTime at_;
  SharedTexts holder_;
  std::vector<SharedTexts> waiters_;
};

using SharedSighting = std::shared_ptr<const Sighting>;
// In the order of the monitors' ids.
using Sightings = std::vector<SharedSighting>;

}  // namespace forelock::cli
