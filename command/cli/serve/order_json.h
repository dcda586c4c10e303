// Orders of nested locks as JSON, and in a sentence.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/serve/lock_orders.h"

namespace forelock::cli {

// "P2 is locked inside P1 by …, and P1 inside P2 by …"
std::string sentence_of(const OrderWarning& warning);

// {"sentence","last_seen","orders":[{"outer","inner","who","info","first_seen","last_seen","looks","outer_stack",
// "inner_stack"}]}
nlohmann::ordered_json json_of(const OrderWarning& warning);

}  // namespace forelock::cli
