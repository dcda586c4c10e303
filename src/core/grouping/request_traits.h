// Facts about a request that decide with which others it may share a group.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "coordination/request.h"

namespace forelock::grouping {

const std::string& path_of(const coordination::Operation& operation);

// "P1" of "/P1/privateLock".
std::string_view monitor_of(const coordination::Request& request);

// In bytes on the wire, about.
std::size_t size_of(const coordination::Transaction& transaction, std::size_t root_bytes);

// Unused monitors: nothing of theirs is under way. Or they are the last requests of a session, and follow releases.
bool removes_monitors(const coordination::Request& request);

// It makes the monitor's node itself, and so names none that was there before.
bool makes_monitor(const coordination::Transaction& transaction);

// It names nodes that were in the monitor when it was decided.
bool names_nodes(const coordination::Request& request);

// A child that comes and goes in the transaction changes nothing that another request rests on.
bool knocks(const coordination::Request& request);

}  // namespace forelock::grouping
