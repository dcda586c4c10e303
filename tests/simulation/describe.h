// Requests, replies and events in words, for timelines.
#pragma once

#include "coordination/reply.h"
#include "coordination/request.h"
#include "coordination/session.h"
#include "lock/engine_types.h"
#include "support/standard.h"

namespace forelock::simulation {

std::string describe(const coordination::Request& request);
std::string describe(const coordination::Reply& reply);
std::string describe(const coordination::WatchEvent& event);
std::string describe(const coordination::SessionEvent& event);
std::string_view name_of(lock::RefusalReason reason);
std::string_view name_of(lock::ReleaseOutcome outcome);

}  // namespace forelock::simulation
