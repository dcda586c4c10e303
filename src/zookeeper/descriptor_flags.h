// Keeps the C client's descriptors from leaking into programs that the host executes.
//
// The C client sets close-on-exec neither on its pipe nor on its sockets, and shows neither. They are found in
// /proc/self/fd; where that is missing, nothing is protected. A program executed between the moment a socket is made
// and the moment the session is connected still inherits it: nothing outside the C client can close that gap.
#pragma once

#include <sys/socket.h>

#include <vector>

namespace forelock::zookeeper {

// Sorted.
std::vector<int> open_descriptors();

// Finds the pipes that came into being since `before` and look like the C client's (both ends here, non-blocking, no
// close-on-exec), sets close-on-exec, and enlarges them: the client writes one byte for each request, and when the pipe
// is full it drops the connection.
void protect_new_pipes(const std::vector<int>& before);

// Sets close-on-exec on every stream socket that is connected to this peer.
void protect_sockets_to(const sockaddr* peer);

}  // namespace forelock::zookeeper
