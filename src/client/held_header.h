// The value of the header X-Forelock-Held, which declares a held lock to a search engine (docs/opensearch.md).
#pragma once

#include <string>
#include <vector>

#include "forelock/lock_set.h"

namespace forelock::client {

// `monitor=token, monitor=token`, with monitors percent-encoded.
// \throws RequestRejectedException(invalid_argument) if one was never granted.
std::string held_header(const std::vector<MemberToken>& tokens);

}  // namespace forelock::client
