// The doctor's look at the dead-letter queue: can it take a letter, and does it keep what it takes?
#pragma once

#include "cli/doctor_report.h"
#include "forelock/client.h"
#include "forelock/settings.h"

namespace forelock::cli {

// Locks work without it: it gives no more than warnings. Makes nothing.
void examine_dead_letters(const Settings& settings, const LogSink& log, DoctorReport& report);

}  // namespace forelock::cli
