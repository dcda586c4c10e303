"""The thread that runs a client's callbacks, so that no other work waits for them."""

from __future__ import annotations

import logging
import queue
import threading
import time
from typing import NamedTuple, Optional

from forelock._event import Event, Receiver, call, is_of_main, write_log
from forelock._native import lib
from forelock._threads import make_thread, start_thread

_ROOM = 65_536
_NAMES: dict[int, str] = {
    lib.FL_EVENT_LOST: "on_lost",
    lib.FL_EVENT_DANGER: "on_danger",
    lib.FL_EVENT_QUEUED: "on_queued",
    lib.FL_EVENT_CONTENDED: "on_contended",
}


class _Running(NamedTuple):
    event: Event
    since: float


class Callbacks:
    """Runs callbacks one after the other, on a daemon thread that begins with start(). Thread-safe, but one thread
    alone posts and looks."""

    def __init__(self, long_ms: int) -> None:
        self._long_ms = long_ms
        self._receivers: dict[int, Receiver] = {}
        self._posted: queue.SimpleQueue[Optional[tuple[int, Event]]] = queue.SimpleQueue()
        self._count_posted, self._count_done = 0, 0
        self._running: Optional[_Running] = None
        self._warned: Optional[_Running] = None
        self._dropping = False
        self._starting = threading.RLock()  # RLock: code that runs on the thread during the start may take it again
        self._thread: Optional[threading.Thread] = None

    def start(self) -> None:
        """Idempotent. Raises forelock.Error if no thread can be started."""
        with self._starting:
            if self._thread is not None:
                return
            self._thread = make_thread(self._run, "forelock-callbacks")
            try:
                start_thread(self._thread)
            except BaseException:
                self._thread = None
                raise

    def add(self, tag: int, receiver: Receiver) -> None:
        """Registers the receiver of events with this tag."""
        self._receivers[tag] = receiver

    def forget(self, tag: int) -> None:
        """Removes the receiver of this tag."""
        self._receivers.pop(tag, None)

    def post(self, tag: int, event: Event) -> None:
        """Queues an event for its receiver, unless the queue is full."""
        if self._posted.qsize() < _ROOM:
            self._dropping = False
            self._count_posted += 1
            self._posted.put((tag, event))
        elif not self._dropping:
            self._dropping = True
            write_log(logging.WARNING, "events are dropped: a callback blocks")

    def look(self) -> int:
        """Names a slow callback in the log, once. Returns the milliseconds until the next look; -1: none runs."""
        if self._count_done == self._count_posted:
            return -1
        running = self._running
        if running is None or running is self._warned:
            return self._long_ms
        took = int((time.monotonic() - running.since) * 1000)
        if took < self._long_ms:
            return self._long_ms - took
        self._warned = running
        write_log(logging.WARNING, "slow callback: %s of the lock on %s has been running for %d ms; the callbacks of "
                  "all locks share a thread, and wait for it", _NAMES.get(running.event.kind, "a callback"),
                  running.event.monitor, took)
        return self._long_ms

    def is_this_thread(self) -> bool:
        """Whether the calling thread is the one that runs callbacks."""
        return threading.current_thread() is self._thread

    def end(self) -> None:
        """Ends the thread after the last callback."""
        self._posted.put(None)

    def join(self) -> None:
        """Waits for the end of the thread."""
        with self._starting:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        going_on = True
        while going_on:
            try:
                going_on = (posted := self._posted.get()) is not None
                if posted is not None:
                    self._receive(*posted)
                    self._count_done += 1
            except KeyboardInterrupt as error:
                if not is_of_main(error):
                    raise

    def _receive(self, tag: int, event: Event) -> None:
        """Keeps no reference to the receiver afterwards, whose lock may be garbage then."""
        receiver = self._receivers.get(tag)
        if receiver is not None:
            self._running = _Running(event, time.monotonic())
            call(receiver, event)
            self._running = None
