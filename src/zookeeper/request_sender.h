// Passes a request to the C client's asynchronous call.
#pragma once

#include <zookeeper/zookeeper.h>

#include <cstddef>

#include "coordination/request.h"
#include "zookeeper/acl_vector.h"
#include "zookeeper/call_pool.h"

namespace forelock::zookeeper {

// The one function that receives the watch and session events of a handle; its context is the SessionCore. One function
// with one context means that the C client reports each event once.
void receive_watch(zhandle_t* handle, int type, int state, const char* path, void* context);

// The length that the server compares with its limit: the packet without its own four-byte length. `acl_bytes` is the
// size of one access control list. Paths count as they are, so they have to be absolute already.
std::size_t request_size(const coordination::Request& request, std::size_t acl_bytes);

// Starts the call whose completion (completions.h) reports to call->owner. The request's paths are absolute and valid
// (is_valid_path): with an invalid one zoo_amulti frees memory that is not its own. The request is not needed
// afterwards. Returns the C client's code; unless that is ZOK there will be no completion.
//
// The handle must be connected, and its session must not end during the call, for the same reason: zoo_amulti goes
// wrong with the operation behind the one at which it notices that. (Seen in 3.8.0.)
int send_request(zhandle_t* handle, const AclVector& acl, Call* call, const coordination::Request& request);

}  // namespace forelock::zookeeper
