// Replays by a handler of the application: the implementation of DeadLetterQueue::replay(), over a Replayer.
#pragma once

#include <stop_token>

#include "drain/replayer.h"
#include "forelock/client.h"
#include "forelock/dead_letter_replay.h"
#include "forelock/settings.h"

namespace forelock::drain {

// A target that calls the handler, which must outlive it.
LetterTarget handler_target(const ReplayHandler& handler);

// The log gets a line when the replay may begin, and one when it has ended. \throws as DeadLetterQueue::replay().
ReplayReport replay_by_handler(Client& client, const Settings& settings, const ReplayHandler& handler,
                               const ReplayOptions& options, std::stop_token stop, const LogSink& log);

// \throws as DeadLetterQueue::preview_replay().
ReplayPreview preview_replay(const Settings& settings, const ReplayOptions& options, const LogSink& log);

}  // namespace forelock::drain
