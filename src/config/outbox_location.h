// The default location of the outbox.
#pragma once

#include <string>

namespace forelock::config {

// $XDG_STATE_HOME/forelock/outbox.db, or ~/.local/state/forelock/outbox.db. Empty when there is no home folder.
std::string default_outbox_path();

}  // namespace forelock::config
