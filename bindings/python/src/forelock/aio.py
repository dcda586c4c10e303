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
from forelock.lock_object import Acquirable, LockObject
from forelock.set_object import SetObject

LOG = logging.getLogger("forelock")


class TaskHold(Acquirable, TaskWaits):
    """Common part of Lock and LockSet."""

    async def try_acquire(self) -> bool:
        """As BlockingLock.try_acquire()."""
        self._tell_stack()
        try:
            await self._acquire(lambda tag: int(lib.fl_lock_try_async(self._handle, tag)))
        except Error as error:
            if error.code == lib.FL_LOCK_UNAVAILABLE:
                return False
            raise
        return True

    async def release(self) -> None:
        """Releases it, a set every member, and waits for the confirmation. Raises as BlockingLock.release().

        If the task is cancelled meanwhile, the release continues.
        """
        await self._release(lambda tag: int(lib.fl_lock_release_async(self._handle, tag)))

    async def write_guarded(self, operations: Sequence[WriteOperation]) -> list[int]:
        """As BlockingLock.write_guarded(); waits for the round trip on a thread of the loop's executor."""
        return await asyncio.to_thread(self._write_guarded, operations)

    async def _acquire_within(self, timeout: Timeout) -> None:
        limit = self._milliseconds(timeout)
        self._tell_stack()
        await self._acquire(lambda tag: int(lib.fl_lock_acquire_async(self._handle, limit, tag)))

    async def _step_aside(self, timeout: Timeout) -> None:
        limit = self._milliseconds(timeout)
        self._core.check_process()
        await self._in_thread(lambda: check(lib.fl_lock_step_aside(self._handle, limit)))

    async def __aexit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        if error is None:
            await self.release()
            return
        try:
            await self.release()
        except Error as problem:  # the block's own exception says more
            LOG.warning("release of %r: %s", self, problem)


class Lock(TaskHold, LockObject):
    """As BlockingLock, for tasks: ``async with lock:``. Callbacks run on a thread of the client, not in the loop; use
    ``loop.call_soon_threadsafe`` there. May be used from one event loop at a time.
    """

    async def acquire(self, timeout: Timeout = None) -> int:
        """Obtains the lock; returns its fencing token. Raises as BlockingLock.acquire().

        Cancellation of the task cancels the acquisition; if the grant came first, it is released.
        """
        await self._acquire_within(timeout)
        return self.fencing_token

    async def step_aside(self, timeout: Timeout = None) -> int:
        """As BlockingLock.step_aside(); waits on a thread of the loop's executor.

        Cancellation of the task ends the wait: the lock is not held any more then, unless it was obtained again before.
        """
        await self._step_aside(timeout)
        return self.fencing_token

    async def __aenter__(self) -> Lock:
        await self.acquire()
        return self


class LockSet(TaskHold, SetObject):
    """As forelock.LockSet, for tasks: ``async with set:``. Otherwise as Lock."""

    async def acquire(self, timeout: Timeout = None) -> dict[str, int]:
        """Obtains all members or none; returns their fencing tokens. Raises as forelock.LockSet.acquire().

        Cancellation of the task cancels the acquisition; if the grant came first, it is released.
        """
        await self._acquire_within(timeout)
        return self.fencing_tokens

    async def step_aside(self, timeout: Timeout = None) -> dict[str, int]:
        """As forelock.LockSet.step_aside(); otherwise as Lock.step_aside()."""
        await self._step_aside(timeout)
        return self.fencing_tokens

    async def __aenter__(self) -> LockSet:
        await self.acquire()
        return self


#: ``async with forelock.aio.lock(client, "P1") as held:``; as forelock.lock.
lock = Lock
