// The doctor's look at the servers from outside: names, ports, versions, roles, limits.
#pragma once

#include "cli/doctor_report.h"
#include "forelock/settings.h"

namespace forelock::cli {

void examine_servers(const Settings& settings, DoctorScope scope, DoctorReport& report);

// The value behind "name=" or "name\t" or "name: " at the beginning of a line of a four-letter word's answer; empty if
// there is none.
std::string value_in(const std::string& answer, const std::string& name);

}  // namespace forelock::cli
