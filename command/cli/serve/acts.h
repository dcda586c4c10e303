// Acts does what admins ask for, one thing after the other, on a thread of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
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

  // The queue whose letters are acted on.
  struct Letters {
    Settings settings;
    LogSink log;
  };

  // Each body has a "reason".
  enum class Kind {
    release,     // of a monitor, as `forelock release`: {"holder":"A-0000000003@4294967301"}, with its token
    prioritize,  // at a monitor, as `forelock prioritize`: {"waiter":"B-0000000008","class":"foreground"}
    unpark,      // a letter, as `forelock dlq unpark`
    forward      // the outbox of this machine, as `forelock dlq forward`, for some seconds
  };
  struct Order {
    Kind kind = Kind::release;
    std::string target;  // the monitor's id, or the letter's
    std::string body;
    std::string admin;
  };

  // The client and the console must outlive it.
  Acts(Client& client, std::chrono::milliseconds patience, const Console& console, Released released);
  // As stop().
  ~Acts();
  Acts(const Acts&) = delete;
  Acts& operator=(const Acts&) = delete;

  // Before start(); without it there are no acts on letters.
  void use_letters(Letters letters) { letters_ = std::move(letters); }
  bool has_letters() const { return letters_.has_value(); }
  void start();
  // \returns whether it will be answered: not if too many wait.
  bool ask(Order order, Answer answer);

  // How many locks it has taken away. Any thread.
  std::uint64_t released() const { return count_; }

  // What waits is not done. Does not wait.
  void begin_stop();
  // Waits for the end of its thread; idempotent.
  void stop();

 private:
  void work();
  web::Response done(const Order& order);
  web::Response release(const Order& order, const std::string& holder, const std::string& by,
                        const std::string& reason);
  web::Response prioritize(const Order& order, const std::string& waiter, const std::string& wished,
                           const std::string& by, const std::string& reason);

  Client& client_;
  const std::chrono::milliseconds patience_;
  const Console& console_;
  const Released released_;
  std::optional<Letters> letters_;
  std::atomic<std::uint64_t> count_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<Order, Answer>> orders_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace forelock::cli
