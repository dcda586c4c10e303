"""The lock of an asyncio task. Waiting tasks need no threads."""

from __future__ import annotations

import asyncio
import logging
from types import TracebackType
from typing import Callable, Optional, Sequence

from forelock._abi import ffi
from forelock._dispatcher import Event
from forelock._native import Timeout, lib
from forelock.errors import Error
from forelock.held import WriteOperation
from forelock.lock_object import LockObject

LOG = logging.getLogger("forelock")


class Lock(LockObject):
    """As BlockingLock, for tasks: ``async with lock:``. Callbacks run on the client's event thread, not in the loop;
    ``loop.call_soon_threadsafe`` gets from there into it. May be used from one event loop at a time.
    """

    async def acquire(self, timeout: Timeout = None) -> int:
        """Obtains the lock; returns its fencing token. Raises as BlockingLock.acquire().

        Cancellation of the task withdraws the waiter; if the grant came first, it is given back.
        """
        limit = self._milliseconds(timeout)
        await self._acquire(lambda tag: int(lib.fl_lock_acquire_async(self._handle, limit, tag)))
        return self.fencing_token

    async def try_acquire(self) -> bool:
        """Obtains the lock if it is free and unwanted; does not queue. Returns whether it is held now."""
        try:
            await self._acquire(lambda tag: int(lib.fl_lock_try_async(self._handle, tag)))
        except Error as error:
            if error.code == lib.FL_LOCK_UNAVAILABLE:
                return False
            raise
        return True

    async def release(self) -> None:
        """Releases the lock and waits for the confirmation. Raises as BlockingLock.release().

        If the task is cancelled meanwhile, the release goes on.
        """
        end = self._future(lambda tag: int(lib.fl_lock_release_async(self._handle, tag)), held_is_unwanted=False)
        event = await end
        if event.code != 0:
            raise event.error()

    async def write_guarded(self, operations: Sequence[WriteOperation]) -> list[int]:
        """As BlockingLock.write_guarded(); waits for the round trip on a thread of the loop's executor."""
        return await asyncio.to_thread(self._write_guarded, operations)

    async def _acquire(self, call: Callable[[int], int]) -> None:
        end = self._future(call, held_is_unwanted=True)
        try:
            # asyncio.wait() leaves the future alone when the task is cancelled.
            await asyncio.wait([end])
        except BaseException:
            lib.fl_lock_cancel(self._handle, ffi.NULL)
            await _until_done(end)
            if end.result().code == 0:
                lib.fl_lock_release_detached(self._handle)
            raise
        event = end.result()
        if event.code != 0:
            raise event.error()

    def _future(self, call: Callable[[int], int], held_is_unwanted: bool) -> asyncio.Future[Event]:
        loop = asyncio.get_running_loop()
        end: asyncio.Future[Event] = loop.create_future()
        handle = self._handle

        def settle(event: Event) -> None:
            if not end.done():
                end.set_result(event)

        def receive(event: Event) -> None:
            try:
                loop.call_soon_threadsafe(settle, event)
            except RuntimeError:  # the loop was closed: no task is left that could use the lock
                if held_is_unwanted and event.code == 0:
                    lib.fl_lock_release_detached(handle)

        self._begin(call, receive)
        return end

    async def __aenter__(self) -> Lock:
        await self.acquire()
        return self

    async def __aexit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        if error is None:
            await self.release()
            return
        try:
            await self.release()
        except Error as problem:  # the block's own exception says more
            LOG.warning("release of %s: %s", self._monitor, problem)


async def _until_done(end: asyncio.Future[Event]) -> None:
    """However often the task is cancelled: the library ends a cancelled acquisition at once."""
    while not end.done():
        try:
            await asyncio.wait([end])
        except asyncio.CancelledError:
            pass  # the caller raises the first one


#: ``async with forelock.aio.lock(client, "P1") as held:``; as forelock.lock.
lock = Lock
