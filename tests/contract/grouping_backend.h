// A backend whose sessions group their transactions: grouping keeps the promises of the session below it.
#pragma once

#include "contract/backend.h"

namespace forelock::contract {

// Every transaction counts as groupable, and one under way holds the next ones back.
BackendMaker grouping(BackendMaker below);

}  // namespace forelock::contract
