#include "forward/open_outbox.h"

#include <utility>

#include "forelock/error.h"

namespace forelock::forward {

bool kafka_is_configured(const Settings& settings) {
  return settings.kafka().contains("bootstrap.servers");
}

outbox::OutboxOptions outbox_options(const Settings& settings, LogSink log) {
  if (settings.outbox_path().empty()) {
    throw Error(ErrorCode::outbox_unavailable, "",
                "there is no place for the outbox: neither XDG_STATE_HOME nor HOME names a folder",
                "set dlq.outbox.path");
  }
  return {.path = settings.outbox_path(), .max_bytes = settings.outbox_max_bytes(), .log = std::move(log)};
}

}  // namespace forelock::forward
