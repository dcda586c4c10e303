#pragma once

#include <sys/resource.h>

#include "support/standard.h"

namespace forelock::test {

// Limits of a user bind no superuser, and count all of the user's processes. So a part of a test runs in a child of a
// user that has no other process, which needs the rights of root.
bool can_be_another_user();

// What the function returns there, or 128 and the number of the signal that has ended the child. Only while this
// process has no thread whose state the function needs.
int run_as_another_user(const std::function<int()>& function);

// The limit that this process has until it sets another one; nothing can be restored above it.
rlim_t hard_limit(int resource);
void set_limit(int resource, rlim_t limit);

}  // namespace forelock::test
