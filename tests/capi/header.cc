// forelock/c.h compiles as C++, alone.
#include "forelock/c.h"

static_assert(sizeof(fl_event) == 72, "the layout of events is that of C");

int header_in_cpp() {
  fl_event event{};
  return event.kind + fl_is_retryable(FL_LOCK_TIMEOUT) + fl_check_abi(FL_ABI_VERSION);
}
