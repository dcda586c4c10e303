"""Waits of tasks for the end of an asynchronous call: without a thread, and with cancellation."""

from __future__ import annotations

import asyncio
from typing import Callable

from forelock._abi import ffi
from forelock._event import Event, Receiver
from forelock._holder import LOOK_MS, with_holder
from forelock._native import lib
from forelock.client import Core

_BETWEEN_CANCELS = 0.05


class TaskWaits:
    """Common part of aio.Lock and aio.LockSet."""

    _core: Core
    _handle: int

    def _begin(self, call: Callable[[int], int], receiver: Receiver) -> int:
        raise NotImplementedError

    async def _acquire(self, call: Callable[[int], int]) -> None:
        end, tag = self._future(call, held_is_unwanted=True)
        try:
            # asyncio.wait() leaves the future alone when the task is cancelled.
            await asyncio.wait([end])
        except BaseException:
            # If it has ended, another task may wait with the same object.
            lib.fl_lock_cancel_async(self._handle, tag, ffi.NULL)
            await _until_done(end)
            if end.result().code == 0:
                lib.fl_lock_release_detached(self._handle)
            raise
        event = end.result()
        if event.code != 0:
            raise (await self._with_holder(event)).error()

    async def _with_holder(self, refusal: Event) -> Event:
        """Reads the holder on a thread of the loop's executor, if one is free at once."""
        if refusal.code != lib.FL_LOCK_TIMEOUT:
            return refusal
        try:
            look = asyncio.get_running_loop().run_in_executor(None, with_holder, self._core, refusal)
        except RuntimeError:  # the executor was shut down
            return refusal
        await asyncio.wait([look], timeout=2 * LOOK_MS / 1000)
        if look.done():
            return look.result()
        look.cancel()
        return refusal

    async def _in_thread(self, call: Callable[[], None]) -> None:
        """A blocking call that waits as an acquisition does."""
        end = asyncio.ensure_future(asyncio.to_thread(call))
        try:
            await asyncio.wait([end])
        except BaseException:
            while not end.done():  # it may not have begun to wait yet
                lib.fl_lock_cancel(self._handle, ffi.NULL)
                try:
                    await asyncio.wait([end], timeout=_BETWEEN_CANCELS)
                except asyncio.CancelledError:
                    pass  # the first one is raised
            end.exception()  # is seen
            raise
        end.result()

    async def _release(self, call: Callable[[int], int]) -> None:
        end, _tag = self._future(call, held_is_unwanted=False)
        event = await end
        if event.code != 0:
            raise event.error()

    def _future(self, call: Callable[[int], int], held_is_unwanted: bool) -> tuple[asyncio.Future[Event], int]:
        loop = asyncio.get_running_loop()
        end: asyncio.Future[Event] = loop.create_future()
        handle = self._handle

        def settle(event: Event) -> None:
            if not end.done():
                end.set_result(event)

        def receive(event: Event) -> None:
            try:
                loop.call_soon_threadsafe(settle, event)
            except RuntimeError:  # the loop was closed: no task remains that could use the lock
                if held_is_unwanted and event.code == 0:
                    lib.fl_lock_release_detached(handle)

        tag = self._begin(call, receive)
        return end, tag


async def _until_done(end: asyncio.Future[Event]) -> None:
    """Waits on, however often the task is cancelled: the library ends a cancelled acquisition at once."""
    while not end.done():
        try:
            await asyncio.wait([end])
        except asyncio.CancelledError:
            pass  # the caller raises the first one
