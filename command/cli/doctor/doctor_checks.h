// The checks of `forelock doctor`, each in a source file of its own.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/doctor/doctor_report.h"
#include "forelock/client.h"
#include "forelock/settings.h"

namespace forelock::cli {

// The servers of an ensemble: names, ports, versions, roles, limits; and whether they are one ensemble.
void examine_servers(const Settings& settings, DoctorScope scope, DoctorReport& report);

// The value behind "name=" or "name\t" or "name: " at the beginning of a line of a four-letter word's answer; empty if
// there is none.
std::string value_in(const std::string& answer, const std::string& name);

// The session from inside: its speed, and what we may do in the namespace.
void examine_session(Client& client, DoctorScope scope, DoctorReport& report);

// The dead-letter queue: whether it can take a letter, and keeps what it takes. Locks work without it: it gives no more
// than warnings. Makes nothing.
void examine_dead_letters(const Settings& settings, const LogSink& log, DoctorReport& report);

}  // namespace forelock::cli
