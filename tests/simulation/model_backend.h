// The model as a backend of the contract tests: it must keep the same promises as a real server.
#pragma once

#include "contract/backend.h"

namespace forelock::simulation {

// `servers`: 1, or more, of which all but the first lag behind.
std::unique_ptr<contract::Backend> make_model_backend(int servers);

}  // namespace forelock::simulation
