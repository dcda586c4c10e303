// One of a pair that take one monitor in turn and hold it until they are cut off: the holder asks as often as it can
// whether it still is one.
#include "forelock/blocking_write_lock.h"
#include "robustness/history/recorded_call.h"
#include "robustness/history/resource_visitor.h"
#include "robustness/worker/client_source.h"
#include "robustness/worker/current_call.h"
#include "robustness/worker/load.h"
#include "robustness/worker/patience.h"
#include "robustness/worker/section.h"

namespace forelock::robustness {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds longest_wait{60};
constexpr std::chrono::microseconds between_looks{200};

class StallLoad final : public Load {
 public:
  StallLoad(const WorkerOptions& options, HistoryWriter& history)
      : options_(options),
        history_(history),
        clients_(options.settings, history, options.seed),
        thread_([this](const auto& stop) {
          ResourceVisitor visitor(options_.resource, options_.process);
          while (!stop.stop_requested()) hold_once(stop, visitor);
        }) {}

  void stop() override {
    thread_.request_stop();
    thread_.join();
    clients_.settle(settle_patience);
  }
  void close() override { clients_.close(); }

 private:
  void hold_once(const std::stop_token& stop, ResourceVisitor& visitor) {
    const auto client = clients_.get();
    RecordedCall call(history_, options_.monitors.at(0), Priority::foreground);
    const auto told = std::make_shared<CurrentCall>(call);
    BlockingWriteLock lock(*client, "robustness", call.monitor(), Priority::foreground, {.capture_stack = false});
    lock.on_lost([told](LossReason reason) { told->lost(reason); });
    const std::stop_callback give_up(stop, [&lock] { lock.cancel(); });
    call.invoke(longest_wait, "timeout");
    const std::string code = code_thrown_by([&] {
      if (lock.try_lock_for(longest_wait)) return "";
      return stop.stop_requested() ? "cancelled" : "lock_timeout";
    });
    if (!code.empty()) {
      call.refused(code);
      return pause(stop, rest_after_failure);
    }
    told->granted(lock, client->session_id());
    if (visitor.enter(call, lock.fencing_token())) {
      watch(stop, lock, call);
      visitor.leave();
    }
    call.event("release");
    call.released(code_thrown_by([&] {
      lock.unlock_or_throw();
      return "";
    }));
    pause(stop, rest_after_failure);
  }

  void watch(const std::stop_token& stop, const BlockingWriteLock& lock, const RecordedCall& call) const {
    const auto until = steady_clock::now() + std::chrono::milliseconds(options_.hold_ms);
    while (steady_clock::now() < until && !stop.stop_requested()) {
      if (!lock.healthy()) {
        call.event("unhealthy");
        return;
      }
      pause(stop, between_looks);
    }
  }

  const WorkerOptions& options_;
  HistoryWriter& history_;
  ClientSource clients_;
  std::jthread thread_;
};

}  // namespace

std::unique_ptr<Load> make_stall_load(const WorkerOptions& options, HistoryWriter& history) {
  return std::make_unique<StallLoad>(options, history);
}

}  // namespace forelock::robustness
