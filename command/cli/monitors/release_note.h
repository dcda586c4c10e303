// A release note is left in the monitor's node when a lock is taken away by force, so that the former holder and every
// other client can read who did it and why.
#pragma once

#include <chrono>
#include <cstdint>
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
  std::string holder;      // who lost it, as it was named
  std::int64_t token = 0;  // of that grant; 0: not known
};

// Whether a monitor with these data was made by a process of ours, which may remove it when it is unused.
bool made_by_forelock(const std::string& data);

// The data of the monitor's node, which a note would take the place of; nothing where it is not there. \throws Error.
std::optional<std::string> data_of_monitor(Client& client, const std::string& monitor);

// Writes it as the data of the monitor's node, which goes with the unused monitor, unless those before are another
// program's. \throws Error: then it may have been written.
void leave_release_note(Client& client, const std::string& monitor, const std::string& before, const ReleaseNote& note);

// Puts back what was there before: nothing was released. Never throws; what stays misleads only until the monitor is
// removed.
void withdraw_release_note(Client& client, const std::string& monitor, const std::string& before) noexcept;

// The last one; nothing if there is none, or no answer within the time. Never throws.
std::optional<ReleaseNote> read_release_note(Client& client, const std::string& monitor,
                                             std::chrono::milliseconds within) noexcept;

nlohmann::ordered_json json_of(const ReleaseNote& note);

// "released by force 40 s ago by root@vm/4711: hangs, on call"
std::string text_of(const ReleaseNote& note);

}  // namespace forelock::cli
