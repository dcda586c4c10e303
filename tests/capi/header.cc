// forelock/c.h compiles as C++, alone.
#include "forelock/c.h"
#if UINTPTR_MAX == 0xffffffffffffffff
#include "layout.h"
#endif

int header_in_cpp() {
  fl_event event{};
  return event.kind + fl_is_retryable(FL_LOCK_TIMEOUT) + fl_check_abi(FL_ABI_VERSION);
}
