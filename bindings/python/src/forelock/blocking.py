"""The lock and the lock set for threads that can wait."""

from __future__ import annotations

import logging
from types import TracebackType
from typing import Optional, Sequence

from forelock._abi import ffi
from forelock._green import is_green, waiting
from forelock._native import Timeout, check, lib
from forelock._waits import ThreadWaits, waits_in_python
from forelock.errors import Error
from forelock.held import WriteOperation
from forelock.lock_object import Acquirable, LockObject
from forelock.set_object import SetObject

LOG = logging.getLogger("forelock")


class BlockingHold(Acquirable, ThreadWaits):
    """Common part of BlockingLock and LockSet."""

    def try_acquire(self) -> bool:
        """Obtains it, or a set's every member, if it is free and no contender waits; does not queue. Returns whether it
        is held now."""
        self._core.check_process()
        self._tell_stack()
        try:
            if waits_in_python():
                self._wait_in_python(lambda tag, pending: int(lib.fl_lock_try_within(self._handle, 0, tag, pending)))
            else:
                check(lib.fl_lock_try(self._handle))
        except Error as error:
            if error.code == lib.FL_LOCK_UNAVAILABLE:
                return False
            raise
        return True

    def release(self) -> None:
        """Releases it, or a set's every member; waits for the confirmation, at most about the session time-out.

        Not held afterwards, whatever it raises: NoNodeException (no_node: it, or a member, was removed before;
        not_held), SessionExpiredException, ConnectionLossException.
        """
        self._core.check_process()
        if is_green() and not self._core.closed:
            self._release_in_python(lambda tag: int(lib.fl_lock_release_async(self._handle, tag)))
        else:
            check(lib.fl_lock_release(self._handle))

    def write_guarded(self, operations: Sequence[WriteOperation]) -> list[int]:
        """Commits ZooKeeper operations together with a check that the lock, or every member, is still held: all of
        them, or none.

        Paths are absolute inside the configured chroot. Blocks for a round trip; returns the new data version for
        each. Raises LockUnhealthyException, whose monitor is the one no longer held, and RequestRejectedException
        (write_conflict): nothing was written; ConnectionLossException: the message says whether the outcome is unknown.
        """
        return self._write_guarded(operations)

    def _acquire(self, timeout: Timeout) -> None:
        limit = self._milliseconds(timeout)
        self._tell_stack()
        if waits_in_python():
            self._wait_in_python(
                lambda tag, pending: int(lib.fl_lock_acquire_within(self._handle, limit, 0, tag, pending)))
        else:
            self._core.check_process()
            check(lib.fl_lock_acquire(self._handle, limit))

    def _step_aside(self, timeout: Timeout) -> None:
        self._core.check_process()
        limit = self._milliseconds(timeout)
        waiting(lambda: check(lib.fl_lock_step_aside(self._handle, limit)),
                lambda: lib.fl_lock_cancel(self._handle, ffi.NULL))

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if error is None:
            self.release()
            return
        try:
            self.release()
        except Error as problem:  # the block's own exception says more
            LOG.warning("release of %r: %s", self, problem)


class BlockingLock(BlockingHold, LockObject):
    """A named, priority-aware lock that excludes all other clients of the same ZooKeeper namespace.

    Ownership belongs to the object, not to a thread: every method may be called from any thread. ``with lock:``
    acquires with the object's time-out and releases.
    """

    def acquire(self, timeout: Timeout = None) -> int:
        """Obtains the lock; returns its fencing token.

        ``timeout`` in seconds; ``math.inf``: no limit; 0: a single attempt; None: the object's. Raises
        InstanceLockException (lock_timeout: the message names the holder; lock_unavailable: the single attempt failed;
        cancelled), SessionExpiredException, ConnectionLossException, RequestRejectedException. After an exception it is
        no longer in the queue. Ctrl-C cancels the acquisition.
        """
        self._acquire(timeout)
        return self.fencing_token

    def step_aside(self, timeout: Timeout = None) -> int:
        """Lets higher-ranking locks go first and takes this one again; returns the new fencing token.

        Raises InstanceLockException (lock_timeout: not held any more), LockUnhealthyException: it was not held.
        Cannot be interrupted.
        """
        self._step_aside(timeout)
        return self.fencing_token

    def __enter__(self) -> BlockingLock:
        self.acquire()
        return self


class LockSet(BlockingHold, SetObject):
    """Several monitors as one lock. Ownership belongs to the object, not to a thread. ``with set:`` acquires with the
    object's time-out and releases.
    """

    def acquire(self, timeout: Timeout = None) -> dict[str, int]:
        """Obtains all members or none; returns their fencing tokens.

        ``timeout`` as for a lock. Raises InstanceLockException (lock_timeout: the message names the holder; cancelled),
        SessionExpiredException, ConnectionLossException, RequestRejectedException; the exception's monitor is the
        member concerned. Members already taken have been released then. Ctrl-C cancels the acquisition.
        """
        self._acquire(timeout)
        return self.fencing_tokens

    def step_aside(self, timeout: Timeout = None) -> dict[str, int]:
        """Lets locks that rank higher at any member go first and takes all members again; returns the new fencing
        tokens.

        Raises InstanceLockException (lock_timeout: none is held any more), LockUnhealthyException: it was not held.
        Cannot be interrupted.
        """
        self._step_aside(timeout)
        return self.fencing_tokens

    def __enter__(self) -> LockSet:
        self.acquire()
        return self


#: ``with forelock.lock(client, "P1", lock_info="Save Content") as held:`` holds a lock for a block. If the lock was
#: lost before the block's end, the end raises as release() does, unless the block itself raised.
lock = BlockingLock
