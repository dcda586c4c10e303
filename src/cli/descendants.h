// The descendants of a process, wherever they have gone: a process group of their own hides nobody from /proc.
#pragma once

#include <sys/types.h>

#include <vector>

namespace forelock::cli {

// Makes orphaned descendants of this process its children, so that descendants_of finds them. The caller reaps them.
void adopt_orphans();

// Parents come before their children; zombies are left out. A moment later there may be more or fewer. Empty where
// there is no /proc.
std::vector<pid_t> descendants_of(pid_t ancestor);

// Sends SIGKILL to each of them, again and again until none is left that was not killed: those who fork meanwhile do
// not escape, unless they are faster than a bounded number of looks.
void kill_descendants(pid_t ancestor);

}  // namespace forelock::cli
