/// \file
/// The numbers of a client, and of its dead-letter queue, for Prometheus: for hosts that use prometheus-cpp.
/// Header-only.
///
/// The library does not need prometheus-cpp, and `forelock/forelock.h` does not include this file: a program that does
/// finds and links it by itself (CMake: `find_package(prometheus-cpp)`, `prometheus-cpp::core`). The names and labels
/// are those of the collectors for Python; no monitor is a label.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forelock/client.h"
#include "forelock/dead_letter_queue.h"
#include "forelock/error.h"
#include "forelock/priority.h"

namespace forelock {

/// The parts of the collectors below.
namespace prometheus_detail {

using Families = std::vector<prometheus::MetricFamily>;

inline prometheus::MetricFamily family(std::string name, std::string help, prometheus::MetricType type) {
  return {"forelock_" + std::move(name), std::move(help), type, {}};
}

inline void add_counter(Families& families, std::string name, std::string help, std::uint64_t value) {
  prometheus::ClientMetric metric;
  metric.counter.value = static_cast<double>(value);
  families.push_back(family(std::move(name), std::move(help), prometheus::MetricType::Counter));
  families.back().metric.push_back(std::move(metric));
}

inline void add_losses(Families& families, const ClientStatistics& statistics) {
  families.push_back(
      family("client_lost_total", "Held locks that were lost, by why.", prometheus::MetricType::Counter));
  for (std::size_t i = 0; i < statistics.lost_by_reason.size(); ++i) {
    prometheus::ClientMetric metric;
    metric.label.push_back({"reason", std::string(name_of(static_cast<LossReason>(i + 1)))});
    metric.counter.value = static_cast<double>(statistics.lost_by_reason[i]);
    families.back().metric.push_back(std::move(metric));
  }
}

inline void add_gauge(Families& families, std::string name, std::string help, double value) {
  prometheus::ClientMetric metric;
  metric.gauge.value = value;
  families.push_back(family(std::move(name), std::move(help), prometheus::MetricType::Gauge));
  families.back().metric.push_back(std::move(metric));
}

// Prometheus' buckets are cumulative.
inline prometheus::ClientMetric of_class(Priority priority, const DurationHistogram& times) {
  prometheus::ClientMetric metric;
  metric.label.push_back({"priority", std::string(name_of(priority))});
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < times.counts.size(); ++i) {
    sum += times.counts[i];
    const double bound = i < DurationHistogram::bounds.size()
                             ? std::chrono::duration<double>(DurationHistogram::bounds[i]).count()
                             : std::numeric_limits<double>::infinity();
    metric.histogram.bucket.push_back({sum, bound});
  }
  metric.histogram.sample_count = sum;
  metric.histogram.sample_sum = std::chrono::duration<double>(times.sum).count();
  return metric;
}

inline void add_times(Families& families, std::string name, std::string help, const DurationHistogram& foreground,
                      const DurationHistogram& background) {
  families.push_back(family(std::move(name), std::move(help), prometheus::MetricType::Histogram));
  families.back().metric = {of_class(Priority::foreground, foreground), of_class(Priority::background, background)};
}

}  // namespace prometheus_detail

/// `forelock_client_…`: `connected`, `granted_total`, `refused_total`, `lost_total` by `reason`, and the other numbers
/// of ClientStatistics; the histograms `wait_seconds` and `hold_seconds` by `priority`. Thread-safe.
///
/// A registry of prometheus-cpp keeps no ownership: the collector is kept as long as it is registered
/// (`exposer.RegisterCollectable(metrics)` with a shared pointer).
class ClientMetrics final : public prometheus::Collectable {
 public:
  /// \param client must outlive it.
  explicit ClientMetrics(const Client& client) : client_(client) {}

  /// The present numbers.
  std::vector<prometheus::MetricFamily> Collect() const override {
    namespace detail = prometheus_detail;
    const ClientStatistics now = client_.statistics();
    detail::Families families;
    detail::add_gauge(families, "client_connected", "Whether a server is connected.", client_.connected() ? 1 : 0);
    detail::add_counter(families, "client_granted_total", "Locks that ZooKeeper has granted.", now.granted);
    detail::add_counter(families, "client_taken_again_total",
                        "Acquisitions of a lock that lingered: without a request.", now.taken_again);
    detail::add_counter(families, "client_refused_total", "Acquisitions that ended without a grant.", now.refused);
    detail::add_losses(families, now);
    detail::add_counter(families, "client_retries_total", "Operations that were tried again.", now.retries);
    detail::add_counter(families, "client_retries_exhausted_total", "Operations whose last attempt has failed.",
                        now.retries_exhausted);
    detail::add_counter(families, "client_released_total", "Releases that were confirmed.", now.released);
    detail::add_counter(families, "client_requests_total", "Requests sent to ZooKeeper.", now.requests);
    detail::add_counter(families, "client_sessions_expired_total", "Sessions that the servers ended.",
                        now.sessions_expired);
    detail::add_counter(families, "client_disconnections_total", "Connections that were lost.", now.disconnections);
    detail::add_gauge(families, "client_contenders", "Contenders that may have a node on the servers.",
                      static_cast<double>(now.contenders));
    detail::add_gauge(families, "client_lingering", "Of these, locks that linger: no caller holds them.",
                      static_cast<double>(now.lingering));
    detail::add_times(families, "client_wait_seconds", "How long acquisitions waited that were granted.",
                      now.foreground.wait, now.background.wait);
    detail::add_times(families, "client_hold_seconds", "How long locks were held.", now.foreground.hold,
                      now.background.hold);
    return families;
  }

 private:
  const Client& client_;
};

/// `forelock_dlq_…`: `outbox_rows`, `outbox_bytes`, `oldest_seconds`, `accepted_total`, `delivered_total`,
/// `delivery_failures_total`. An outbox that cannot be read has no numbers. Thread-safe.
class DeadLetterMetrics final : public prometheus::Collectable {
 public:
  /// \param queue must outlive it.
  explicit DeadLetterMetrics(const DeadLetterQueue& queue) : queue_(queue) {}

  /// The present numbers.
  std::vector<prometheus::MetricFamily> Collect() const override {
    namespace detail = prometheus_detail;
    detail::Families families;
    try {
      const DeadLetterQueueStatistics now = queue_.statistics();
      const std::chrono::duration<double> oldest = now.oldest_age.value_or(std::chrono::milliseconds(0));
      detail::add_gauge(families, "dlq_outbox_rows", "Dead letters in the outbox.",
                        static_cast<double>(now.outbox_rows));
      detail::add_gauge(families, "dlq_outbox_bytes", "What they count against its limit.",
                        static_cast<double>(now.outbox_bytes));
      detail::add_gauge(families, "dlq_oldest_seconds", "The age of the oldest one; 0: there is none.", oldest.count());
      detail::add_counter(families, "dlq_accepted_total", "Letters that this process has put into the outbox.",
                          now.accepted);
      detail::add_counter(families, "dlq_delivered_total", "Letters that this process has delivered to Kafka.",
                          now.delivered);
      detail::add_counter(families, "dlq_delivery_failures_total", "Attempts to deliver that have failed.",
                          now.delivery_failures);
    } catch (const Error&) {
      families.clear();
    }
    return families;
  }

 private:
  const DeadLetterQueue& queue_;
};

}  // namespace forelock
