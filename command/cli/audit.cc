#include "cli/audit.h"

#include <pwd.h>
#include <syslog.h>
#include <unistd.h>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/audit_file.h"
#include "cli/failure.h"
#include "cli/monitors/views_json.h"
#include "cli/output/json_output.h"
#include "records/instance.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

// \throws FailureException where nothing has been done yet, and must not be without a record of it.
void keep(const std::string& line, bool is_begin, const Console& console) {
  try {
    AuditFile::instance().append(line);
  } catch (const FailureException& problem) {
    if (is_begin) throw;
    console.warn(problem.failure().message);
  }
  openlog("forelock", LOG_PID, LOG_AUTH);
  syslog(LOG_NOTICE, "%s", line.c_str());
  closelog();
}

void write_line(const nlohmann::ordered_json& json, const Console& console) {
  const std::string line = json_text(json);
  keep(line, json["result"] == begun, console);
  if (console.text()) {
    console.warn("audit: " + line);
  } else {
    write_json_to_stderr({{"audit", json}});
  }
}

// That an act has begun goes not to stderr.
void write(const nlohmann::ordered_json& json, const Console& console) {
  if (json["result"] == begun) {
    keep(json_text(json), true, console);
  } else {
    write_line(json, console);
  }
}

nlohmann::ordered_json common_part(const std::string& action, const std::string& by) {
  return {{"action", action}, {"at", records::format_wall_time(records::wall_time_now())}, {"by", by}};
}

std::string name_of(uid_t user) {
  const passwd* entry = getpwuid(user);
  return entry != nullptr ? entry->pw_name : std::to_string(user);
}

// Empty without a login: in a container, in a service.
std::string login_name() {
  std::uint32_t login = std::numeric_limits<std::uint32_t>::max();
  if (!(std::ifstream("/proc/self/loginuid") >> login)) return {};
  return login == std::numeric_limits<std::uint32_t>::max() ? "" : name_of(login);
}

}  // namespace

void audit(const AuditRecord& record, const Console& console) {
  nlohmann::ordered_json json = common_part(record.action, record.by);
  json["monitor"] = record.monitor;
  json["holder"] = record.holder;
  json["held_by"] = record.view ? json_of(*record.view) : nlohmann::ordered_json(nullptr);
  if (record.looked_after)
    json["then_held_by"] = record.after ? json_of(*record.after) : nlohmann::ordered_json(nullptr);
  json["reason"] = record.reason;
  json["result"] = record.result;
  write(json, console);
}

void audit_wish(const WishAudit& record, const Console& console) {
  nlohmann::ordered_json json = common_part("prioritize", record.by);
  json["monitor"] = record.monitor;
  json["waiter"] = record.waiter;
  json["waited"] = record.view ? json_of(*record.view) : nlohmann::ordered_json(nullptr);
  json["class"] = std::string(name_of(record.priority));
  if (!record.node.empty()) json["node"] = record.node;
  json["reason"] = record.reason;
  json["result"] = record.result;
  write(json, console);
}

void audit_drain(const DrainAudit& record, const Console& console) {
  const std::string by = record.by.empty() ? acting_user() : record.by;
  nlohmann::ordered_json json = common_part(record.action, by + '@' + records::process_identity());
  json["store"] = record.store;
  json["token"] = record.token;
  json["which"] = record.which;
  if (!record.reason.empty()) json["reason"] = record.reason;
  json["result"] = record.result;
  write_line(json, console);
}

std::string acting_user() {
  const std::string own = name_of(geteuid());
  std::string person = login_name();
  const char* const sudo = std::getenv("SUDO_USER");
  if (person.empty() && sudo != nullptr) person = sudo;
  return person.empty() || person == own ? own : person + " (as " + own + ')';
}

}  // namespace forelock::cli
