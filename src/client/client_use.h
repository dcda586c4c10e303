// The purpose for which a client is made.
#pragma once

namespace forelock::client {

enum class ClientUse {
  locks,
  looks,            // makes neither the chroot nor the map of the ensembles; without them there is nothing to see
  looks_at_any_map  // the same, served whatever the map is (ensembles/map_agreement.h): for tools that look at one
};

}  // namespace forelock::client
