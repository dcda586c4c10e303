// Acts does what admins ask for, one thing after the other, on a thread of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "cli/output/console.h"
#include "forelock/client.h"
#include "forelock/inspector.h"
#include "web/site.h"

namespace forelock::cli {

class Acts {
 public:
  // Called on its thread.
  using Answer = std::function<void(web::Response)>;

  // Called on its thread for each holder that it has taken a lock from.
  using Released = std::function<void(const std::string& monitor, const HolderView& holder, const std::string& reason)>;

  // The client and the console must outlive it.
  Acts(Client& client, std::chrono::milliseconds patience, const Console& console, Released released);
  // As stop().
  ~Acts();
  Acts(const Acts&) = delete;
  Acts& operator=(const Acts&) = delete;

  void start();
  // Takes a lock away, as `forelock release` does, by `admin`. `body`: {"holder":"A-0000000003@4294967301","reason"},
  // the holder with its token. \returns whether it will be answered: not if too many wait.
  bool release(const std::string& monitor, const std::string& body, const std::string& admin, Answer answer);

  // How many locks it has taken away. Any thread.
  std::uint64_t released() const { return count_; }

  // What waits is not done. Does not wait.
  void begin_stop();
  // Waits for the end of its thread; idempotent.
  void stop();

 private:
  struct Order {
    std::string monitor;
    std::string body;
    std::string admin;
    Answer answer;
  };
  void work();
  web::Response done(const Order& order);

  Client& client_;
  const std::chrono::milliseconds patience_;
  const Console& console_;
  const Released released_;
  std::atomic<std::uint64_t> count_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Order> orders_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace forelock::cli
