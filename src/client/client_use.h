// The purpose for which a client is made.
#pragma once

namespace forelock::client {

enum class ClientUse {
  locks,
  looks  // does not make the chroot: without it there is nothing to see
};

}  // namespace forelock::client
