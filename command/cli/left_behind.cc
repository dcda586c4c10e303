#include "cli/left_behind.h"

#include <atomic>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "cli/process/wake_up.h"

namespace forelock::cli {
namespace {

std::atomic<int> running = 0;

// Shared with the thread, which may outlive its caller.
struct Work {
  std::function<void()> work;
  std::promise<void> promise;
  std::function<void()> on_end = [] {};

  void run() {
    try {
      std::exchange(work, {})();
      --running;
      promise.set_value();
    } catch (...) {
      --running;
      promise.set_exception(std::current_exception());
    }
    on_end();
  }
};

std::future<void> start(const std::shared_ptr<Work>& work) {
  ++running;
  try {
    std::thread([work] { work->run(); }).detach();
  } catch (...) {
    --running;
    throw;
  }
  return work->promise.get_future();
}

bool has_ended(const std::future<void>& future) {
  return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace

bool do_or_leave_behind(std::function<void()> function, std::chrono::milliseconds longest) {
  const auto work = std::make_shared<Work>();
  work->work = std::move(function);
  std::future<void> ended = start(work);
  if (ended.wait_for(longest) != std::future_status::ready) return false;
  ended.get();
  return true;
}

void do_unless_signalled(std::function<void()> function, SignalSource& signals) {
  const auto work = std::make_shared<Work>();
  const auto wake_up = std::make_shared<WakeUp>();
  work->work = std::move(function);
  work->on_end = [wake_up] { wake_up->notify(); };
  std::future<void> ended = start(work);
  while (!has_ended(ended)) {
    const std::optional<int> signal = signals.wait(*wake_up, std::chrono::steady_clock::time_point::max());
    if (signal && ends_waiting(*signal)) throw EndedBySignal{*signal};
  }
  ended.get();
}

void do_in_background(std::function<void()> function) {
  const auto work = std::make_shared<Work>();
  work->work = std::move(function);
  start(work);
}

bool something_is_left_behind() {
  return running > 0;
}

}  // namespace forelock::cli
