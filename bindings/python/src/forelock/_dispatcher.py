"""A Dispatcher fetches a client's events on one Python thread, gives each to its receiver, and frees the client.

No native thread ever enters Python: this thread waits in fl_poll() without the interpreter's lock.
"""

from __future__ import annotations

import itertools
import logging
import threading
from typing import Any

from forelock._abi import ffi
from forelock._callbacks import Callbacks
from forelock._event import Event, Receiver, call, is_of_main, write_log
from forelock._green import can_wait, own_thread
from forelock._native import lib, text
from forelock._threads import make_thread, start_thread
from forelock.errors import ErrorCode, make_error

_LEVELS = {"error": logging.ERROR, "warning": logging.WARNING, "info": logging.INFO, "debug": logging.DEBUG}
_ROOM = 64
_CALLED_BACK = frozenset((lib.FL_EVENT_LOST, lib.FL_EVENT_DANGER, lib.FL_EVENT_QUEUED, lib.FL_EVENT_CONTENDED))


class Dispatcher:
    """Thread-safe. The receivers of ends and operations run on its thread and do not block; callbacks have their own.

    ``slow_ms``: the time after which the log names a running callback. Raises forelock.Error if no thread can be
    started.
    """

    def __init__(self, client: int, slow_ms: int) -> None:
        self._client = client
        self._tags = itertools.count(1)
        # Signal handlers and finalizers run between any two steps of this, and may close clients and locks.
        self._guard = threading.RLock()
        self._told = threading.Condition(self._guard)
        self._completions: dict[int, Receiver] = {}
        self._operations: dict[int, Receiver] = {}
        self._callbacks = Callbacks(slow_ms)
        self._ended = False
        self._ends = frozenset((lib.FL_EVENT_ACQUIRED, lib.FL_EVENT_RELEASED))
        self._thread = make_thread(self._run, "forelock-events")
        start_thread(self._thread)

    def expect(self, receiver: Receiver) -> int:
        """Returns the tag for a lock's call that ends in exactly one event."""
        return self._add(self._completions, receiver)

    def follow(self, receiver: Receiver) -> int:
        """Returns the tag for an operation or replay: its attempts and failures are received, and then its end."""
        return self._add(self._operations, receiver)

    def watch(self, receiver: Receiver) -> int:
        """Returns the tag for events that may come at any time: the receiver runs on the callback thread."""
        self._callbacks.start()
        with self._guard:
            tag = self._new_tag()
            self._callbacks.add(tag, receiver)
            return tag

    def forget(self, tag: int) -> None:
        """Removes the receiver of this tag."""
        with self._guard:
            self._completions.pop(tag, None)
            self._operations.pop(tag, None)
            self._callbacks.forget(tag)
            self._told.notify_all()

    def is_this_thread(self) -> bool:
        """Whether the calling thread is one of the client's own, which must not wait for each other."""
        return threading.current_thread() is self._thread or self._callbacks.is_this_thread()

    def join(self) -> None:
        """Waits until every waiter for a lock has been notified; the client must be closed.

        The threads have ended then, too, unless operations are under way, whose attempts may wait for the caller.
        """
        if self.is_this_thread() or not can_wait():
            return
        with self._told:
            waiting = set(self._completions)
            self._told.wait_for(lambda: self._ended or (
                bool(self._operations) and waiting.isdisjoint(self._completions)))
        if not self._operations:
            self._thread.join()
            self._callbacks.join()

    def _add(self, receivers: dict[int, Receiver], receiver: Receiver) -> int:
        with self._guard:
            tag = self._new_tag()
            receivers[tag] = receiver
            return tag

    def _new_tag(self) -> int:
        if self._ended:
            raise make_error(ErrorCode.CLOSED, "", "the client is closed")
        return next(self._tags)

    def _run(self) -> None:
        fetching = True
        while fetching:
            fetching = False
            try:
                self._fetch_all()
            except BaseException as error:  # for lack of memory, or of a native thread for a greenlet's calls
                fetching = is_of_main(error)
                if not fetching:
                    write_log(logging.ERROR, "the client is closed: its events cannot be fetched", exc_info=True)
        self._end()
        lib.fl_client_free(self._client)

    def _fetch_all(self) -> None:
        events = ffi.new("fl_event[]", _ROOM)
        with own_thread() as call_there:
            # The texts of events belong to the thread that fetched them, until it fetches again.
            count = 0
            while count >= 0:
                self._deliver_all(events, count)
                look_again = self._callbacks.look()
                count = call_there(lambda: int(lib.fl_poll(self._client, look_again, events, _ROOM)))

    def _deliver_all(self, events: Any, count: int) -> None:
        for i in range(count):
            try:
                self._deliver(events[i])
            except BaseException as error:  # of a finalizer that runs in between, or for lack of memory
                if is_of_main(error):
                    continue
                write_log(logging.ERROR, "an event was not handled", exc_info=True)

    def _deliver(self, event: Any) -> None:
        kind = event.kind
        if kind == lib.FL_EVENT_LOG:
            write_log(_LEVELS.get(text(event.name), logging.INFO), "%s", text(event.message))
            return
        if kind == lib.FL_EVENT_DROPPED:
            write_log(logging.WARNING, "%d events were dropped: a callback blocks", event.value)
            return
        told = Event(kind, event.code, event.source, event.value, event.retryable == 1, text(event.monitor),
                     text(event.name), text(event.message), text(event.hint))
        if kind in _CALLED_BACK:
            self._callbacks.post(event.tag, told)
            return
        with self._guard:
            if kind in self._ends:
                receiver = self._completions.pop(event.tag, None)
            elif kind in (lib.FL_EVENT_OPERATION, lib.FL_EVENT_REPLAY):
                receiver = self._operations.pop(event.tag, None)
            else:
                receiver = self._operations.get(event.tag)
            self._told.notify_all()
        if receiver is not None:
            call(receiver, told)

    def _end(self) -> None:
        """Ends calls begun while the client closed, whose events no thread would fetch."""
        with self._guard:
            self._ended = True
            left = (self._completions, self._operations)
            self._completions, self._operations = {}, {}
            self._told.notify_all()
        self._callbacks.end()
        for receiver in [*left[0].values(), *left[1].values()]:
            call(receiver, Event(0, lib.FL_CLOSED, 0, 0, False, "", "", "the client is closed", ""))
