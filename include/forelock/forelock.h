/// \file
/// Convenience header: includes the whole public API.
#pragma once

#if __cplusplus <= 201703L
#error "forelock needs C++20: -std=c++20, or target_compile_features(... cxx_std_20). C programs: forelock/c.h"
#else

#include "forelock/async_write_lock.h"
#include "forelock/blocking_write_lock.h"
#include "forelock/client.h"
#include "forelock/dead_letter_queue.h"
#include "forelock/dead_letter_replay.h"
#include "forelock/dead_letter_sink.h"
#include "forelock/error.h"
#include "forelock/inspector.h"
#include "forelock/lock_set.h"
#include "forelock/operation.h"
#include "forelock/operation_runner.h"
#include "forelock/settings.h"
#include "forelock/synchronized.h"
#include "forelock/tracing.h"
#include "forelock/version.h"

#endif
