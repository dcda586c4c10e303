"""Events of the library, and their receivers."""

from __future__ import annotations

import logging
from typing import Any, Callable, NamedTuple, Union

from forelock._green import raise_in_main
from forelock.errors import Error, make_error

LOG = logging.getLogger("forelock")


class Event(NamedTuple):
    """One event, copied."""

    kind: int
    code: int
    source: int
    value: int
    retryable: bool
    monitor: str
    name: str
    message: str
    hint: str

    def error(self) -> Error:
        """The exception of an event whose code is not FL_OK."""
        return make_error(self.code, self.monitor, self.message, self.hint, self.retryable)


Receiver = Callable[[Event], None]


def is_of_main(error: BaseException) -> bool:
    """Whether it was a Ctrl-C, raised in the running greenlet: if so, it is now raised in the main one."""
    return isinstance(error, KeyboardInterrupt) and raise_in_main(error)


def call(receiver: Receiver, event: Event) -> None:
    """Calls a receiver. An exception of a callback, SystemExit included, must not end the others."""
    try:
        receiver(event)
    except BaseException as error:
        if is_of_main(error):
            return
        write_log(logging.ERROR, "a callback failed (lock on %s)", event.monitor, exc_info=True)


def write_log(level: int, message: str, *arguments: Any, exc_info: Union[bool, BaseException] = False) -> None:
    """Writes a log line; swallows exceptions of the application's log handlers."""
    try:
        LOG.log(level, message, *arguments, exc_info=exc_info)
    except BaseException:
        pass
