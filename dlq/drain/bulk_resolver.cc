#include "drain/bulk_resolver.h"

#include <functional>
#include <utility>

#include "records/start_thread.h"

namespace forelock::drain {

BulkResolver::BulkResolver(LetterStore& store, const DrainerLock& lock, Resolution resolution)
    : store_(store), lock_(lock), resolution_(resolution), lanes_(threads) {
  try {
    for (std::size_t lane = 0; lane < threads; ++lane) {
      workers_.push_back(records::start_thread("forelock-drain", [this, lane] { work(lane); }));
    }
  } catch (...) {
    end();
    throw;
  }
}

BulkResolver::~BulkResolver() {
  end();
}

bool BulkResolver::letter(const StoredLetter& letter) {
  StoredLetter copy = letter;
  if (resolution_ != Resolution::parked) {
    // All that is needed is which one it is.
    copy.record.clear();
    copy.letter.payload.clear();
    copy.letter.attempts.clear();
  }
  const std::size_t bytes = copy.record.size() * 2;
  add({std::move(copy), bytes}, letter.letter.monitor);
  return true;
}

bool BulkResolver::unreadable(const UnreadableLetter& letter) {
  add({letter, letter.record.size()}, letter.monitor);
  return true;
}

void BulkResolver::add(Item item, const std::string& monitor) {
  std::unique_lock hold(mutex_);
  const auto has_room = [&] {
    return unresolved_ == 0 || (unresolved_ < max_letters && bytes_ + item.bytes <= max_bytes);
  };
  changed_.wait(hold, [&] { return error_ || has_room(); });
  if (error_) std::rethrow_exception(error_);
  // In the parking place order matters; what is gone has none.
  const std::size_t lane = resolution_ == Resolution::parked ? std::hash<std::string>()(monitor) : next_lane_++;
  ++unresolved_;
  bytes_ += item.bytes;
  lanes_[lane % threads].push_back(std::move(item));
  hold.unlock();
  changed_.notify_all();
}

void BulkResolver::finish() {
  std::unique_lock hold(mutex_);
  changed_.wait(hold, [&] { return error_ || unresolved_ == 0; });
  if (error_) std::rethrow_exception(error_);
}

std::uint64_t BulkResolver::letters() const {
  const std::lock_guard hold(mutex_);
  return letters_;
}

std::uint64_t BulkResolver::unreadable_letters() const {
  const std::lock_guard hold(mutex_);
  return unreadable_;
}

void BulkResolver::work(std::size_t lane) {
  std::deque<Item>& mine = lanes_[lane];
  std::unique_lock hold(mutex_);
  for (;;) {
    changed_.wait(hold, [&] { return ended_ || error_ || !mine.empty(); });
    if (ended_ || error_) return;
    const Item item = std::move(mine.front());
    mine.pop_front();
    hold.unlock();
    std::exception_ptr error;
    try {
      lock_.check_health();
      std::visit([this](const auto& letter) { store_.resolve(letter, resolution_); }, item.letter);
    } catch (...) {
      error = std::current_exception();
    }
    hold.lock();
    if (error) {
      if (!error_) error_ = error;
    } else {
      ++(std::holds_alternative<StoredLetter>(item.letter) ? letters_ : unreadable_);
      --unresolved_;
      bytes_ -= item.bytes;
    }
    changed_.notify_all();
  }
}

void BulkResolver::end() {
  {
    const std::lock_guard hold(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
}

}  // namespace forelock::drain
