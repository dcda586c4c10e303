// Files and directories that only their owner can read, and names that survive a power failure.
#pragma once

#include <filesystem>

namespace forelock::outbox {

// Opens or makes a file of mode 0600, whatever the umask, for reading and writing. Where it has to be made by root, it
// belongs to the owner of `neighbour` (or, if there is none, of the directory): root must not lock a service out of
// its own outbox. An existing one that cannot be written is opened for reading. \returns a descriptor.
// \throws std::system_error.
int open_private(const std::filesystem::path& path, const std::filesystem::path& neighbour, bool must_be_new);

// Makes a directory, and those above it, of mode 0700; leaves existing ones alone. \throws std::system_error.
void make_private_directory(const std::filesystem::path& path);

// Makes the names in a directory durable. \throws std::system_error.
void sync_directory(const std::filesystem::path& path);

}  // namespace forelock::outbox
