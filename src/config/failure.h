// The one way to refuse a whole file: a ConfigurationException with a single problem that is about no key.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "forelock/configuration_error.h"

namespace forelock::config {

[[noreturn]] inline void fail(std::string_view file, int line, std::string message, std::string hint) {
  throw ConfigurationException({{std::string(file), line, "", std::move(message), std::move(hint)}});
}

}  // namespace forelock::config
