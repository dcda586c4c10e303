// A function that a loaded object calls by a name that it imports.
#pragma once

namespace forelock::zookeeper {

// From here on the object that contains `inside` calls `replacement`. False if it imports no such function, or that
// cannot be told or changed. Other threads may call meanwhile.
bool replace_imported_function(const void* inside, const char* name, void* replacement);

}  // namespace forelock::zookeeper
