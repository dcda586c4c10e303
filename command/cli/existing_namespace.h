// Commands that only look do not make the namespace (the chroot); they say that it is missing.
#pragma once

#include "cli/failure.h"
#include "forelock/client.h"

namespace forelock::cli {

// \throws FailureException if the chroot does not exist in the ensemble, and Error if that cannot be found out within
// the patience of a look.
void require_namespace(const Client& client);

// How it is said.
Failure missing_namespace(const std::string& chroot, const std::string& servers);

}  // namespace forelock::cli
