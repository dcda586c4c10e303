"""The locks of asyncio tasks. Waiting tasks need no threads."""

from __future__ import annotations

import asyncio
import logging
from types import TracebackType
from typing import Optional, Sequence

from forelock._native import Timeout, check, lib
from forelock._tasks import TaskWaits
from forelock.errors import Error
from forelock.held import WriteOperation
from forelock.lock_object import LockObject
from forelock.set_object import SetObject

LOG = logging.getLogger("forelock")


class Lock(LockObject, TaskWaits):
    """As BlockingLock, for tasks: ``async with lock:``. Callbacks run on a thread of the client, not in the loop;
    ``loop.call_soon_threadsafe`` gets from there into it. May be used from one event loop at a time.
    """

    _cancel_call = lib.fl_lock_cancel
    _cancel_async_call = lib.fl_lock_cancel_async
    _release_detached_call = lib.fl_lock_release_detached

    async def acquire(self, timeout: Timeout = None) -> int:
        """Obtains the lock; returns its fencing token. Raises as BlockingLock.acquire().

        Cancellation of the task withdraws the waiter; if the grant came first, it is given back.
        """
        limit = self._milliseconds(timeout)
        self._tell_stack()
        await self._acquire(lambda tag: int(lib.fl_lock_acquire_async(self._handle, limit, tag)))
        return self.fencing_token

    async def try_acquire(self) -> bool:
        """Obtains the lock if it is free and unwanted; does not queue. Returns whether it is held now."""
        self._tell_stack()
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
        await self._release(lambda tag: int(lib.fl_lock_release_async(self._handle, tag)))

    async def step_aside(self, timeout: Timeout = None) -> int:
        """As BlockingLock.step_aside(); waits on a thread of the loop's executor.

        Cancellation of the task ends the wait: the lock is not held any more then, unless it was given back before.
        """
        limit = self._milliseconds(timeout)
        self._core.check_process()
        await self._in_thread(lambda: check(lib.fl_lock_step_aside(self._handle, limit)))
        return self.fencing_token

    async def write_guarded(self, operations: Sequence[WriteOperation]) -> list[int]:
        """As BlockingLock.write_guarded(); waits for the round trip on a thread of the loop's executor."""
        return await asyncio.to_thread(self._write_guarded, operations)

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


class LockSet(SetObject, TaskWaits):
    """As forelock.LockSet, for tasks: ``async with set:``. Otherwise as Lock."""

    _cancel_call = lib.fl_set_cancel
    _cancel_async_call = lib.fl_set_cancel_async
    _release_detached_call = lib.fl_set_release_detached

    async def acquire(self, timeout: Timeout = None) -> dict[str, int]:
        """Obtains all members or none; returns their fencing tokens. Raises as forelock.LockSet.acquire().

        Cancellation of the task withdraws the waiter; if the grant came first, it is given back.
        """
        limit = self._milliseconds(timeout)
        self._tell_stack()
        await self._acquire(lambda tag: int(lib.fl_set_acquire_async(self._handle, limit, tag)))
        return self.fencing_tokens

    async def try_acquire(self) -> bool:
        """Obtains the set if every member can be had at once; does not queue. Returns whether it is held now."""
        self._tell_stack()
        try:
            await self._acquire(lambda tag: int(lib.fl_set_try_async(self._handle, tag)))
        except Error as error:
            if error.code == lib.FL_LOCK_UNAVAILABLE:
                return False
            raise
        return True

    async def step_aside(self, timeout: Timeout = None) -> dict[str, int]:
        """As forelock.LockSet.step_aside(); otherwise as Lock.step_aside()."""
        limit = self._milliseconds(timeout)
        self._core.check_process()
        await self._in_thread(lambda: check(lib.fl_set_step_aside(self._handle, limit)))
        return self.fencing_tokens

    async def write_guarded(self, operations: Sequence[WriteOperation]) -> list[int]:
        """As forelock.LockSet.write_guarded(); waits for the round trip on a thread of the loop's executor."""
        return await asyncio.to_thread(self._write_guarded, operations)

    async def release(self) -> None:
        """Releases every member and waits for the confirmation. Raises as forelock.LockSet.release().

        If the task is cancelled meanwhile, the release goes on.
        """
        await self._release(lambda tag: int(lib.fl_set_release_async(self._handle, tag)))

    async def __aenter__(self) -> LockSet:
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
            LOG.warning("release of %r: %s", self, problem)


#: ``async with forelock.aio.lock(client, "P1") as held:``; as forelock.lock.
lock = Lock
