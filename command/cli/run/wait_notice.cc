#include "cli/run/wait_notice.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/connection.h"
#include "cli/left_behind.h"
#include "cli/monitors/views_text.h"
#include "cli/output/quantity_text.h"
#include "forelock/error.h"
#include "forelock/inspector.h"

namespace forelock::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds first_after{1};
constexpr std::chrono::seconds again_after{60};
constexpr std::chrono::seconds patience_of_look{1};

std::string notice_of(const MonitorView& view, std::int64_t session) {
  std::string text = "waiting for " + view.monitor;
  if (view.holder) {
    text += ", held by " + who(view.holder->owner, view.holder->session) + " for " + duration_text(view.holder->held);
  }
  const auto ours = std::find_if(view.queue.begin(), view.queue.end(),
                                 [session](const WaiterView& waiter) { return waiter.session == session; });
  if (ours != view.queue.end()) text += "; place " + std::to_string(ours->position) + " in the queue";
  return text;
}

std::string notice(Client& client, const std::string& monitor) {
  if (!client.connected()) {
    const std::string problem = client.last_problem();
    return "waiting for " + monitor + ": no connection to ZooKeeper yet" + (problem.empty() ? "" : ": " + problem);
  }
  const std::optional<MonitorView> view = Inspector(client, patience_of_look).show(monitor);
  return view ? notice_of(*view, client.session_id()) : "";
}

}  // namespace

WaitNotice::WaitNotice(std::shared_ptr<Client> client, std::function<std::string()> monitor, const Console& console)
    : client_(std::move(client)), monitor_(std::move(monitor)), console_(console), due_(Clock::time_point::max()) {
  const bool wanted = console.verbosity() > 0 || isatty(STDERR_FILENO) == 1;
  if (wanted && console.text() && !console.quiet()) due_ = Clock::now() + first_after;
}

void WaitNotice::give() {
  due_ = Clock::now() + again_after;
  do_in_background([client = client_, monitor = monitor_(), console = console_] {
    const std::string text = notice(*client, monitor);  // what cannot be seen now is no news
    if (!text.empty()) console.note(text);
  });
}

}  // namespace forelock::cli
