// Answers for the page about dead letters and the audit file. Each reads, and blocks meanwhile.
#pragma once

#include <string>

#include "drain/letter_filter.h"
#include "forelock/client.h"
#include "forelock/settings.h"
#include "web/site.h"

namespace forelock::cli {

struct LettersQuestion {
  drain::LetterFilter filter;
  std::size_t most = 100;
};

// "reason=…&type=…&monitor=…&parked=1&limit=20". \throws FailureException (usage) for what is no question.
LettersQuestion parse_letters_question(const std::string& query);

// As `forelock dlq stats -o json`, with "list": as `forelock dlq list`, the oldest of each monitor first, and "more".
// \throws Error, ConfigurationException.
web::Response letters_answer(const Settings& settings, const LogSink& log, const LettersQuestion& question);
// As `forelock dlq show -o json`, without the payload's data, and with "commands" to replay and to park it.
web::Response letter_answer(const Settings& settings, const LogSink& log, const std::string& id);
// The payload, unchanged.
web::Response payload_answer(const Settings& settings, const LogSink& log, const std::string& id);

// {"acts":[…],"more"}: of the file's last MiB, the newest first. `query`: "monitor=…&limit=100".
web::Response audit_answer(const std::string& path, const std::string& query);

}  // namespace forelock::cli
