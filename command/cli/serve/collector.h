// A Collector looks at the namespace again and again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cli/serve/lock_orders.h"
#include "cli/serve/picture.h"
#include "forelock/client.h"
#include "web/site.h"

namespace forelock::cli {

class Collector {
 public:
  // Called on its thread. `events`: what has changed since the picture before.
  using Take = std::function<void(std::shared_ptr<const Picture> picture, std::vector<web::Event> events)>;
  // Why there is no new picture.
  using Fail = std::function<void(std::string problem)>;

  // Looks every `interval`, but never for more than a tenth of the time. The client must outlive it.
  Collector(Client& client, std::chrono::milliseconds interval, std::chrono::milliseconds patience, Take take,
            Fail fail);
  // As stop().
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  void start();
  // No look begins any more; one that is under way ends soon once the client is closed. Does not wait.
  void begin_stop();
  // Waits for the end of its thread; idempotent.
  void stop();

 private:
  void work();
  std::shared_ptr<const Picture> look();
  std::vector<MonitorView> read(std::size_t& not_permitted);
  // Those of the look's orders that another read confirms.
  void take_orders(const std::vector<MonitorView>& monitors, WallTime wall);
  std::vector<web::Event> changes(const Picture& picture) const;

  Client& client_;
  const std::chrono::milliseconds interval_;
  const std::chrono::milliseconds patience_;
  const Take take_;
  const Fail fail_;
  Paces paces_;                          // of its thread
  LockOrders orders_;                    // the same
  std::shared_ptr<const Picture> last_;  // the same
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace forelock::cli
