// Many asynchronous locks, and one thread.
#include "robustness/worker/async_seat.h"
#include "robustness/worker/load.h"
#include "robustness/worker/patience.h"

namespace forelock::robustness {
namespace {

using Clock = std::chrono::steady_clock;

// What callbacks hand over. They may come for as long as there is a client, so they keep it alive.
class Mailbox {
 public:
  void post(std::function<void()> task) {
    const std::lock_guard guard(mutex_);
    tasks_.push_back(std::move(task));
    changed_.notify_one();
  }
  // What has come until then.
  std::deque<std::function<void()>> wait(Clock::time_point until) {
    std::unique_lock guard(mutex_);
    const auto come = [this] { return !tasks_.empty(); };
    if (until == AsyncSeat::never) {
      changed_.wait(guard, come);
    } else {
      changed_.wait_until(guard, until, come);
    }
    return std::exchange(tasks_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
};

class AsyncLoad final : public Load {
 public:
  AsyncLoad(const WorkerOptions& options, HistoryWriter& history) : clients_(options.settings, history, options.seed) {
    for (int i = 0; i < options.threads; ++i) {
      seats_.push_back(std::make_unique<AsyncSeat>(
          options, i, history, clients_,
          [mailbox = mailbox_](std::function<void()> task) { mailbox->post(std::move(task)); }));
    }
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    replacer_ = std::jthread([this](const std::stop_token& stop) { clients_.replace_now_and_then(stop); });
  }

  void stop() override {
    replacer_.request_stop();
    replacer_.join();
    thread_.request_stop();
    mailbox_->post([] {});
    thread_.join();
    clients_.settle(settle_patience);
  }
  void close() override { clients_.close(); }

 private:
  void run(const std::stop_token& stop) {
    while (true) {
      if (stop.stop_requested()) {
        for (auto& seat : seats_) seat->stop();
        if (std::all_of(seats_.begin(), seats_.end(), [](const auto& seat) { return seat->resting(); })) return;
      }
      auto due = AsyncSeat::never;
      for (const auto& seat : seats_) due = std::min(due, seat->due());
      for (const auto& task : mailbox_->wait(due)) task();
      for (auto& seat : seats_) seat->tick();
    }
  }

  ClientSource clients_;
  std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();
  std::vector<std::unique_ptr<AsyncSeat>> seats_;
  std::jthread thread_;
  std::jthread replacer_;
};

}  // namespace

std::unique_ptr<Load> make_async_load(const WorkerOptions& options, HistoryWriter& history) {
  return std::make_unique<AsyncLoad>(options, history);
}

}  // namespace forelock::robustness
