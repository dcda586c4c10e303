// A History writes what pictures show to have begun and ended into a file, and answers who held a monitor when.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "cli/serve/history/history_file.h"
#include "cli/serve/history/stay_tracker.h"
#include "cli/serve/history/trusted_clock.h"
#include "web/site.h"

namespace forelock::cli {

struct HistoryQuestion {
  std::string monitor;
  WallTime from{};
  WallTime to{};
  std::optional<WallTime> at;  // in place of a span
  std::size_t most = 500;
};

// On a thread of its own, in a transaction a second. Whatever becomes of the file, the rest of the program goes on:
// what cannot be written is lost and counted, and the file is tried again every two seconds.
class History {
 public:
  // Called on its thread, when the problem has changed; empty: there is none any more.
  using Tell = std::function<void(std::string problem)>;

  History(std::filesystem::path path, const HistoryLimits& limits, Tell tell);
  // As stop().
  ~History();
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  void start();
  // Any thread. Of pictures that it has not come to yet the last few are kept.
  void take(std::shared_ptr<const Picture> picture);
  // Any thread, about when a picture shows it: how a hold's end has come about.
  void explain_end(const std::string& monitor, const HolderView& holder, const std::string& outcome,
                   const std::string& reason);
  // Any thread. `answer` is called on its thread. \returns whether it will be: not if too many wait.
  bool ask(HistoryQuestion question, std::function<void(web::Response)> answer);

  bool writable() const { return writable_; }
  // Holds and waits, their ends too, that are in the file, and that could not be written.
  std::uint64_t written() const { return written_; }
  std::uint64_t lost() const { return lost_; }

  // What is there is written. Does not wait.
  void begin_stop();
  // Waits for the end of its thread; idempotent.
  void stop();

 private:
  using Job = std::function<void()>;
  bool post(Job job, std::size_t most);
  void work();
  void reopen();
  void write();
  web::Response answer(const HistoryQuestion& question);
  void has_failed(const std::string& problem);

  const std::filesystem::path path_;
  const HistoryLimits limits_;
  const Tell tell_;
  std::atomic<bool> writable_ = false;
  std::atomic<std::uint64_t> written_ = 0;
  std::atomic<std::uint64_t> lost_ = 0;

  // Of its thread.
  StayTracker tracker_;
  std::vector<Stay> pending_;
  std::optional<HistoryFile> file_;
  std::string problem_;
  bool resumed_ = false;
  std::chrono::steady_clock::time_point next_try_{};
  std::chrono::steady_clock::time_point next_write_{};
  TrustedClock clock_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace forelock::cli
