#include "cli/monitors/forced_release.h"

#include <thread>

#include "cli/audit.h"
#include "cli/monitors/release_note.h"
#include "forelock/error.h"
#include "records/instance.h"
#include "records/session_text.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

bool is_named(const HolderView& holder, const std::string& name) {
  return name == node_of(holder) || name == known_as(holder);
}

// The request may have got through although its reply did not.
bool may_have_happened(const Error& error) {
  return error.code() == ErrorCode::connection_loss || error.code() == ErrorCode::session_expired ||
         error.code() == ErrorCode::server_error;
}

// Whether the holder that was there before certainly does not hold it any more. That it holds it still says nothing:
// the request may be on its way, and the server that is asked behind the others. So it is looked at for a moment.
bool is_gone(Inspector& inspector, const std::string& monitor, const HolderView& before) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  do {
    try {
      const std::optional<MonitorView> now = inspector.show(monitor);
      if (!now || !now->holder || now->holder->token != before.token) return true;
    } catch (const Error&) {
      // Not known yet: the look may have met the end of the same connection.
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  } while (std::chrono::steady_clock::now() < until);
  return false;
}

// It is done: a problem of the look changes nothing.
void look_after(Inspector& inspector, AuditRecord& record) {
  try {
    record.after = inspector.holder(record.monitor);
    record.looked_after = true;
  } catch (const Error&) {
    record.looked_after = false;
  }
}

ReleaseOutcome outcome_of(ForceReleaseResult result) {
  switch (result) {
    case ForceReleaseResult::released:
      return ReleaseOutcome::released;
    case ForceReleaseResult::holder_changed:
      return ReleaseOutcome::holder_changed;
    case ForceReleaseResult::no_such_monitor:
      break;
  }
  return ReleaseOutcome::no_such_monitor;
}

}  // namespace

ReleaseReport force_release(Client& client, std::chrono::milliseconds patience, const Console& console,
                            const ForcedRelease& release, const std::function<bool(const HolderView&)>& only_if) {
  Inspector inspector(client, patience);
  const std::optional<MonitorView> view = inspector.show(release.monitor);
  if (!view) return {ReleaseOutcome::no_such_monitor, {}, {}};
  ReleaseReport report{ReleaseOutcome::holder_changed, view->holder, {}};
  // A note would keep the monitor's node.
  if (!view->holder || !is_named(*view->holder, release.holder) || !only_if(*view->holder)) return report;
  const std::optional<std::string> data = data_of_monitor(client, release.monitor);

  const std::string by = (release.by.empty() ? acting_user() : release.by) + '@' + records::process_identity();
  AuditRecord record{release.action, by, release.monitor, release.holder, view->holder,
                     false,          {}, release.reason,  begun};
  audit(record, console);
  // Before the deed: the victim reads it as soon as it learns of its loss.
  try {
    if (data) {
      leave_release_note(client, release.monitor, *data,
                         {records::wall_time_now(), by, release.reason, release.holder, view->holder->token});
    }
  } catch (const Error& error) {
    // No lock was taken away, but the note may stand.
    record.result = may_have_happened(error) ? "unknown" : "failed";
    audit(record, console);
    throw;
  }
  try {
    report.outcome = outcome_of(inspector.force_release(release.monitor, release.holder, only_if));
  } catch (const Error& error) {
    if (!may_have_happened(error)) {
      if (data) withdraw_release_note(client, release.monitor, *data);
      record.result = "failed";
      audit(record, console);
      throw;
    }
    if (is_gone(inspector, release.monitor, *view->holder)) {
      report.outcome = ReleaseOutcome::released;
    } else {
      report.outcome = ReleaseOutcome::unknown;  // the note stays: it may be true
      report.problem = std::current_exception();
    }
  }
  if (report.outcome == ReleaseOutcome::released) {
    record.result = "released";
    look_after(inspector, record);
  } else if (report.outcome == ReleaseOutcome::unknown) {
    record.result = "unknown";
  } else {
    if (data) withdraw_release_note(client, release.monitor, *data);
    record.result = "holder_changed";
  }
  audit(record, console);
  return report;
}

std::string node_of(const HolderView& holder) {
  return holder.node.value_or(records::session_text(holder.session));
}

std::string known_as(const HolderView& holder) {
  return node_of(holder) + '@' + std::to_string(holder.token);
}

}  // namespace forelock::cli
