"""Waits of the main thread and of greenlets for an acquisition's end: in Python, where a Ctrl-C reaches them."""

from __future__ import annotations

import queue
import threading
from typing import Any, Callable

from forelock._abi import ffi
from forelock._event import Event, Receiver
from forelock._holder import with_holder
from forelock._green import blocking, is_green
from forelock._native import check, lib
from forelock.client import Core


def waits_in_python() -> bool:
    """Whether to wait in Python: the main thread alone handles signals, while it runs Python; greenlets share it."""
    return threading.current_thread() is threading.main_thread() or is_green()


class ThreadWaits:
    """Common part of BlockingLock and LockSet."""

    _core: Core
    _handle: int

    def _begin(self, call: Callable[[int], int], receiver: Receiver) -> int:
        raise NotImplementedError

    def _release_in_python(self, call: Callable[[int], int]) -> None:
        """``call`` gets a tag; it does not block, and an event reports its end."""
        ends: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._begin(call, ends.put)
        event = ends.get()
        if event.code != 0:
            raise event.error()

    def _wait_in_python(self, call: Callable[[int, Any], int]) -> None:
        """``call`` gets a tag and a pointer. It does not block, and sets the pointer to whether an event will report
        the end. After a Ctrl-C that follows the call, the pointer alone has its result.
        """
        self._core.check_process()
        told: list[Event] = []
        ends: queue.SimpleQueue[None] = queue.SimpleQueue()

        def receive(event: Event) -> None:
            told.append(event)
            ends.put(None)

        pending = ffi.new("int32_t*", -1)  # until it has begun
        tag = self._core.dispatcher.expect(receive)
        try:
            check(call(tag, pending))
            if pending[0] == 1:
                ends.get()
        except BaseException:
            if pending[0] == 1:
                lib.fl_lock_cancel_async(self._handle, tag, ffi.NULL)
                while not told:
                    ends.get()
            if pending[0] == 0 or (told and told[0].code == 0):
                lib.fl_lock_release_detached(self._handle)
            raise
        finally:
            self._core.dispatcher.forget(tag)
        if told and told[0].code != 0:
            raise blocking(lambda: with_holder(self._core, told[0])).error()
