#include "cli/serve/collector.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/thread_start.h"
#include "cli/existing_namespace.h"
#include "cli/serve/order_json.h"
#include "forelock/error.h"
#include "lock/monitor_name.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr int times_its_length = 10;
constexpr milliseconds shortest_freshness{3000};
constexpr milliseconds longest_freshness{10'000};  // where looks are rarer, what is shown is old in between
constexpr int missed_looks = 3;

milliseconds since(Clock::time_point begin) {
  return std::chrono::ceil<milliseconds>(Clock::now() - begin);
}

std::string event_text(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

// What a monitor without waiters is, without a read of its own.
MonitorView view_without_queue(MonitorSummary summary) {
  MonitorView view;
  view.path = '/' + lock::encode_monitor_name(summary.monitor).name.value_or(summary.monitor);
  view.monitor = std::move(summary.monitor);
  view.holder = std::move(summary.holder);
  return view;
}

}  // namespace

Collector::Collector(Client& client, milliseconds interval, milliseconds patience, Take take, Fail fail)
    : client_(client), interval_(interval), patience_(patience), take_(std::move(take)), fail_(std::move(fail)) {}

Collector::~Collector() {
  stop();
}

void Collector::start() {
  thread_ = base::start_thread("forelock-look", [this] { work(); });
}

void Collector::begin_stop() {
  const std::lock_guard guard(mutex_);
  stop_ = true;
  stopped_.notify_all();
}

void Collector::stop() {
  begin_stop();
  if (thread_.joinable()) thread_.join();
}

void Collector::work() {
  std::unique_lock guard(mutex_);
  while (!stop_) {
    guard.unlock();
    const Clock::time_point begin = Clock::now();
    milliseconds pause = interval_;
    try {
      const std::shared_ptr<const Picture> picture = look();
      std::vector<web::Event> events = changes(*picture);
      last_ = picture;
      take_(picture, std::move(events));
      pause = std::max(interval_, since(begin) * (times_its_length - 1));
    } catch (const std::exception& problem) {
      fail_(problem.what());  // and soon again: a look that was in vain has waited, and not worked
    }
    guard.lock();
    stopped_.wait_for(guard, pause, [this] { return stop_; });
  }
}

std::shared_ptr<const Picture> Collector::look() {
  const Clock::time_point begin = Clock::now();
  const WallTime wall = records::wall_time_now();
  std::size_t not_permitted = 0;
  std::vector<MonitorView> monitors = read(not_permitted);
  if (monitors.empty()) require_namespace(client_);
  const milliseconds pace = std::max(interval_, since(begin) * times_its_length);
  Paces::ByMonitor paces = paces_.take(monitors, begin);
  take_orders(monitors, wall);
  return std::make_shared<const Picture>(std::move(monitors), not_permitted, begin, wall,
                                         std::clamp(missed_looks * pace, shortest_freshness, longest_freshness),
                                         std::move(paces), orders_.warnings());
}

void Collector::take_orders(const std::vector<MonitorView>& monitors, WallTime wall) {
  Inspector inspector(client_, patience_);
  try {
    for (const LockOrders::Doubt& doubt : orders_.take(monitors, wall)) {
      const auto holder = inspector.holder(doubt.monitor);
      if (holder && holder->token == doubt.token) orders_.confirm(doubt);
    }
  } catch (const Error&) {
    // The look itself has succeeded: what is not confirmed is not believed, and may be seen again.
  }
}

std::vector<MonitorView> Collector::read(std::size_t& not_permitted) {
  Inspector inspector(client_, patience_);
  std::vector<MonitorView> views;
  for (MonitorSummary& summary : inspector.list(true, &not_permitted)) {
    if (summary.waiting_foreground + summary.waiting_background == 0 && !summary.oldest_wait) {
      views.push_back(view_without_queue(std::move(summary)));
    } else if (auto view = inspector.show(summary.monitor)) {
      views.push_back(*std::move(view));
    }
  }
  return views;
}

std::vector<web::Event> Collector::changes(const Picture& picture) const {
  std::vector<web::Event> events;
  if (!last_) return events;
  const std::string at = records::format_wall_time(picture.wall());
  const auto tell = [&](const std::string& kind, const MonitorSummary& summary) {
    nlohmann::ordered_json json = {{"event", kind}, {"at", at}};
    json.update(picture.row(summary));
    events.push_back({"change", event_text(json)});
  };
  for (const MonitorChange& change : changes_between(last_->active(), picture.active()))
    tell(change.kind, change.summary);
  for (const auto& [id, summary] : picture.active()) {
    if (!picture.overdue(summary)) continue;
    const auto before = last_->active().find(id);
    if (before == last_->active().end() || !last_->overdue(before->second)) tell("overdue", summary);
  }
  std::set<std::string> known;
  for (const OrderWarning& warning : last_->warnings()) known.insert(sentence_of(warning));
  for (const OrderWarning& warning : picture.warnings()) {
    if (!known.contains(sentence_of(warning))) events.push_back({"lock_order", event_text(json_of(warning))});
  }
  return events;
}

}  // namespace forelock::cli
