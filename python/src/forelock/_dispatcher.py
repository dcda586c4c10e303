"""A Dispatcher fetches a client's events on one Python thread, gives each to its receiver, and frees the client.

No native thread ever enters Python: this thread waits in fl_poll() without the interpreter's lock.
"""

from __future__ import annotations

import itertools
import logging
import threading
from typing import Any, Callable, NamedTuple, Union

from forelock._abi import ffi
from forelock._native import lib, text
from forelock.errors import Error, ErrorCode, make_error

LOG = logging.getLogger("forelock")
_LEVELS = {"error": logging.ERROR, "warning": logging.WARNING, "info": logging.INFO, "debug": logging.DEBUG}
_ROOM = 64


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
        """Of an event whose code is not FL_OK."""
        return make_error(self.code, self.monitor, self.message, self.hint, self.retryable)


Receiver = Callable[[Event], None]


class Dispatcher:
    """Thread-safe. Receivers run on its thread and should be short, since all locks of a client share it."""

    def __init__(self, client: int) -> None:
        self._client = client
        self._tags = itertools.count(1)
        # Signal handlers and finalizers run between any two steps of this, and may close what they know.
        self._guard = threading.RLock()
        self._told = threading.Condition(self._guard)
        self._completions: dict[int, Receiver] = {}
        self._operations: dict[int, Receiver] = {}
        self._watches: dict[int, Receiver] = {}
        self._ended = False
        self._ends = frozenset((lib.FL_EVENT_ACQUIRED, lib.FL_EVENT_RELEASED))
        self._thread = threading.Thread(target=self._run, name="forelock-events", daemon=True)
        self._thread.start()

    def expect(self, receiver: Receiver) -> int:
        """The tag for a lock's call that ends in exactly one event."""
        return self._add(self._completions, receiver)

    def follow(self, receiver: Receiver) -> int:
        """The tag for an operation: its attempts and failures are received, and then its end."""
        return self._add(self._operations, receiver)

    def watch(self, receiver: Receiver) -> int:
        """The tag for events that may come at any time."""
        return self._add(self._watches, receiver)

    def forget(self, tag: int) -> None:
        """Nothing is received under this tag any more."""
        with self._guard:
            self._completions.pop(tag, None)
            self._operations.pop(tag, None)
            self._watches.pop(tag, None)
            self._told.notify_all()

    def is_this_thread(self) -> bool:
        """Whether the calling thread is the one on which receivers run: it must not wait for an event."""
        return threading.current_thread() is self._thread

    def join(self) -> None:
        """Waits until everybody has been told who waited for a lock; the client must be closed.

        The thread has ended then, too, unless operations are under way, whose attempts may wait for the caller.
        """
        if self.is_this_thread():
            return
        with self._told:
            waiting = set(self._completions)
            self._told.wait_for(lambda: self._ended or (
                bool(self._operations) and waiting.isdisjoint(self._completions)))
        if not self._operations:
            self._thread.join()

    def _add(self, receivers: dict[int, Receiver], receiver: Receiver) -> int:
        with self._guard:
            if self._ended:
                raise make_error(ErrorCode.CLOSED, "", "the client is closed")
            tag = next(self._tags)
            receivers[tag] = receiver
            return tag

    def _run(self) -> None:
        events = ffi.new("fl_event[]", _ROOM)
        while (count := lib.fl_poll(self._client, -1, events, _ROOM)) not in (-lib.FL_CLOSED, -lib.FL_INVALID_HANDLE):
            for i in range(count):
                try:
                    self._deliver(events[i])
                except BaseException:  # of what runs in between: a finalizer's, or for want of memory
                    write_log(logging.ERROR, "an event was not handled", exc_info=True)
        self._end()
        lib.fl_client_free(self._client)

    def _deliver(self, event: Any) -> None:
        kind = event.kind
        if kind == lib.FL_EVENT_LOG:
            write_log(_LEVELS.get(text(event.name), logging.INFO), "%s", text(event.message))
            return
        if kind == lib.FL_EVENT_DROPPED:
            write_log(logging.WARNING, "%d events were dropped: a callback blocks", event.value)
            return
        with self._guard:
            if kind in self._ends:
                receiver = self._completions.pop(event.tag, None)
            elif kind == lib.FL_EVENT_OPERATION:
                receiver = self._operations.pop(event.tag, None)
            else:
                receiver = self._watches.get(event.tag) or self._operations.get(event.tag)
            self._told.notify_all()
        if receiver is not None:
            self._call(receiver, Event(kind, event.code, event.source, event.value, event.retryable == 1,
                                       text(event.monitor), text(event.name), text(event.message), text(event.hint)))

    def _end(self) -> None:
        """Ends what was begun while the client closed, whose events nobody would fetch."""
        with self._guard:
            self._ended = True
            left = (self._completions, self._operations)
            self._completions, self._operations, self._watches = {}, {}, {}
            self._told.notify_all()
        for receiver in [*left[0].values(), *left[1].values()]:
            self._call(receiver, Event(0, lib.FL_CLOSED, 0, 0, False, "", "", "the client is closed", ""))

    @staticmethod
    def _call(receiver: Receiver, event: Event) -> None:
        try:
            receiver(event)
        except BaseException:  # what a callback raises, SystemExit included, must not end the others
            write_log(logging.ERROR, "a callback failed (lock on %s)", event.monitor, exc_info=True)


def write_log(level: int, message: str, *arguments: Any, exc_info: Union[bool, BaseException] = False) -> None:
    """What the application's handlers of the log raise ends nothing here."""
    try:
        LOG.log(level, message, *arguments, exc_info=exc_info)
    except BaseException:
        pass
