// The identity of this process for others: `host/pid/thread`.
#pragma once

#include <string>
#include <string_view>

namespace forelock::records {

// "host/pid" of this process. A slash in the host's name would be taken for a separator and becomes '_'.
std::string process_identity();

// The calling thread: "main", its name if it was given one of its own, else its kernel number. Looked up once a thread.
const std::string& thread_identity();

// "host/pid/thread"; `thread` is used as it is, except for slashes.
std::string instance_identity(std::string_view process, std::string_view thread);

}  // namespace forelock::records
