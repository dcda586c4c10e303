// Acts of admins on dead letters, through the page. Each blocks, and is audited.
#pragma once

#include <string>

#include "cli/output/console.h"
#include "forelock/client.h"
#include "forelock/settings.h"
#include "web/site.h"

namespace forelock::cli {

// Puts a parked letter back into the queue, as `forelock dlq unpark ID` does. \throws Error, FailureException.
web::Response unpark_letter(const Settings& settings, const LogSink& log, const Console& console, const std::string& id,
                            const std::string& by, const std::string& reason);

// Sends what waits in this machine's outbox to Kafka, for a while at most: where a forwarder is at work this one takes
// over should it end, else it forwards itself. \throws Error, ConfigurationException.
web::Response forward_letters(const Settings& settings, const LogSink& log, const Console& console,
                              const std::string& by, const std::string& reason);

}  // namespace forelock::cli
