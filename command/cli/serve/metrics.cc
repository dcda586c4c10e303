#include "cli/serve/metrics.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "forelock/version.h"

namespace forelock::cli {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;

struct Labelled {
  std::string name;
  std::string value;
};

MetricFamily gauge(std::string name, std::string help) {
  MetricFamily family;
  family.name = "forelock_" + std::move(name);
  family.help = std::move(help);
  family.type = prometheus::MetricType::Gauge;
  return family;
}

void add(MetricFamily& family, double value, const std::vector<Labelled>& labels = {}) {
  ClientMetric& metric = family.metric.emplace_back();
  metric.gauge.value = value;
  for (const Labelled& label : labels) metric.label.push_back({label.name, label.value});
}

MetricFamily single(std::string name, std::string help, double value) {
  MetricFamily family = gauge(std::move(name), std::move(help));
  add(family, value);
  return family;
}

MetricFamily counter(std::string name, std::string help, double value) {
  MetricFamily family = gauge(std::move(name), std::move(help));
  family.type = prometheus::MetricType::Counter;
  family.metric.emplace_back().counter.value = value;
  return family;
}

double seconds(std::chrono::milliseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

void add_picture(std::vector<MetricFamily>& families, const Picture& picture) {
  std::array<std::size_t, 3> held{};  // foreground, background, unknown
  std::array<std::size_t, 2> waiters{};
  std::size_t overdue = 0;
  std::chrono::milliseconds oldest_hold{0};
  std::chrono::milliseconds oldest_wait{0};
  for (const SharedSighting& sighting : picture.monitors()) {
    const MonitorView& monitor = sighting->view();
    if (!sighting->active() || monitor.monitor == unlocker_monitor) continue;
    const std::chrono::milliseconds later = sighting->later(picture.wall());
    if (monitor.holder) {
      const auto& priority = monitor.holder->priority;
      ++held[!priority ? 2 : *priority == Priority::foreground ? 0 : 1];
      oldest_hold = std::max(oldest_hold, monitor.holder->held + later);
    }
    for (const WaiterView& waiter : monitor.queue) {
      if (waiter.priority) ++waiters[*waiter.priority == Priority::foreground ? 0 : 1];
      oldest_wait = std::max(oldest_wait, waiter.waited + later);
    }
    overdue += picture.overdue(*sighting) ? 1U : 0U;
  }
  MetricFamily& holding = families.emplace_back(gauge("held", "Monitors that are held, by the holder's class."));
  add(holding, static_cast<double>(held[0]), {{"priority", "foreground"}});
  add(holding, static_cast<double>(held[1]), {{"priority", "background"}});
  add(holding, static_cast<double>(held[2]), {{"priority", "unknown"}});
  MetricFamily& waiting = families.emplace_back(gauge("waiters", "Contenders that wait, by class."));
  add(waiting, static_cast<double>(waiters[0]), {{"priority", "foreground"}});
  add(waiting, static_cast<double>(waiters[1]), {{"priority", "background"}});
  families.push_back(single("oldest_hold_seconds", "For how long the oldest holder holds.", seconds(oldest_hold)));
  families.push_back(single("oldest_wait_seconds", "For how long the oldest waiter waits.", seconds(oldest_wait)));
  families.push_back(
      single("overdue_holders", "Holders past their alert or expected runtime.", static_cast<double>(overdue)));
  families.push_back(single("wait_rings", "Rings of parties that wait for each other.",
                            static_cast<double>(picture.blocking().rings().size())));
  families.push_back(single("lock_order_warnings", "Rings of orders in which locks have been nested in the last day.",
                            static_cast<double>(picture.warnings().size())));
}

void add_times(MetricFamily& family, const char* op, const RequestTimes& times) {
  ClientMetric& metric = family.metric.emplace_back();
  metric.label.push_back({"op", op});
  for (std::size_t i = 0; i <= RequestTimes::bounds.size(); ++i) {
    metric.histogram.sample_count += times.count(i);
    const double bound =
        i < RequestTimes::bounds.size() ? RequestTimes::bounds[i] : std::numeric_limits<double>::infinity();
    metric.histogram.bucket.push_back({metric.histogram.sample_count, bound});
  }
  metric.histogram.sample_sum = times.sum();
}

void add_look(std::vector<MetricFamily>& families, const LookCounts& counts, const Picture* picture) {
  families.push_back(counter("look_requests_total", "Requests by which serve has looked at the namespace.",
                             static_cast<double>(counts.requests)));
  families.push_back(
      counter("look_events_total", "Watches of serve that have fired.", static_cast<double>(counts.events)));
  MetricFamily& times = families.emplace_back(
      gauge("zk_request_duration_seconds", "How long single requests of serve to ZooKeeper have taken."));
  times.type = prometheus::MetricType::Histogram;
  add_times(times, "sync", counts.syncs);
  add_times(times, "list", counts.lists);
  if (picture == nullptr) return;
  MetricFamily& nodes = families.emplace_back(gauge("look_monitors", "Nodes of the namespace, by how serve looks."));
  add(nodes, static_cast<double>(picture->look().watched), {{"how", "watch"}});
  add(nodes, static_cast<double>(picture->look().sampled), {{"how", "sample"}});
  families.push_back(single("look_stale_monitors", "Monitors that may have changed and were not read again yet.",
                            static_cast<double>(picture->look().stale.size())));
  families.push_back(single("look_unreadable_monitors", "Monitors that the credentials may not read.",
                            static_cast<double>(picture->unreadable().size())));
}

void add_letters(std::vector<MetricFamily>& families, const std::optional<LetterNumbers>& numbers) {
  const bool readable = numbers && numbers->readable;
  families.push_back(single("dlq_readable", "Whether the queue of dead letters could be read.", readable ? 1 : 0));
  if (numbers && numbers->outbox_rows) {
    families.push_back(single("dlq_outbox_rows", "Dead letters in the outbox of this machine.",
                              static_cast<double>(*numbers->outbox_rows)));
  }
  if (!readable) return;
  families.push_back(single("dlq_depth", "Dead letters that are not parked.", static_cast<double>(numbers->letters)));
  families.push_back(single("dlq_parked", "Dead letters that are parked.", static_cast<double>(numbers->parked)));
  families.push_back(
      single("dlq_unreadable", "Dead letters that cannot be read.", static_cast<double>(numbers->unreadable)));
  if (numbers->oldest) {
    families.push_back(single("dlq_oldest_message_timestamp_seconds", "When the oldest that is not parked failed.",
                              seconds(numbers->oldest->time_since_epoch())));
  }
}

}  // namespace

std::string metrics_text(const MetricsInput& input) {
  std::vector<MetricFamily> families;
  families.reserve(64);  // references to its elements are kept while they are filled
  MetricFamily& build = families.emplace_back(gauge("build_info", "The version of forelock."));
  add(build, 1,
      {{"version", std::to_string(FORELOCK_VERSION_MAJOR) + '.' + std::to_string(FORELOCK_VERSION_MINOR) + '.' +
                       std::to_string(FORELOCK_VERSION_PATCH)}});
  MetricFamily& state = families.emplace_back(gauge("zk_session_state", "1 for the state of the session."));
  add(state, input.connected ? 1 : 0, {{"state", "connected"}});
  add(state, input.connected ? 0 : 1, {{"state", "disconnected"}});
  families.push_back(counter("zk_session_expired_total", "Sessions of this process that the servers have ended.",
                             static_cast<double>(input.sessions_expired)));
  families.push_back(
      single("picture_live", "Whether the picture is that of the present.", input.picture != nullptr ? 1 : 0));
  families.push_back(
      single("serve_connections", "Connections to this server.", static_cast<double>(input.connections)));
  families.push_back(single("serve_streams", "Of these, streams of events.", static_cast<double>(input.streams)));
  if (input.unlocker != nullptr) {
    families.push_back(single("unlocker_active", "Whether this is the unlocker that frees; others stand by.",
                              input.unlocker->active() ? 1 : 0));
    families.push_back(counter("auto_unlock_total", "Holders that this unlocker has freed.",
                               static_cast<double>(input.unlocker->freed())));
    families.push_back(counter("swept_total", "Unused monitors that this unlocker has removed.",
                               static_cast<double>(input.unlocker->swept())));
  }
  if (input.acts != nullptr) {
    families.push_back(counter("forced_release_total", "Locks that admins of this process have taken away.",
                               static_cast<double>(input.acts->released())));
  }
  if (input.history != nullptr) {
    families.push_back(single("history_writable", "Whether what happens is being written into the history's file.",
                              input.history->writable() ? 1 : 0));
    families.push_back(counter("history_written_total", "Beginnings and ends of holds and waits in the file.",
                               static_cast<double>(input.history->written())));
    families.push_back(
        counter("history_lost_total", "Those that could not be written.", static_cast<double>(input.history->lost())));
  }
  if (input.letters != nullptr) add_letters(families, input.letters->numbers());
  if (input.picture != nullptr) add_picture(families, *input.picture);
  if (input.look != nullptr) add_look(families, *input.look, input.picture);
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace forelock::cli
