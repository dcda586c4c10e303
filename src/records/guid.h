// Names for acquisitions, unique in the world.
#pragma once

#include <string>

namespace forelock::records {

// A random UUID (version 4), lower case, from the kernel's random numbers: nothing is buffered, so a forked child
// cannot repeat its parent's. \throws Error(internal) if the kernel has none.
std::string make_guid();

}  // namespace forelock::records
