// Replies of a server that says anything: of the right shape for their request, and that is all.
#pragma once

#include "coordination/session.h"
#include "engine/bytes.h"

namespace forelock::fuzz {

coordination::Reply arbitrary_reply(const coordination::Request& request, coordination::SessionId session,
                                    Bytes& bytes);

}  // namespace forelock::fuzz
