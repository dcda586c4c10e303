/// \file
/// The version of the headers; version() is that of the library that runs.
#pragma once

#include <string_view>

#include "forelock/export.h"

#define FORELOCK_VERSION_MAJOR 0  ///< of the headers
#define FORELOCK_VERSION_MINOR 1  ///< of the headers
#define FORELOCK_VERSION_PATCH 0  ///< of the headers

namespace forelock {

/// "major.minor.patch" of the library that is linked.
FORELOCK_EXPORT std::string_view version() noexcept;

}  // namespace forelock
