// Sends the outbox's letters to Kafka, and removes those that the broker has confirmed.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "forelock/client.h"
#include "forelock/settings.h"
#include "forward/forwarder_lock.h"
#include "forward/problem_log.h"
#include "forward/send_plan.h"
#include "kafka/producer.h"
#include "outbox/outbox.h"

namespace forelock::forward {

// What a forwarder has done, and whether it works. A snapshot.
struct ForwarderState {
  std::uint64_t delivered = 0;    // confirmed by the broker
  std::uint64_t failures = 0;     // deliveries that failed or were refused, or waits for one that took too long
  std::uint64_t refused = 0;      // rows that stay because the broker refuses them for good; tried again after a while
  std::string last_problem;       // empty: none so far
  bool forwarding = false;        // the outbox's forwarder is this one
  bool another_forwards = false;  // it is another process's
};

// A thread that sends the outbox's queued rows to the topic, in order and pipelined. A row is removed only after its
// own delivery report; many removals share a transaction. What has been handed to the producer is not given up while
// Kafka is away, however long: if each record expired by itself, an earlier one could when a later one of its monitor
// still goes through. What is not delivered for another reason stays and is tried again (see SendPlan); what the broker
// refuses for good is reported, and passed over for a while. While another process forwards this outbox, it only waits
// to take over. Problems of the outbox are reported and waited out, too.
//
// Thread-safe.
class Forwarder {
 public:
  // Starts it. `outbox` must outlive it. \throws ConfigurationException for invalid Kafka settings,
  // Error(outbox_unavailable).
  Forwarder(const Settings& settings, outbox::Outbox& outbox, LogSink log);
  // Half a second for what is under way; the rest stays in the outbox.
  ~Forwarder();
  Forwarder(const Forwarder&) = delete;
  Forwarder& operator=(const Forwarder&) = delete;

  // Says that this process has added rows. Cheap. (Those of other processes are found within a second.)
  void wake();
  // Waits until it has removed rows, at most this long.
  void wait_for_removal(std::chrono::milliseconds timeout);

  ForwarderState state() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Report {
    outbox::RowRef row;
    bool delivered = false;
    bool permanent = false;
    bool topic_wide = false;
    std::string message = {};
  };

  void run();
  Clock::time_point step(Clock::time_point now);
  void take_reports(Clock::time_point now);
  void remove_delivered(Clock::time_point now);
  void fill(Clock::time_point now);
  void complain(Clock::time_point now);
  void check_topics();
  bool send(const outbox::Row& row, Clock::time_point now);
  void tell_refused(const outbox::RowRef& row, const std::string& why);
  void look_again(Clock::time_point now);
  void wait(Clock::time_point wake_at);
  void on_delivery(const outbox::RowRef& row, const kafka::Delivery& delivery);
  bool sending_is_over(Clock::time_point now) const;
  bool finished(Clock::time_point now) const;

  const Settings settings_;
  const LogSink log_;
  outbox::Outbox& outbox_;
  const std::string topic_;
  ProblemLog problems_;
  ForwarderLock only_one_;

  // The thread's own.
  SendPlan plan_;
  bool more_ = true;               // the outbox may hold rows behind the cursor
  Clock::time_point next_poll_{};  // when to look for rows of others
  Clock::time_point next_look_again_{};
  bool topics_checked_ = false;
  Clock::time_point stalled_until_{};                         // the producer takes nothing before
  Clock::time_point complain_at_ = Clock::time_point::max();  // if nothing is confirmed before
  std::optional<Clock::time_point> remove_at_;                // when what is delivered goes out of the outbox
  std::optional<Clock::time_point> stopping_since_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;  // for the thread
  std::condition_variable removed_;  // for wait_for_removal
  std::vector<Report> reports_;
  bool failures_reported_ = false;  // there are such among them
  std::size_t enough_reports_ = 1;  // to wake the thread for
  bool woken_ = false;
  std::optional<Clock::time_point> stop_at_;

  struct {
    std::atomic<std::uint64_t> delivered{0};
    std::atomic<std::uint64_t> failures{0};
    std::atomic<std::uint64_t> refused{0};
  } counts_;
  std::atomic<bool> forwarding_{false};
  std::atomic<bool> another_forwards_{false};

  std::unique_ptr<kafka::Producer> producer_;  // ends before all that its callbacks need
  const std::chrono::milliseconds confirmation_timeout_;
  std::thread thread_;
};

}  // namespace forelock::forward
