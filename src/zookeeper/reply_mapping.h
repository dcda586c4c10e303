// Converts the C client's numbers and structures to this library's.
#pragma once

#include <zookeeper/zookeeper.h>

#include "coordination/reply.h"

namespace forelock::zookeeper {

coordination::ReplyCode reply_code(int client_code);
coordination::Stat to_stat(const ::Stat& stat);

}  // namespace forelock::zookeeper
