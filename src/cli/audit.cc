#include "cli/audit.h"

#include <syslog.h>

#include <nlohmann/json.hpp>

#include "cli/acting_user.h"
#include "cli/views_json.h"
#include "records/instance.h"
#include "records/wall_time.h"

namespace forelock::cli {
void audit(const AuditRecord& record, const Console& console) {
  const nlohmann::ordered_json json = {
      {"action", record.action},
      {"at", records::format_wall_time(records::wall_time_now())},
      {"by", acting_user() + '@' + records::process_identity()},
      {"monitor", record.monitor},
      {"holder", record.holder},
      {"held_by", record.view ? json_of(*record.view) : nlohmann::ordered_json(nullptr)},
      {"reason", record.reason},
      {"result", record.result}};
  const std::string line = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  console.warn("audit: " + line);
  openlog("forelock", LOG_PID, LOG_AUTH);
  syslog(LOG_NOTICE, "%s", line.c_str());
  closelog();
}

}  // namespace forelock::cli
