"""The lock of a thread that can wait."""

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
from forelock.lock_object import LockObject

LOG = logging.getLogger("forelock")


class BlockingLock(LockObject, ThreadWaits):
    """A named, priority-aware lock that excludes all other clients of the same ZooKeeper namespace.

    Ownership belongs to the object, not to a thread: every method may be called from any thread. ``with lock:``
    acquires with the object's time-out and releases.
    """

    _cancel_call = lib.fl_lock_cancel
    _cancel_async_call = lib.fl_lock_cancel_async
    _release_detached_call = lib.fl_lock_release_detached

    def acquire(self, timeout: Timeout = None) -> int:
        """Obtains the lock; returns its fencing token.

        ``timeout`` in seconds; ``math.inf``: no end; 0: a single attempt; None: the object's. Raises
        InstanceLockException (lock_timeout: the message says who holds it; lock_unavailable: the single attempt;
        cancelled), SessionExpiredException, ConnectionLossException, RequestRejectedException. After an exception
        nothing of it stays in the queue. Ctrl-C withdraws the waiter.
        """
        limit = self._milliseconds(timeout)
        self._tell_stack()
        if waits_in_python():
            self._wait_in_python(
                lambda tag, pending: int(lib.fl_lock_acquire_within(self._handle, limit, 0, tag, pending)))
        else:
            self._core.check_process()
            check(lib.fl_lock_acquire(self._handle, limit))
        return self.fencing_token

    def try_acquire(self) -> bool:
        """Obtains the lock if it is free and unwanted; does not queue. Returns whether it is held now."""
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
        """Releases the lock and waits for the confirmation, at most about the session time-out.

        Not held afterwards, whatever it raises: NoNodeException (no_node: it was removed before; not_held),
        SessionExpiredException, ConnectionLossException.
        """
        self._core.check_process()
        if is_green() and not self._core.closed:
            self._release_in_python(lambda tag: int(lib.fl_lock_release_async(self._handle, tag)))
        else:
            check(lib.fl_lock_release(self._handle))

    def step_aside(self, timeout: Timeout = None) -> int:
        """Lets the locks that rank before this one go first and takes it again; returns the new fencing token.

        Raises InstanceLockException (lock_timeout: not held any more), LockUnhealthyException: it was not held.
        Cannot be interrupted.
        """
        self._core.check_process()
        limit = self._milliseconds(timeout)
        waiting(lambda: check(lib.fl_lock_step_aside(self._handle, limit)),
                lambda: self._cancel_call(self._handle, ffi.NULL))
        return self.fencing_token

    def write_guarded(self, operations: Sequence[WriteOperation]) -> list[int]:
        """Commits ZooKeeper operations together with a check that the lock is still ours: all of them, or none.

        Paths are absolute inside the configured chroot. Blocks for a round trip; returns the new data version for
        each. Raises LockUnhealthyException and RequestRejectedException (write_conflict): nothing was written;
        ConnectionLossException: the message says whether the outcome is unknown.
        """
        return self._write_guarded(operations)

    def __enter__(self) -> BlockingLock:
        self.acquire()
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if error is None:
            self.release()
            return
        try:
            self.release()
        except Error as problem:  # the block's own exception says more
            LOG.warning("release of %s: %s", self._monitor, problem)


#: ``with forelock.lock(client, "P1", lock_info="Save Content") as held:`` holds a lock for a block. At the end of the
#: block, if the lock was lost before, raises as release(), unless the block itself raised.
lock = BlockingLock
