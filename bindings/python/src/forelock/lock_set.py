"""The lock set of a thread that can wait."""

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
from forelock.set_object import SetObject

LOG = logging.getLogger("forelock")


class LockSet(SetObject, ThreadWaits):
    """Several monitors as one lock. Ownership belongs to the object, not to a thread. ``with set:`` acquires with the
    object's time-out and releases.
    """

    _cancel_call = lib.fl_set_cancel
    _cancel_async_call = lib.fl_set_cancel_async
    _release_detached_call = lib.fl_set_release_detached

    def acquire(self, timeout: Timeout = None) -> dict[str, int]:
        """Obtains all members or none; returns their fencing tokens.

        ``timeout`` as for a lock. Raises InstanceLockException (lock_timeout: the message says who holds it;
        cancelled), SessionExpiredException, ConnectionLossException, RequestRejectedException; the exception's monitor
        is the member that it is about. What had been taken has been given back then. Ctrl-C withdraws the waiter.
        """
        limit = self._milliseconds(timeout)
        self._tell_stack()
        if waits_in_python():
            self._wait_in_python(
                lambda tag, pending: int(lib.fl_set_acquire_within(self._handle, limit, 0, tag, pending)))
        else:
            self._core.check_process()
            check(lib.fl_set_acquire(self._handle, limit))
        return self.fencing_tokens

    def try_acquire(self) -> bool:
        """Obtains the set if every member can be had at once; does not queue. Returns whether it is held now."""
        self._core.check_process()
        self._tell_stack()
        try:
            if waits_in_python():
                self._wait_in_python(lambda tag, pending: int(lib.fl_set_try_within(self._handle, 0, tag, pending)))
            else:
                check(lib.fl_set_try(self._handle))
        except Error as error:
            if error.code == lib.FL_LOCK_UNAVAILABLE:
                return False
            raise
        return True

    def release(self) -> None:
        """Releases every member and waits for the confirmation, at most about the session time-out.

        Not held afterwards, whatever it raises: NoNodeException (no_node: a member was removed before; not_held),
        SessionExpiredException, ConnectionLossException.
        """
        self._core.check_process()
        if is_green() and not self._core.closed:
            self._release_in_python(lambda tag: int(lib.fl_set_release_async(self._handle, tag)))
        else:
            check(lib.fl_set_release(self._handle))

    def step_aside(self, timeout: Timeout = None) -> dict[str, int]:
        """Lets the locks that rank before it at any member go first and takes all members again; returns the new
        fencing tokens.

        Raises InstanceLockException (lock_timeout: none is held any more), LockUnhealthyException: it was not held.
        Cannot be interrupted.
        """
        self._core.check_process()
        limit = self._milliseconds(timeout)
        waiting(lambda: check(lib.fl_set_step_aside(self._handle, limit)),
                lambda: self._cancel_call(self._handle, ffi.NULL))
        return self.fencing_tokens

    def write_guarded(self, operations: Sequence[WriteOperation]) -> list[int]:
        """As BlockingLock.write_guarded(), with checks that every member is still ours; the monitor of a
        LockUnhealthyException is the one that is not.
        """
        return self._write_guarded(operations)

    def __enter__(self) -> LockSet:
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
            LOG.warning("release of %r: %s", self, problem)
