/* forelock/c.h compiles as C11, alone, and a program can be written with nothing else. */
#include "forelock/c.h"
#if UINTPTR_MAX == 0xffffffffffffffff
#include "layout.h"
#endif

int header_in_c(void);
int header_in_c(void) {
  fl_event event = {.kind = FL_EVENT_ACQUIRED};
  return event.kind + fl_is_retryable(FL_LOCK_TIMEOUT) + fl_check_abi(FL_ABI_VERSION);
}
