"""The lock of a thread that can wait."""

from __future__ import annotations

import logging
import queue
import threading
from types import TracebackType
from typing import Optional, Sequence

from forelock._abi import ffi
from forelock._dispatcher import Event
from forelock._native import Timeout, check, encode, lib, text
from forelock.errors import Error, ErrorCode
from forelock.held import WriteOperation
from forelock.lock_object import LockObject

LOG = logging.getLogger("forelock")
_LOOK_AT_HOLDER_MS = 150


class BlockingLock(LockObject):
    """A named, priority-aware lock that excludes all other clients of the same ZooKeeper namespace.

    Ownership belongs to the object, not to a thread: every method may be called from any thread. ``with lock:``
    acquires with the object's time-out and releases. See LockObject for the arguments.
    """

    def acquire(self, timeout: Timeout = None) -> int:
        """Obtains the lock; returns its fencing token.

        ``timeout`` in seconds; ``math.inf``: no end; None: the object's. Raises InstanceLockException (lock_timeout:
        the message says who holds it; cancelled), SessionExpiredException, ConnectionLossException,
        RequestRejectedException. After an exception nothing of it stays in the queue. Ctrl-C withdraws the waiter.
        """
        limit = self._milliseconds(timeout)
        self._tell_stack()
        # Signals are handled by the main thread alone, and only while it runs Python.
        if threading.current_thread() is threading.main_thread():
            self._wait_in_python(limit)
        else:
            self._core.check_process()
            check(lib.fl_lock_acquire(self._handle, limit))
        return self.fencing_token

    def try_acquire(self) -> bool:
        """Obtains the lock if it is free and unwanted; does not queue. Returns whether it is held now."""
        self._core.check_process()
        self._tell_stack()
        code = lib.fl_lock_try(self._handle)
        if code == lib.FL_LOCK_UNAVAILABLE:
            return False
        check(code)
        return True

    def release(self) -> None:
        """Releases the lock and waits for the confirmation, at most about the session time-out.

        Not held afterwards, whatever it raises: NoNodeException (no_node: it was removed before; not_held),
        SessionExpiredException, ConnectionLossException.
        """
        self._core.check_process()
        check(lib.fl_lock_release(self._handle))

    def step_aside(self, timeout: Timeout = None) -> int:
        """Lets the locks that rank before this one go first and takes it again; returns the new fencing token.

        Raises InstanceLockException (lock_timeout: not held any more), LockUnhealthyException: it was not held.
        Cannot be interrupted.
        """
        self._core.check_process()
        check(lib.fl_lock_step_aside(self._handle, self._milliseconds(timeout)))
        return self.fencing_token

    def write_guarded(self, operations: Sequence[WriteOperation]) -> list[int]:
        """Commits ZooKeeper operations together with a check that the lock is still ours: all of them, or none.

        Paths are absolute inside the configured chroot. Blocks for a round trip; returns the new data version for
        each. Raises LockUnhealthyException and RequestRejectedException (write_conflict): nothing was written;
        ConnectionLossException: the message says whether the outcome is unknown.
        """
        return self._write_guarded(operations)

    def _wait_in_python(self, limit: int) -> None:
        ends: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._begin(lambda tag: int(lib.fl_lock_acquire_async(self._handle, limit, tag)), ends.put)
        try:
            end = ends.get()
        except BaseException:
            lib.fl_lock_cancel(self._handle, ffi.NULL)
            if ends.get().code == 0:
                lib.fl_lock_release_detached(self._handle)
            raise
        if end.code == 0:
            return
        if end.code == ErrorCode.LOCK_TIMEOUT:
            end = end._replace(message=end.message + self._holder())
        raise end.error()

    def _holder(self) -> str:
        """Who holds it now, for a message."""
        view = ffi.new("fl_view*")
        if lib.fl_inspect_show(self._core.handle, encode(self._monitor, "monitor"), _LOOK_AT_HOLDER_MS, view) != 0:
            return ""
        monitor = ffi.new("fl_monitor*", {"size": ffi.sizeof("fl_monitor")})
        found = lib.fl_view_monitor(view[0], 0, monitor) == 0 and monitor.held == 1 and monitor.has_owner == 1
        holder = f'; held by {text(monitor.owner.instance)} for "{text(monitor.owner.lock_info)}"' if found else ""
        lib.fl_view_free(view[0])
        return holder

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
