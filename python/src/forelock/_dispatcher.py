"""A Dispatcher fetches a client's events on one Python thread and gives each to its receiver.

No native thread ever enters Python: this thread waits in fl_poll() without the interpreter's lock.
"""

from __future__ import annotations

import itertools
import logging
import threading
from typing import Any, Callable, NamedTuple

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
        self._guard = threading.Lock()
        self._completions: dict[int, Receiver] = {}
        self._watches: dict[int, Receiver] = {}
        self._ended = False
        self._ends = frozenset((lib.FL_EVENT_ACQUIRED, lib.FL_EVENT_RELEASED, lib.FL_EVENT_OPERATION))
        self._thread = threading.Thread(target=self._run, name="forelock-events", daemon=True)
        self._thread.start()

    def expect(self, receiver: Receiver) -> int:
        """The tag for a call that ends in exactly one event; what else has this tag is received before that."""
        return self._add(self._completions, receiver)

    def watch(self, receiver: Receiver) -> int:
        """The tag for events that may come at any time."""
        return self._add(self._watches, receiver)

    def forget(self, tag: int) -> None:
        """Nothing is received under this tag any more."""
        with self._guard:
            self._completions.pop(tag, None)
            self._watches.pop(tag, None)

    def join(self) -> None:
        """Waits until everything has been received; the client must be closed."""
        if threading.current_thread() is not self._thread:
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
        while True:
            count = lib.fl_poll(self._client, -1, events, _ROOM)
            if count < 0:
                break
            for i in range(count):
                self._deliver(events[i])
        self._end()

    def _deliver(self, event: Any) -> None:
        kind = event.kind
        if kind == lib.FL_EVENT_LOG:
            LOG.log(_LEVELS.get(text(event.name), logging.INFO), "%s", text(event.message))
            return
        if kind == lib.FL_EVENT_DROPPED:
            LOG.warning("%d events were dropped: a callback blocks", event.value)
            return
        with self._guard:
            if kind in self._ends:
                receiver = self._completions.pop(event.tag, None)
            else:
                receiver = self._watches.get(event.tag) or self._completions.get(event.tag)
        if receiver is not None:
            self._call(receiver, Event(kind, event.code, event.source, event.value, event.retryable == 1,
                                       text(event.monitor), text(event.name), text(event.message), text(event.hint)))

    def _end(self) -> None:
        """Ends what was begun while the client closed, whose events nobody would fetch."""
        with self._guard:
            self._ended = True
            left = list(self._completions.values())
            self._completions.clear()
            self._watches.clear()
        for receiver in left:
            self._call(receiver, Event(0, lib.FL_CLOSED, 0, 0, False, "", "", "the client is closed", ""))

    @staticmethod
    def _call(receiver: Receiver, event: Event) -> None:
        try:
            receiver(event)
        except Exception:  # what a callback raises must not end the others
            LOG.exception("a callback failed (lock on %s)", event.monitor)
