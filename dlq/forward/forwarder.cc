#include "forward/forwarder.h"

#include <algorithm>
#include <exception>
#include <random>
#include <span>
#include <string>
#include <utility>

#include "forelock/error.h"
#include "kafka/queue_topics.h"
#include "kafka/record.h"
#include "letter/letter_headers.h"
#include "letter/letter_json.h"
#include "letter/letter_scan.h"
#include "outbox/outbox.h"
#include "records/start_thread.h"

namespace forelock::forward {
namespace {

// Key: the monitor's id. Value: the row's JSON as it is. \throws Error (record_invalid, record_too_new) if that is no
// dead letter, so that its headers cannot be told.
kafka::Record record_of(const outbox::Row& row, const std::string& topic) {
  kafka::Record record;
  record.topic = topic;
  record.key = row.monitor;
  // The outbox has looked at the row's checksum.
  std::optional<DeadLetter> letter = letter::scan_json(row.record);
  if (!letter) letter = letter::from_json(row.record);
  for (letter::Header& header : letter::headers_of(*letter)) {
    record.headers.emplace_back(std::move(header.name), std::move(header.value));
  }
  record.value = row.record;
  return record;
}

using std::chrono::milliseconds;

constexpr milliseconds poll_interval{1000};          // for rows that other processes add
constexpr milliseconds takeover_interval{500};       // for the end of the process that forwards
constexpr milliseconds look_again_interval{30'000};  // for rows behind the cursor that became queued again
constexpr milliseconds stall{50};                    // before a producer that takes nothing is asked again
constexpr milliseconds outbox_pause{1000};           // before an outbox that fails is used again
// Reports come one by one; the thread looks at them together, and removes rows together.
constexpr milliseconds report_gathering{2};
constexpr std::size_t report_batch = 512;
constexpr milliseconds removal_gathering{20};
constexpr std::size_t removal_batch = 1024;
constexpr std::size_t read_rows = 512;
constexpr std::size_t read_bytes = 4 * 1024 * 1024;
// At the end: how long letters are still sent. The producer waits for those under way.
constexpr milliseconds last_sending{100};

std::string text_of(const std::exception& problem) {
  const auto* error = dynamic_cast<const Error*>(&problem);
  return error != nullptr && !error->hint().empty() ? problem.what() + std::string("; ") + error->hint()
                                                    : problem.what();
}

}  // namespace

Forwarder::Forwarder(const Settings& settings, outbox::Outbox& outbox, LogSink log)
    : settings_(settings),
      log_(log),
      outbox_(outbox),
      topic_(settings.dlq_topic()),
      problems_(log),
      only_one_(outbox.path()),
      plan_(std::random_device{}()),
      producer_(std::make_unique<kafka::Producer>(settings, log, kafka::Producer::Expiry::none)),
      confirmation_timeout_(producer_->message_timeout()) {
  thread_ = records::start_thread("forelock-dlq", [this] { run(); });
}

Forwarder::~Forwarder() {
  {
    const std::lock_guard guard(mutex_);
    stop_at_ = Clock::now();
  }
  changed_.notify_one();
  thread_.join();
  producer_.reset();  // no report comes after this
  try {
    take_reports(Clock::now());
    remove_at_ = Clock::time_point::min();
    remove_delivered(Clock::now());
  } catch (const std::exception& problem) {
    // The rows stay: they will be in the topic twice, which is better than not at all.
    problems_.trouble("delivered dead letters could not be removed from the outbox: " + text_of(problem));
  }
}

void Forwarder::wake() {
  {
    const std::lock_guard guard(mutex_);
    if (std::exchange(woken_, true)) return;
  }
  changed_.notify_one();
}

void Forwarder::wait_for_removal(milliseconds timeout) {
  std::unique_lock guard(mutex_);
  removed_.wait_for(guard, timeout);
}

ForwarderState Forwarder::state() const {
  ForwarderState state{counts_.delivered.load(), counts_.failures.load(), counts_.refused.load(),
                       problems_.last(),         forwarding_.load(),      another_forwards_.load()};
  // While no delivery has failed yet, the way to the brokers may have.
  if (state.last_problem.empty()) state.last_problem = producer_->last_problem();
  return state;
}

void Forwarder::run() {
  for (;;) {
    const auto now = Clock::now();
    auto wake_at = now + outbox_pause;
    try {
      wake_at = step(now);
    } catch (const std::exception& problem) {
      problems_.trouble("dead letters wait in the outbox: " + text_of(problem));
      if (stopping_since_) return;
    }
    if (finished(now)) return;
    wait(wake_at);
  }
}

// One round of everything. \returns when the next one is due if nothing happens before.
Forwarder::Clock::time_point Forwarder::step(Clock::time_point now) {
  take_reports(now);
  if (!only_one_.held()) {
    another_forwards_ = !only_one_.try_acquire();
    if (another_forwards_) return now + takeover_interval;
    forwarding_ = true;
  }
  remove_delivered(now);
  if (const auto due = plan_.next_release(); due && *due <= now) {
    plan_.release(now);
    more_ = true;
  }
  look_again(now);
  fill(now);
  complain(now);
  counts_.refused = plan_.refused_rows();

  if (more_ && plan_.open() && stalled_until_ <= now && !sending_is_over(now)) return now;
  auto wake_at = std::min(next_poll_, complain_at_);
  if (more_ && stalled_until_ > now) wake_at = std::min(wake_at, stalled_until_);
  if (remove_at_) wake_at = std::min(wake_at, *remove_at_);
  if (const auto due = plan_.next_release()) wake_at = std::min(wake_at, *due);
  if (stopping_since_) wake_at = std::min(wake_at, *stopping_since_ + last_sending);
  return wake_at;
}

void Forwarder::take_reports(Clock::time_point now) {
  std::vector<Report> reports;
  {
    const std::lock_guard guard(mutex_);
    reports.swap(reports_);
    reports_.reserve(reports.capacity());
    failures_reported_ = false;
    if (std::exchange(woken_, false)) more_ = true;
    stopping_since_ = stop_at_;
  }
  const std::int64_t cursor = plan_.cursor();
  for (const Report& report : reports) {
    complain_at_ = Clock::time_point::max();
    if (report.delivered) {
      plan_.delivered(report.row);
      ++counts_.delivered;
      continue;
    }
    if (report.permanent && !report.topic_wide) {
      if (!plan_.refused(report.row, now)) continue;
      ++counts_.failures;
      tell_refused(report.row, report.message);
    } else {
      ++counts_.failures;
      plan_.failed(report.row, now, report.topic_wide ? SendPlan::Holds::all : SendPlan::Holds::its_monitor);
      problems_.trouble("Kafka does not take dead letters, they wait in the outbox: " + report.message);
    }
  }
  if (plan_.cursor() < cursor) more_ = true;
}

void Forwarder::tell_refused(const outbox::RowRef& row, const std::string& why) {
  std::string which = "the dead letter in row " + std::to_string(row.sequence);
  try {
    const auto rows = outbox_.read(row.sequence - 1, 1, 1);
    if (!rows.empty() && rows.front().ref() == row) {
      which = "dead letter " + rows.front().id + " of monitor '" + rows.front().monitor + "'";
    }
  } catch (const Error&) {  // its name is all that is missing
  }
  problems_.refusal(which + " stays in the outbox: " + why);
}

void Forwarder::remove_delivered(Clock::time_point now) {
  const auto& rows = plan_.delivered_rows();
  if (rows.empty()) return;
  if (!remove_at_) remove_at_ = now + removal_gathering;
  if (rows.size() < removal_batch && now < *remove_at_) return;
  outbox_.remove(rows);
  plan_.removed();
  remove_at_.reset();
  problems_.recovered("dead letters reach Kafka again");
  {
    const std::lock_guard guard(mutex_);  // wait_for_removal must not miss it
  }
  removed_.notify_all();
}

// What was put back into the queue lies behind the cursor.
void Forwarder::look_again(Clock::time_point now) {
  if (now < next_look_again_) return;
  const bool first = next_look_again_ == Clock::time_point{};
  next_look_again_ = now + look_again_interval;
  if (!first && counts_.delivered > 0 && !stopping_since_) check_topics();
  if (plan_.unconfirmed() > 0 || plan_.holding()) return;
  const outbox::OutboxDepth depth = outbox_.depth();
  if (depth.rows - depth.parked <= plan_.refused_rows()) return;
  plan_.rewind();
  more_ = true;
}

void Forwarder::fill(Clock::time_point now) {
  if (now >= next_poll_) {
    next_poll_ = now + poll_interval;
    more_ = true;
  }
  if (!more_ || !plan_.open() || now < stalled_until_ || sending_is_over(now)) return;
  const std::vector<outbox::Row> rows =
      outbox_.read(plan_.cursor(), std::min(read_rows, plan_.free_rows()), std::min(read_bytes, plan_.free_bytes()));
  more_ = !rows.empty();
  for (const outbox::Row& row : rows) {
    if (!plan_.take(row) || send(row, now)) continue;
    plan_.give_back(row.sequence);
    stalled_until_ = now + stall;
    return;
  }
}

// Topics by whose settings letters expire are nothing that this thread can put right. Once, and not in a process that
// has just begun, which may end at once: the brokers' answers take a moment.
void Forwarder::check_topics() {
  if (std::exchange(topics_checked_, true)) return;
  try {
    for (const kafka::TopicFault& fault : kafka::queue_faults(settings_, log_)) {
      if (log_) log_("warning", fault.text() + "; forelock dlq init --alter puts it right");
    }
  } catch (const Error& problem) {
    problems_.info("the settings of the queue's topics are not known: " + std::string(problem.what()));
  }
}

// Says that nothing is confirmed, each time that has lasted for message.timeout.ms.
void Forwarder::complain(Clock::time_point now) {
  if (plan_.unconfirmed() == 0) {
    complain_at_ = Clock::time_point::max();
  } else if (complain_at_ == Clock::time_point::max()) {
    complain_at_ = now + confirmation_timeout_;
  } else if (now >= complain_at_) {
    complain_at_ = now + confirmation_timeout_;
    ++counts_.failures;
    const std::string problem = producer_->last_problem();
    problems_.trouble("Kafka does not take dead letters, they wait in the outbox: topic " + topic_ +
                      ": not confirmed for " + std::to_string(confirmation_timeout_.count()) + " ms" +
                      (problem.empty() ? "" : "; last problem: " + problem));
  }
}

// \returns false if the producer takes nothing at present.
bool Forwarder::send(const outbox::Row& row, Clock::time_point now) {
  kafka::Record record;
  try {
    record = record_of(row, topic_);
  } catch (const Error& problem) {
    ++counts_.failures;
    plan_.refuse(row.ref(), now);
    tell_refused(row.ref(), text_of(problem));
    return true;
  }
  const auto report = [this, ref = row.ref()](const kafka::Delivery& delivery) { on_delivery(ref, delivery); };
  {
    // What a failed row holds back is known when its report has been looked at. With the mutex none comes in between:
    // the producer begins anew only when all reports of its client before are here.
    const std::lock_guard guard(mutex_);
    if (failures_reported_ || !producer_->try_send(record, report)) return false;
  }
  plan_.sent(row);
  return true;
}

void Forwarder::on_delivery(const outbox::RowRef& row, const kafka::Delivery& delivery) {
  Report report{
      .row = row, .delivered = delivery.delivered, .permanent = delivery.permanent, .topic_wide = delivery.topic_wide};
  if (!delivery.delivered) report.message = delivery.message;
  bool wake = false;
  {
    const std::lock_guard guard(mutex_);
    reports_.push_back(std::move(report));
    if (!delivery.delivered) failures_reported_ = true;
    wake = reports_.size() == 1 || reports_.size() == enough_reports_;
  }
  if (wake) changed_.notify_one();
}

void Forwarder::wait(Clock::time_point wake_at) {
  if (wake_at <= Clock::now()) return;
  std::unique_lock guard(mutex_);
  const auto urgent = [this] { return woken_ || stop_at_.has_value() != stopping_since_.has_value(); };
  changed_.wait_until(guard, wake_at, [&] { return urgent() || !reports_.empty(); });
  if (urgent() || reports_.empty()) return;
  enough_reports_ = std::min(report_batch, plan_.unconfirmed());
  changed_.wait_for(guard, report_gathering, [&] { return urgent() || reports_.size() >= enough_reports_; });
}

bool Forwarder::sending_is_over(Clock::time_point now) const {
  return stopping_since_ && now >= *stopping_since_ + last_sending;
}

bool Forwarder::finished(Clock::time_point now) const {
  if (!stopping_since_) return false;
  return !only_one_.held() || !more_ || sending_is_over(now);
}

}  // namespace forelock::forward
