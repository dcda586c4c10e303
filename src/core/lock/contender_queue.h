// A ContenderQueue keeps the waiting contenders of one process at one monitor in the order of their nodes.
//
// Newcomers nearly always go to the end and grants take from the front, so a deque kept in order serves better than a
// tree: a contender's place is found without counting those before it.
//
// A contender's place must not change while it is in the queue. Not synchronised.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>

namespace forelock::lock {

struct Contender;

class ContenderQueue {
 public:
  using Before = bool (*)(const Contender*, const Contender*);
  using Iterator = std::deque<Contender*>::const_iterator;

  // `before` is a strict weak ordering in which no two contenders are equal.
  explicit ContenderQueue(Before before) : before_(before) {}

  // Does nothing if it is there already.
  void insert(Contender* contender);
  // Does nothing if it is not there.
  void erase(const Contender* contender);
  void clear() { contenders_.clear(); }

  // How many go before it; nothing if it is not there.
  std::optional<std::size_t> index_of(const Contender* contender) const;
  Contender& at(std::size_t index) const { return *contenders_[index]; }
  Contender& front() const { return *contenders_.front(); }
  bool empty() const { return contenders_.empty(); }
  std::size_t size() const { return contenders_.size(); }
  Iterator begin() const { return contenders_.begin(); }
  Iterator end() const { return contenders_.end(); }

 private:
  Iterator place_of(const Contender* contender) const;

  Before before_;
  std::deque<Contender*> contenders_;
};

}  // namespace forelock::lock
