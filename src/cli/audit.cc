#include "cli/audit.h"

#include <syslog.h>

#include <nlohmann/json.hpp>

#include "cli/acting_user.h"
#include "cli/json_text.h"
#include "cli/views_json.h"
#include "records/instance.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

void write_line(const nlohmann::ordered_json& json, const Console& console) {
  const std::string line = json_text(json);
  if (console.text()) {
    console.warn("audit: " + line);
  } else {
    write_json_to_stderr({{"audit", json}});
  }
  openlog("forelock", LOG_PID, LOG_AUTH);
  syslog(LOG_NOTICE, "%s", line.c_str());
  closelog();
}

nlohmann::ordered_json common_part(const std::string& action) {
  return {{"action", action},
          {"at", records::format_wall_time(records::wall_time_now())},
          {"by", acting_user() + '@' + records::process_identity()}};
}

}  // namespace

void audit(const AuditRecord& record, const Console& console) {
  nlohmann::ordered_json json = common_part(record.action);
  json["monitor"] = record.monitor;
  json["holder"] = record.holder;
  json["held_by"] = record.view ? json_of(*record.view) : nlohmann::ordered_json(nullptr);
  json["reason"] = record.reason;
  json["result"] = record.result;
  write_line(json, console);
}

void audit_drain(const DrainAudit& record, const Console& console) {
  nlohmann::ordered_json json = common_part(record.action);
  json["store"] = record.store;
  json["token"] = record.token;
  json["which"] = record.which;
  json["result"] = record.result;
  write_line(json, console);
}

}  // namespace forelock::cli
