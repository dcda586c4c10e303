#include "client/dispatcher.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "client/client_log.h"
#include "client/clock.h"
#include "records/start_thread.h"

namespace forelock::client {

CallWatch::CallWatch(std::initializer_list<const Dispatcher*> dispatchers, ClientLog& log) : log_(log) {
  for (const Dispatcher* dispatcher : dispatchers) watched_.push_back({dispatcher});
}

lock::TimePoint CallWatch::look(lock::TimePoint time, lock::Duration limit) {
  lock::TimePoint next = lock::never;
  for (Watched& watched : watched_) {
    const auto call = watched.dispatcher->running();
    if (!call || call->number == watched.warned_of) continue;
    if (time < call->since + limit) {
      next = std::min(next, call->since + limit);
      continue;
    }
    watched.warned_of = call->number;
    const auto runs_for = std::chrono::duration_cast<std::chrono::milliseconds>(time - call->since);
    log_.write("warning", "slow callback: " + call->kind + " of the lock on " + call->monitor +
                              " has been running for " + std::to_string(runs_for.count()) +
                              " ms; the callbacks of all locks share a thread, and wait for it");
  }
  return next;
}

Dispatcher::Dispatcher(const char* thread_name, std::function<void(lock::TimePoint)> before_call)
    : thread_name_(thread_name), before_call_(std::move(before_call)) {}

Dispatcher::~Dispatcher() {
  stop();
}

void Dispatcher::start() {
  thread_ = records::start_thread(thread_name_, [this] { run(); });
}

bool Dispatcher::post(Call& call) {
  if (!enqueue(call)) return false;
  wake();
  return true;
}

bool Dispatcher::enqueue(Call& call) {
  const std::lock_guard guard(mutex_);
  if (stopping_) return false;
  calls_.push_back(std::move(call));
  return true;
}

std::optional<Dispatcher::Running> Dispatcher::running() const {
  const std::lock_guard guard(mutex_);
  if (current_ == nullptr) return std::nullopt;
  return Running{number_, since_, current_->kind, current_->monitor == nullptr ? "" : *current_->monitor};
}

void Dispatcher::stop() {
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void Dispatcher::run() {
  id_ = std::this_thread::get_id();
  std::unique_lock guard(mutex_);
  while (true) {
    if (calls_.empty()) {
      if (stopping_) return;
      changed_.wait(guard);
      continue;
    }
    Call call = std::move(calls_.front());
    calls_.pop_front();
    current_ = &call;
    since_ = now();
    ++number_;
    guard.unlock();
    if (before_call_) before_call_(since_);
    try {
      call.run();
    } catch (
        ...) {  // a host's log sink, or stop callback; those of locks are caught, and reported, where they are made
    }
    guard.lock();
    current_ = nullptr;
    guard.unlock();
    call.run = nullptr;  // what it owned may call us
    guard.lock();
  }
}

}  // namespace forelock::client
