// The doctor's look from inside: the session, its speed, and what we may do in the namespace.
#pragma once

#include "cli/doctor_report.h"
#include "forelock/client.h"

namespace forelock::cli {

void examine_session(Client& client, DoctorScope scope, DoctorReport& report);

}  // namespace forelock::cli
