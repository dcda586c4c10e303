#include "forelock/inspector.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "capi/client_object.h"
#include "capi/handles.h"
#include "capi/lock_arguments.h"
#include "capi/owner.h"
#include "capi/structure.h"
#include "forelock/c.h"
#include "forelock/error.h"

using namespace forelock;
using namespace forelock::capi;

namespace {

struct SeenMonitor {
  std::string monitor;
  std::string path;
  std::optional<HolderView> holder;
  OwnerText owner;
  std::size_t waiting_foreground = 0;
  std::size_t waiting_background = 0;
  std::size_t waiting = 0;
  std::optional<std::chrono::milliseconds> oldest_wait = {};
};

struct SeenWaiter {
  WaiterView waiter;
  OwnerText owner;
};

struct SeenSet {
  LockSetView view;
  OwnerText behind;
};

// What was seen of a namespace; does not change.
class ViewObject final : public Object {
 public:
  static constexpr Kind object_kind = Kind::view;

  ViewObject(std::vector<SeenMonitor> monitors, std::vector<SeenWaiter> waiters)
      : Object(object_kind), monitors_(std::move(monitors)), waiters_(std::move(waiters)) {}
  explicit ViewObject(SeenSet set) : Object(object_kind), set_(std::move(set)) {}

  const std::vector<SeenMonitor>& monitors() const { return monitors_; }
  const std::vector<SeenWaiter>& waiters() const { return waiters_; }
  // \throws RequestRejectedException(invalid_argument).
  const SeenSet& set() const {
    require(set_.has_value(), "the view is not one of a lock set");
    return *set_;
  }

 private:
  const std::vector<SeenMonitor> monitors_;
  const std::vector<SeenWaiter> waiters_;
  const std::optional<SeenSet> set_;
};

OwnerText owner_of(const std::optional<HolderView>& holder) {
  return OwnerText(holder ? holder->owner : std::nullopt);
}

int32_t shown_priority(const std::optional<Priority>& priority) {
  return priority ? capi::to_c(*priority) : -1;
}

std::vector<SeenMonitor> seen(std::vector<MonitorSummary> list) {
  std::vector<SeenMonitor> monitors;
  monitors.reserve(list.size());
  for (MonitorSummary& summary : list) {
    OwnerText owner = owner_of(summary.holder);
    monitors.push_back({std::move(summary.monitor),
                        {},
                        std::move(summary.holder),
                        std::move(owner),
                        summary.waiting_foreground,
                        summary.waiting_background,
                        summary.waiting_foreground + summary.waiting_background,
                        summary.oldest_wait});
  }
  return monitors;
}

SeenMonitor seen(const MonitorView& view) {
  SeenMonitor monitor{.monitor = view.monitor, .path = view.path, .holder = view.holder, .owner = {}};
  monitor.owner = owner_of(view.holder);
  monitor.waiting = view.queue.size();
  for (const WaiterView& waiter : view.queue) {
    if (waiter.priority == Priority::foreground) ++monitor.waiting_foreground;
    if (waiter.priority == Priority::background) ++monitor.waiting_background;
    monitor.oldest_wait = std::max(monitor.oldest_wait.value_or(waiter.waited), waiter.waited);
  }
  return monitor;
}

fl_monitor to_c(const SeenMonitor& of) {
  const bool held = of.holder.has_value();
  return {.size = 0,
          .monitor = of.monitor.c_str(),
          .path = of.path.c_str(),
          .held = held ? 1 : 0,
          .has_owner = of.owner.present() ? 1 : 0,
          .owner = of.owner.to_c(),
          .holder_priority = held ? shown_priority(of.holder->priority) : -1,
          .holder_node = held && of.holder->node ? of.holder->node->c_str() : "",
          .holder_session = held ? of.holder->session : 0,
          .holder_token = held ? of.holder->token : 0,
          .held_ms = held ? of.holder->held.count() : 0,
          .waiting = of.waiting,
          .waiting_foreground = of.waiting_foreground,
          .waiting_background = of.waiting_background,
          .linger_ms = of.owner.linger_ms(),
          .oldest_wait_ms = of.oldest_wait ? of.oldest_wait->count() : -1};
}

fl_seen_set to_c(const SeenSet& of) {
  const std::optional<HolderView>& behind = of.view.behind;
  return {.size = 0,
          .id = of.view.id.c_str(),
          .members = of.view.size,
          .named = of.view.members.size(),
          .held = of.view.held_count,
          .waits_for = of.view.waits_for ? of.view.waits_for->c_str() : "",
          .behind_holder = behind ? 1 : 0,
          .has_owner = of.behind.present() ? 1 : 0,
          .owner = of.behind.to_c(),
          .holder_priority = behind ? shown_priority(behind->priority) : -1,
          .holder_node = behind && behind->node ? behind->node->c_str() : "",
          .holder_session = behind ? behind->session : 0,
          .holder_token = behind ? behind->token : 0,
          .held_ms = behind ? behind->held.count() : 0,
          .linger_ms = of.behind.linger_ms()};
}

// Of the holder (`waiter` -1), or of the waiting contender with that index.
const std::optional<OwnerRecord>& record_in(const ViewObject& view, int64_t waiter) {
  require(view.monitors().size() == 1, "the view is not one of one monitor");
  require(waiter >= -1, "there is no waiter with this index");
  if (waiter == -1) return view.monitors()[0].owner.record();
  require(static_cast<std::uint64_t>(waiter) < view.waiters().size(), "there is no waiter with this index");
  return view.waiters()[static_cast<std::size_t>(waiter)].owner.record();
}

fl_waiter to_c(const SeenWaiter& of) {
  return {.size = 0,
          .position = of.waiter.position,
          .node = of.waiter.node.c_str(),
          .behind = of.waiter.behind.c_str(),
          .has_owner = of.owner.present() ? 1 : 0,
          .owner = of.owner.to_c(),
          .priority = shown_priority(of.waiter.priority),
          .session = of.waiter.session,
          .waited_ms = of.waiter.waited.count(),
          .linger_ms = of.owner.linger_ms()};
}

Inspector inspector_of(const ClientObject& client, int64_t timeout_ms) {
  return Inspector(client.client(), duration_of(timeout_ms));
}

}  // namespace

extern "C" {

int32_t fl_inspect_list(fl_client client, int32_t all, int64_t timeout_ms, fl_view* view) {
  return capi::run([&] {
    const auto use = find<ClientObject>(client);
    fl_view& result = target(view);
    auto monitors = seen(inspector_of(*use, timeout_ms).list(all != 0));
    result = add(std::make_unique<ViewObject>(std::move(monitors), std::vector<SeenWaiter>()));
  });
}

int32_t fl_inspect_show(fl_client client, const char* monitor, int64_t timeout_ms, fl_view* view) {
  return capi::run([&] {
    const auto use = find<ClientObject>(client);
    fl_view& result = target(view);
    std::vector<SeenMonitor> monitors;
    std::vector<SeenWaiter> waiters;
    if (auto shown = inspector_of(*use, timeout_ms).show(text_of(monitor, "monitor"))) {
      monitors.push_back(seen(*shown));
      for (WaiterView& waiter : shown->queue) {
        OwnerText owner(std::move(waiter.owner));
        waiters.push_back({std::move(waiter), std::move(owner)});
      }
    }
    result = add(std::make_unique<ViewObject>(std::move(monitors), std::move(waiters)));
  });
}

int32_t fl_inspect_holder(fl_client client, const char* monitor, int64_t timeout_ms, fl_view* view) {
  return capi::run([&] {
    const auto use = find<ClientObject>(client);
    fl_view& result = target(view);
    const std::string id = text_of(monitor, "monitor");
    std::vector<SeenMonitor> monitors;
    if (auto holder = inspector_of(*use, timeout_ms).holder(id)) {
      OwnerText owner = OwnerText(holder->owner);
      monitors.push_back({.monitor = id, .path = {}, .holder = std::move(holder), .owner = std::move(owner)});
    }
    result = add(std::make_unique<ViewObject>(std::move(monitors), std::vector<SeenWaiter>()));
  });
}

int32_t fl_inspect_token(fl_client client, const char* monitor, int64_t max_age_ms, int64_t timeout_ms,
                         fl_holder_token* token) {
  return capi::run([&] {
    const auto use = find<ClientObject>(client);
    require(max_age_ms >= 0, "max_age_ms is negative");
    const std::string id = text_of(monitor, "monitor");
    const std::chrono::milliseconds max_age(std::min<std::int64_t>(max_age_ms, 24 * 3'600'000));
    Inspector inspector = inspector_of(*use, timeout_ms);
    const std::optional<HolderToken> found =
        timeout_ms > 0 ? inspector.holder_token(id, max_age) : inspector.known_holder_token(id, max_age);
    const fl_holder_token unknown{.size = sizeof unknown, .token = 0, .age_ns = -1};
    write_structure(token, found ? fl_holder_token{sizeof unknown, found->token, found->age.count()} : unknown);
  });
}

int32_t fl_inspect_identity(fl_client client, int64_t timeout_ms, char* identity) {
  return capi::run([&] {
    const auto use = find<ClientObject>(client);
    char& result = target(identity);
    const std::string found = inspector_of(*use, timeout_ms).identity();
    if (found.size() >= FL_IDENTITY_SIZE) {
      throw Error(ErrorCode::internal, {},
                  "the identity of the namespace has " + std::to_string(found.size()) + " bytes");
    }
    std::memcpy(&result, found.c_str(), found.size() + 1);
  });
}

int32_t fl_view_count(fl_view view, size_t* count) {
  return capi::run([&] { target(count) = find<ViewObject>(view)->monitors().size(); });
}

int32_t fl_view_monitor(fl_view view, size_t index, fl_monitor* monitor) {
  return capi::run([&] {
    const auto use = find<ViewObject>(view);
    require(index < use->monitors().size(), "there is no monitor with this index");
    write_structure(monitor, to_c(use->monitors()[index]));
  });
}

int32_t fl_view_waiter(fl_view view, size_t index, fl_waiter* waiter) {
  return capi::run([&] {
    const auto use = find<ViewObject>(view);
    require(index < use->waiters().size(), "there is no waiter with this index");
    write_structure(waiter, to_c(use->waiters()[index]));
  });
}

int32_t fl_inspect_set(fl_client client, fl_view view, int64_t waiter, int64_t timeout_ms, fl_view* set) {
  return capi::run([&] {
    const auto use = find<ClientObject>(client);
    const auto seen_in = find<ViewObject>(view);
    fl_view& result = target(set);
    result = 0;
    Inspector inspector = inspector_of(*use, timeout_ms);
    const std::optional<OwnerRecord>& record = record_in(*seen_in, waiter);
    std::optional<LockSetView> found = record ? inspector.lock_set(*record) : std::nullopt;
    if (!found) return;
    OwnerText behind = owner_of(found->behind);
    result = add(std::make_unique<ViewObject>(SeenSet{*std::move(found), std::move(behind)}));
  });
}

int32_t fl_view_set(fl_view view, fl_seen_set* set) {
  return capi::run([&] {
    const auto use = find<ViewObject>(view);
    write_structure(set, to_c(use->set()));
  });
}

int32_t fl_view_set_member(fl_view view, size_t index, const char** monitor, int32_t* held) {
  return capi::run([&] {
    const auto use = find<ViewObject>(view);
    const LockSetView& set = use->set().view;
    require(index < set.members.size(), "the set has no named member with this index");
    const std::string& member = set.members[index];
    if (monitor != nullptr) *monitor = member.c_str();
    if (held != nullptr) *held = std::find(set.held.begin(), set.held.end(), member) != set.held.end() ? 1 : 0;
  });
}

int32_t fl_view_free(fl_view view) {
  return capi::run([&] { remove<ViewObject>(view); });
}

int32_t fl_inspect_force_release(fl_client client, const char* monitor, const char* holder, int64_t timeout_ms,
                                 int32_t* result) {
  return capi::run([&] {
    const auto use = find<ClientObject>(client);
    int32_t& outcome = target(result);
    outcome = static_cast<int32_t>(
        inspector_of(*use, timeout_ms).force_release(text_of(monitor, "monitor"), text_of(holder, "holder")));
  });
}
}
