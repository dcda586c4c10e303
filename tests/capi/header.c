/* forelock/c.h compiles as C11, alone, and a program can be written with nothing else. */
#include "forelock/c.h"

_Static_assert(sizeof(fl_handle) == 8, "a handle is a number of 64 bits");
_Static_assert(sizeof(fl_event) == 72, "the layout of events does not change");

int header_in_c(void);
int header_in_c(void) {
  fl_event event = {.kind = FL_EVENT_ACQUIRED};
  return event.kind + fl_is_retryable(FL_LOCK_TIMEOUT) + fl_check_abi(FL_ABI_VERSION);
}
