// The events that streams are told of a picture: how it differs from the one before.
#pragma once

#include <vector>

#include "cli/serve/picture.h"
#include "web/site.h"

namespace forelock::cli {

// "change" for each monitor that is not as it was: as `forelock watch` tells it, besides "overdue", and "unreadable"
// and "readable" where the credentials may not read it any more, or again; "lock_order" for each new warning.
std::vector<web::Event> changes_between(const Picture& before, const Picture& now);

}  // namespace forelock::cli
