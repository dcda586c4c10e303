#include "cli/letter_lanes.h"

#include <string>
#include <utility>

namespace forelock::cli {
namespace {

const std::string& monitor_of(const FoundLetter& letter) {
  if (const auto* stored = std::get_if<drain::StoredLetter>(&letter)) return stored->letter.monitor;
  return std::get<drain::UnreadableLetter>(letter).monitor;
}

std::size_t size_of(const FoundLetter& letter) {
  return std::visit([](const auto& any) { return any.record.size(); }, letter);
}

}  // namespace

LetterLanes::LetterLanes(std::function<void(const FoundLetter&)> work) : work_(std::move(work)), waiting_(lanes) {
  for (std::size_t lane = 0; lane < lanes; ++lane) threads_.emplace_back([this, lane] { run(lane); });
}

LetterLanes::~LetterLanes() {
  stop();
}

bool LetterLanes::add(FoundLetter letter) {
  const std::size_t size = size_of(letter);
  std::unique_lock guard(mutex_);
  changed_.wait(guard, [this, size] {
    return error_ || letters_ == 0 || (letters_ < most_letters && bytes_ + size <= most_bytes);
  });
  if (error_) return false;
  ++letters_;
  bytes_ += size;
  waiting_[std::hash<std::string>{}(monitor_of(letter)) % lanes].push_back(std::move(letter));
  guard.unlock();
  changed_.notify_all();
  return true;
}

void LetterLanes::finish() {
  {
    std::unique_lock guard(mutex_);
    changed_.wait(guard, [this] { return error_ || letters_ == 0; });
  }
  stop();
  if (error_) std::rethrow_exception(error_);
}

void LetterLanes::run(std::size_t lane) {
  std::unique_lock guard(mutex_);
  for (;;) {
    changed_.wait(guard, [this, lane] { return stopping_ || error_ || !waiting_[lane].empty(); });
    if (stopping_ || error_) return;
    const FoundLetter letter = std::move(waiting_[lane].front());
    waiting_[lane].pop_front();
    guard.unlock();
    std::exception_ptr error;
    try {
      work_(letter);
    } catch (...) {
      error = std::current_exception();
    }
    guard.lock();
    --letters_;
    bytes_ -= size_of(letter);
    if (error && !error_) error_ = error;
    changed_.notify_all();
  }
}

void LetterLanes::stop() {
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  threads_.clear();  // joins
}

}  // namespace forelock::cli
