// The file of `serve --admin`: who may act.
#pragma once

#include <string>
#include <vector>

#include "web/admins.h"

namespace forelock::cli {

// Lines of NAME, TOKEN (at least 32 characters), and if it is to end a time, 2026-12-31T00:00:00Z; empty lines, and
// those that begin with '#', are left out. The file is closed to others. \throws FailureException (78), which says
// nothing of a token.
std::vector<web::Admin> read_admins(const std::string& path);

}  // namespace forelock::cli
