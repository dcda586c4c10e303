#include "cli/doctor/doctor_checks.h"

#include <algorithm>

#include "base/counted.h"
#include "cli/connection.h"
#include "cli/exit_code.h"
#include "cli/output/quantity_text.h"
#include "client/client_core.h"
#include "client/reply_error.h"
#include "client/request_pipeline.h"
#include "forelock/blocking_write_lock.h"
#include "forelock/error.h"
#include "forelock/inspector.h"
#include "lock/monitor_name.h"
#include "records/guid.h"
#include "records/session_text.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

using client::EnsembleLink;
using client::RequestPipeline;
using coordination::Reply;
using coordination::ReplyCode;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr int round_trips = 15;
constexpr std::int64_t counter_alarm = std::int64_t{1} << 30;
constexpr std::size_t most_monitors = 20'000;
constexpr std::size_t long_listing = 512 * 1024;  // half of what one reply may have
constexpr milliseconds clock_tolerance{1000};
constexpr milliseconds short_session{10'000};

RequestPipeline pipeline(EnsembleLink& ensemble) {
  return {ensemble, Clock::now() + patience(ensemble.core().settings())};
}

std::string ms(milliseconds duration) {
  return std::to_string(duration.count()) + " ms";
}

bool examine_connection(EnsembleLink& ensemble, DoctorReport& report) {
  const Settings& settings = ensemble.core().settings();
  try {
    if (ensemble.wait_connected(patience(settings))) {
      report.ok("session", "session " + records::session_text(ensemble.session_id()) +
                               (settings.chroot().empty() ? "" : ", namespace " + settings.chroot()));
      return true;
    }
  } catch (const Error& error) {
    report.fail("session", error.what(), error.hint(), exit_unavailable);
    return false;
  }
  const std::string problem = ensemble.last_problem();
  const bool refused = ensemble.standing_problem() == ErrorCode::not_authorized;
  report.fail("session", problem.empty() ? "no server gave us a session in time" : problem,
              refused ? "check zookeeper.auth.digest.file" : "see the servers above; is there a quorum?",
              refused ? exit_not_authorized : exit_unavailable);
  return false;
}

void examine_timeout(const EnsembleLink& ensemble, DoctorReport& report) {
  const milliseconds negotiated = ensemble.session_timeout();
  const milliseconds asked = ensemble.core().settings().session_timeout();
  if (negotiated == asked) {
    report.ok("timeout", "session time-out " + ms(asked) + ", as asked for; silences of up to about " +
                             duration_text(asked * 38 / 100) + " do no harm" +
                             (asked < short_session ? "; zookeeper.session.timeout=15s survives more" : ""));
  } else {
    report.warn("timeout", "asked for a session time-out of " + ms(asked) + ", the server gave " + ms(negotiated),
                "the server allows 2 to 20 of its ticks: change zookeeper.session.timeout, or its tickTime");
  }
}

void examine_latency(EnsembleLink& ensemble, DoctorReport& report) {
  std::vector<microseconds> times;
  for (int i = 0; i < round_trips; ++i) {
    const auto begin = Clock::now();
    pipeline(ensemble).ask(coordination::Exists{"/"});
    times.push_back(std::chrono::duration_cast<microseconds>(Clock::now() - begin));
  }
  std::sort(times.begin(), times.end());
  const microseconds median = times[times.size() / 2];
  const std::string text = "round trip " + latency_text(median) + " (median of " + std::to_string(round_trips) +
                           ", worst " + latency_text(times.back()) + ")";
  if (median > ensemble.core().settings().session_timeout() / 20) {
    report.warn("latency", text,
                "too slow for this session time-out: look for load, or raise zookeeper.session.timeout");
  } else {
    report.ok("latency", text);
  }
}

void examine_clock(EnsembleLink& ensemble, const std::string& path, WallTime before, DoctorReport& report) {
  const Reply reply = pipeline(ensemble).ask(coordination::Exists{path});
  if (!reply.ok()) return;
  const WallTime created(milliseconds(reply.stat.ctime_ms));
  const WallTime after = records::wall_time_now();
  const milliseconds skew = created < before ? before - created : created > after ? created - after : milliseconds(0);
  if (skew > clock_tolerance) {
    report.warn("clock", "the server's clock and ours differ by " + ms(skew),
                "synchronise them (NTP): times shown will be wrong; locks are not affected");
  } else {
    report.ok("clock", "the server's clock agrees with ours");
  }
}

// Does what every client does, on a monitor of its own.
void examine_locking(Client& client, EnsembleLink& ensemble, DoctorReport& report) {
  const std::string monitor = "forelock-doctor-" + records::make_guid();
  const std::string path = '/' + *lock::encode_monitor_name(monitor).name;
  const WallTime before = records::wall_time_now();
  const auto begin = Clock::now();
  try {
    BlockingWriteLock lock(client, "forelock doctor", monitor, Priority::background);
    lock.lock_with_timeout();
    const auto locked = Clock::now();
    examine_clock(ensemble, path, before, report);
    lock.unlock_or_throw();
    report.ok("lock", "locked and released a monitor of our own (lock " +
                          latency_text(std::chrono::duration_cast<microseconds>(locked - begin)) + ")");
  } catch (const Error& error) {
    const bool refused = error.code() == ErrorCode::not_authorized;
    report.fail("lock", error.what(),
                refused ? "grant create, delete, read and write on the namespace, or set zookeeper.auth.digest.file"
                        : error.hint(),
                refused ? exit_not_authorized : exit_unavailable);
  }
  if (pipeline(ensemble).ask(coordination::Delete{path}).code == ReplyCode::no_auth) {
    report.warn("remove", "unused monitors stay: deleting nodes is not permitted in the namespace",
                "grant delete on the namespace, or set zookeeper.monitor.linger=0: then the server removes them");
  }
}

// By which one compares what several programs, or nodes of a search engine, are configured for.
void examine_identity(Client& client, DoctorReport& report) {
  try {
    report.ok("identity", "the namespace is " + Inspector(client).identity());
  } catch (const Error& error) {
    report.warn("identity", error.what(), "grant create on the namespace once, and read");
  }
}

void examine_namespace(EnsembleLink& ensemble, DoctorReport& report) {
  RequestPipeline requests = pipeline(ensemble);
  Reply root = requests.ask(coordination::List{"/"});
  if (!root.ok()) {
    const bool refused = root.code == ReplyCode::no_auth;
    report.fail("namespace", "cannot list the namespace: " + std::string(client::reason_of(root.code)),
                "grant read on the namespace: ls and show need it", refused ? exit_not_authorized : exit_unavailable);
    return;
  }
  std::erase_if(root.children, [](const std::string& name) { return name.starts_with(lock::reserved_start); });
  std::size_t bytes = 0;
  for (const std::string& name : root.children) bytes += name.size() + 4;
  const std::string text = base::counted(root.children.size(), "node") + " in the namespace";
  if (bytes > long_listing) {
    report.warn("namespace", text + ": their listing nears the server's limit of 1 MiB",
                "split the namespace by chroots, or raise jute.maxbuffer");
  } else {
    report.ok("namespace", text);
  }

  std::vector<coordination::Request> requests_for_stats;
  for (std::size_t i = 0; i < std::min(most_monitors, root.children.size()); ++i) {
    requests_for_stats.emplace_back(coordination::Exists{'/' + root.children[i]});
  }
  std::size_t worn = 0;
  std::string example;
  for (std::size_t i = 0; const Reply& reply : requests.ask(std::move(requests_for_stats))) {
    const std::string& name = root.children[i++];
    if (!reply.ok() || reply.stat.created_children() < counter_alarm) continue;
    ++worn;
    example = lock::decode_monitor_name(name);
  }
  if (worn == 0) {
    report.ok("counters", "no monitor's counter is near its end");
  } else {
    report.warn("counters",
                base::counted(worn, "monitor has", "monitors have") + " counted past 2^30, for example " + example,
                "the counter ends at 2^31: delete such a monitor's node while it is unused");
  }
}

}  // namespace

void examine_session(Client& client, DoctorScope scope, DoctorReport& report) {
  EnsembleLink& ensemble = client.core()->ensemble();
  if (!examine_connection(ensemble, report)) return;
  try {
    examine_timeout(ensemble, report);
    if (scope == DoctorScope::quick) return;
    examine_latency(ensemble, report);
    examine_locking(client, ensemble, report);
    examine_identity(client, report);
    examine_namespace(ensemble, report);
  } catch (const Error& error) {
    report.fail("session", error.what(), error.hint(), exit_unavailable);
  }
}

}  // namespace forelock::cli
