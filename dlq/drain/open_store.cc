#include "drain/open_store.h"

#include <utility>

#include "drain/drainer_lock.h"
#include "drain/kafka_store.h"
#include "drain/outbox_store.h"
#include "forelock/error.h"
#include "outbox/outbox.h"

namespace forelock::drain {

std::unique_ptr<LetterStore> open_store(const Settings& settings, StoreKind kind, LogSink log, StoreAccess access) {
  std::string monitor = drainer_monitor(settings, kind);
  if (kind == StoreKind::configured && settings.kafka().contains("bootstrap.servers")) {
    return std::make_unique<KafkaStore>(settings, std::move(monitor), std::move(log));
  }
  if (settings.outbox_path().empty()) {
    throw Error(ErrorCode::outbox_unavailable, "",
                "there is no place for the outbox: neither XDG_STATE_HOME nor HOME names a folder",
                "Set dlq.outbox.path.");
  }
  auto outbox = std::make_unique<outbox::Outbox>(outbox::OutboxOptions{.path = settings.outbox_path(),
                                                                       .max_bytes = settings.outbox_max_bytes(),
                                                                       .log = std::move(log),
                                                                       .read_only = access == StoreAccess::look});
  return std::make_unique<OutboxStore>(std::move(outbox), std::move(monitor));
}

}  // namespace forelock::drain
