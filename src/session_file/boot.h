// The current boot of this machine, and the file systems on which a lock proves that a process has ended.
#pragma once

#include <string>

namespace forelock::session_file {

// Differs from one start of the machine to the next, and is the same in all of its containers. Empty if it cannot be
// read.
std::string boot_id();

// Whether a flock() on a file system of this type (statfs::f_type) is this machine's alone, and lasts exactly as long
// as the last descriptor of those who took it. On network file systems it can be lost while they live.
bool locks_last(long file_system);

bool is_overlay(long file_system);

}  // namespace forelock::session_file
