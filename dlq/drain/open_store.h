// Opens the store that the settings select.
#pragma once

#include <memory>

#include "drain/letter_store.h"
#include "forelock/client.h"
#include "forelock/settings.h"

namespace forelock::drain {

enum class StoreKind {
  configured,  // Kafka's topic where kafka.bootstrap.servers is set, else the outbox
  outbox       // the outbox in any case: with Kafka, what has not been forwarded yet (and may be, at any moment)
};

// What it is opened for. To look makes, repairs and changes nothing.
enum class StoreAccess { change, look };

// \throws ConfigurationException, Error.
std::unique_ptr<LetterStore> open_store(const Settings& settings, StoreKind kind, LogSink log = {},
                                        StoreAccess access = StoreAccess::change);

}  // namespace forelock::drain
