#include <algorithm>
#include <chrono>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "capi/client_object.h"
#include "capi/config_object.h"
#include "capi/handles.h"
#include "capi/lock_arguments.h"
#include "capi/structure.h"
#include "forelock/c.h"

using namespace forelock;
using namespace forelock::capi;

namespace {

LogSink sink_of(std::shared_ptr<EventQueue> events) {
  return [events = std::move(events)](std::string_view level, std::string_view message) {
    events->notify_of_line(std::string(level), std::string(message));
  };
}

EventQueue& events_of(const ClientObject& client) {
  if (!client.in_forked_child()) return client.events();
  throw RequestRejectedException(ErrorCode::forked, {}, "the events of this client belong to the parent process",
                                 "open a client in the child");
}

fl_event to_c(const Event& event) {
  const Failure& failure = event.failure;
  return {.kind = event.kind,
          .code = failure.code,
          .source = event.source,
          .tag = event.tag,
          .value = event.value,
          .retryable = fl_is_retryable(failure.code),
          .monitor = failure.monitor.c_str(),
          .name = event.name.c_str(),
          .message = failure.message.c_str(),
          .hint = failure.hint.c_str()};
}

}  // namespace

extern "C" {

int32_t fl_client_open(fl_config config, uint32_t flags, fl_client* client) {
  return capi::run([&] {
    fl_client& result = target(client);
    require((flags & ~std::uint32_t{FL_CLIENT_LOG_EVENTS | FL_CLIENT_LOG_DEBUG}) == 0, "unknown flags");
    Settings settings = config == 0 ? Settings() : find<ConfigObject>(config)->settings();
    auto events = std::make_shared<EventQueue>();
    LogSink log = (flags & FL_CLIENT_LOG_EVENTS) != 0 ? sink_of(events) : LogSink();
    const LogDetail detail = (flags & FL_CLIENT_LOG_DEBUG) != 0 ? LogDetail::debug : LogDetail::normal;
    auto state = std::make_shared<ClientState>(std::move(settings), std::move(events), std::move(log), detail);
    result = add(std::make_unique<ClientObject>(std::move(state)));
  });
}

int32_t fl_client_wait_connected(fl_client client, int64_t timeout_ms) {
  return capi::run([&] {
    const auto use = find<ClientObject>(client);
    if (use->client().wait_connected(duration_of(timeout_ms))) return;
    std::string message = "no connection to ZooKeeper within " + std::to_string(timeout_ms) + " ms";
    if (const std::string problem = use->client().last_problem(); !problem.empty()) message += ": " + problem;
    throw ConnectionLossException(ErrorCode::connection_loss, {}, message, "forelock doctor");
  });
}

int32_t fl_client_get_status(fl_client client, fl_client_status* status) {
  thread_local std::string problem;
  thread_local std::string instance;
  return capi::run([&] {
    const auto use = find<ClientObject>(client);
    const Client& of = use->client();
    const ClientStatistics counts = of.statistics();
    problem = of.last_problem();
    instance = of.instance();
    const auto& lost = counts.lost_by_reason;
    static_assert(FL_LOSS_CLOSED == std::tuple_size_v<std::decay_t<decltype(lost)>>);
    write_structure<fl_client_status>(status, {.size = 0,
                                               .connected = of.connected() ? 1 : 0,
                                               .session_id = of.session_id(),
                                               .session_timeout_ms = of.session_timeout().count(),
                                               .granted = counts.granted,
                                               .refused = counts.refused,
                                               .lost = counts.lost,
                                               .released = counts.released,
                                               .requests = counts.requests,
                                               .sessions_expired = counts.sessions_expired,
                                               .disconnections = counts.disconnections,
                                               .contenders = counts.contenders,
                                               .instance = instance.c_str(),
                                               .last_problem = problem.c_str(),
                                               .taken_again = counts.taken_again,
                                               .lingering = counts.lingering,
                                               .lost_by_reason = {lost[0], lost[1], lost[2], lost[3]},
                                               .retries = counts.retries,
                                               .retries_exhausted = counts.retries_exhausted});
  });
}

int32_t fl_client_get_times(fl_client client, int32_t priority, fl_times* times) {
  return capi::run([&] {
    const auto use = find<ClientObject>(client);
    const ClientStatistics counts = use->client().statistics();
    const ClassTimes& of = priority_of(priority) == Priority::foreground ? counts.foreground : counts.background;
    static_assert(FL_TIMES_BUCKETS == std::tuple_size_v<decltype(of.wait.counts)>);
    fl_times result{};
    result.wait_sum_ns = of.wait.sum.count();
    result.hold_sum_ns = of.hold.sum.count();
    std::copy(of.wait.counts.begin(), of.wait.counts.end(), result.waits);
    std::copy(of.hold.counts.begin(), of.hold.counts.end(), result.holds);
    write_structure<fl_times>(times, result);
  });
}

int32_t fl_client_close(fl_client client) {
  return capi::run([&] { find<ClientObject>(client)->close(); });
}

int32_t fl_client_free(fl_client client) {
  return capi::run([&] {
    const auto use = remove<ClientObject>(client);
    use->close();
    if (!use->in_forked_child()) use->events().clear();
  });
}

int32_t fl_client_get_fd(fl_client client, int32_t* fd) {
  return capi::run([&] {
    const auto use = find<ClientObject>(client);
    int32_t& result = target(fd);
    result = events_of(*use).descriptor();
  });
}

int64_t fl_poll(fl_client client, int64_t timeout_ms, fl_event* events, size_t count) {
  // What the texts of the last call point to.
  thread_local std::vector<Event> fetched;
  int64_t result = 0;
  const std::int32_t code = capi::run([&] {
    const auto use = find<ClientObject>(client);
    require(events != nullptr && count > 0, "there is no room for events");
    auto some = events_of(*use).poll(timeout_ms, count);
    if (!some) throw RequestRejectedException(ErrorCode::closed, {}, "the client is closed, and all was fetched");
    fetched = std::move(*some);
    for (size_t i = 0; i < fetched.size(); ++i) events[i] = to_c(fetched[i]);
    result = static_cast<int64_t>(fetched.size());
  });
  return code == FL_OK ? result : -int64_t{code};
}
}
