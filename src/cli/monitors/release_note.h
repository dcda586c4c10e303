// A release note is left in the monitor's node when a lock is taken away by force, so that the former holder and every
// other client can read who did it and why.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "forelock/client.h"
#include "forelock/owner_record.h"

namespace forelock::cli {

struct ReleaseNote {
  WallTime at;
  std::string by;
  std::string reason;
  std::string holder;  // who lost it, as it was named
};

// Writes it as the data of the monitor's node, which nothing else uses and which goes with the idle monitor.
// \throws Error.
void leave_release_note(Client& client, const std::string& monitor, const ReleaseNote& note);

// Removes it: nothing was released. Never throws; what stays misleads only until the monitor is idle.
void withdraw_release_note(Client& client, const std::string& monitor) noexcept;

// The last one; nothing if there is none, or no answer within the time. Never throws.
std::optional<ReleaseNote> read_release_note(Client& client, const std::string& monitor,
                                             std::chrono::milliseconds within) noexcept;

nlohmann::ordered_json json_of(const ReleaseNote& note);

// "released by force 40 s ago by root@vm/4711: hangs, on call"
std::string text_of(const ReleaseNote& note);

}  // namespace forelock::cli
