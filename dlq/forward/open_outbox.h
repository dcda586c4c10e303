// Opens the outbox that the settings name, and checks their Kafka settings.
#pragma once

#include "forelock/client.h"
#include "forelock/settings.h"
#include "outbox/outbox.h"

namespace forelock::forward {

// Whether letters go on to Kafka; else the outbox is the queue.
bool kafka_is_configured(const Settings& settings);

// \throws Error(outbox_unavailable) if there is no path to put it.
outbox::OutboxOptions outbox_options(const Settings& settings, LogSink log);

}  // namespace forelock::forward
