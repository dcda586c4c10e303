/// \file
/// The two classes of work that contend for a monitor.
#pragma once

namespace forelock {

/// Foreground work (a person waits for it) always goes before background work (bulk) on the same monitor.
enum class Priority { foreground, background };

}  // namespace forelock
