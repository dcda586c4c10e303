#include "outbox/group_commit.h"

#include <algorithm>
#include <utility>

namespace forelock::outbox {
namespace {

// A transaction keeps others waiting, and its journal needs room.
constexpr std::size_t max_jobs = 1024;
constexpr std::size_t max_bytes = 16 * 1024 * 1024;
constexpr std::chrono::steady_clock::duration longest_linger = std::chrono::milliseconds(5);
constexpr int linger_fraction = 8;

}  // namespace

GroupCommit::GroupCommit(Run run) : run_(std::move(run)) {
  group_.reserve(max_jobs);
}

void GroupCommit::gather() {
  group_.clear();
  std::size_t bytes = 0;
  for (WriteJob* const job : waiting_) {
    bytes += job->bytes;
    if (!group_.empty() && (group_.size() == max_jobs || bytes > max_bytes)) break;
    group_.push_back(job);
  }
}

void GroupCommit::linger(std::unique_lock<std::mutex>& lock) {
  const auto limit = std::min(longest_linger, last_duration_ / linger_fraction);
  arrived_.wait_for(lock, limit, [this] { return waiting_.size() >= last_size_; });
}

void GroupCommit::submit(WriteJob& job) {
  std::unique_lock lock(mutex_);
  waiting_.push_back(&job);
  arrived_.notify_one();
  job.wake.wait(lock, [&] { return job.finished || waiting_.front() == &job; });
  if (!job.finished) {
    linger(lock);
    gather();
    lock.unlock();
    const auto begun = std::chrono::steady_clock::now();
    run_(group_);
    lock.lock();
    last_size_ = group_.size();
    last_duration_ = std::chrono::steady_clock::now() - begun;
    for (WriteJob* const done : group_) {
      waiting_.pop_front();
      done->finished = true;
      // Under the mutex: its thread may destroy the job as soon as it can see the end.
      if (done != &job) done->wake.notify_one();
    }
    if (!waiting_.empty()) waiting_.front()->wake.notify_one();
  }
  lock.unlock();
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace forelock::outbox
