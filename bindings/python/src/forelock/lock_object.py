"""The common part of the locks and lock sets of threads and of tasks: acquisition and release."""

from __future__ import annotations

import datetime
import warnings
from typing import Any, Callable, Optional, Union

from forelock._abi import ffi
from forelock._event import Receiver
from forelock._native import Timeout, check, encode, last_error, lib, milliseconds, timeout_milliseconds
from forelock._stack import stack_of_caller
from forelock.client import Client, Core, core_of
from forelock.held import Held, HeldLock
from forelock.values import Priority, PriorityLike, priority_of

Duration = Union[float, datetime.timedelta]


def options_of(expected_runtime: Optional[Duration], auto_unlock_after: Optional[Duration],
               thread_name: Optional[str], may_linger: bool, refuse_in_vain: Optional[bool],
               queue_max: Optional[int], keep_monitor: bool) -> tuple[Any, Any]:
    """The options in the library's form, and the text to which they point."""
    options = ffi.new("fl_lock_options*", {"size": ffi.sizeof("fl_lock_options")})
    if expected_runtime is not None:
        options.expected_runtime_ms = milliseconds(expected_runtime, "expected_runtime")
    if auto_unlock_after is not None:
        options.auto_unlock_after_ms = milliseconds(auto_unlock_after, "auto_unlock_after")
    name = ffi.new("char[]", encode(thread_name, "thread_name")) if thread_name is not None else ffi.NULL
    options.thread_name = name
    options.flags = 0 if may_linger else lib.FL_LOCK_NO_LINGER
    if keep_monitor:
        options.flags |= lib.FL_LOCK_KEEP_MONITOR
    if refuse_in_vain is not None:
        options.flags |= lib.FL_LOCK_ADMISSION_REFUSE if refuse_in_vain else lib.FL_LOCK_ADMISSION_OFF
    if queue_max is not None:
        options.queue_max = queue_max or lib.FL_UNLIMITED
    return options, name


def captures_stack(core: Core, may_linger: bool, wanted: Optional[bool]) -> bool:
    """Whether owner records have the call stack of the acquisition."""
    return not (may_linger and core.lingers) if wanted is None else wanted


class Acquirable(Held):
    """Common part of lock objects and lock set objects; one acquisition at a time. Not re-entrant."""

    _client: Client  # a lock needs its client
    _lock_info: str
    _priority: Priority
    _timeout: Timeout
    _captures_stack: bool

    @property
    def lock_info(self) -> str:
        """A short description of the lock's purpose."""
        return self._lock_info

    @property
    def priority(self) -> Priority:
        """The class in which it contends."""
        return self._priority

    def set_priority(self, priority: PriorityLike) -> bool:
        """Changes the class, and returns whether: not while it is held, about to be, or being released.

        A lock that waits moves at once to the end of its new class's queue, with the same deadline; a free one changes
        from its next acquisition on. In a set, the member that it waits for moves, and members taken afterwards contend
        in the new class. Does not wait for the servers.
        """
        self._core.check_process()
        changed = ffi.new("int32_t*")
        check(lib.fl_lock_set_priority(self._handle, priority_of(priority), changed))
        if changed[0]:
            self._priority = priority_of(priority)
        return bool(changed[0])

    def inside(self, outer: Acquirable) -> None:
        """Declares that this lock is taken while ``outer`` is held, from its next acquisition on.

        Contenders that wait for ``outer`` then wait for this lock as well. If a foreground contender waits for
        ``outer`` while this lock waits in the background, this one moves to the foreground's queue, 100 ms after it
        began to wait or later; its class stays. May be called for several outer locks; one that is not held does not
        count.
        """
        self._core.check_process()
        check(lib.fl_lock_inside(self._handle, outer._handle))

    def cancel(self) -> bool:
        """Cancels a waiting acquisition: it ends with code cancelled. Returns whether there was one."""
        self._core.check_process()
        was_waiting = ffi.new("int32_t*")
        check(lib.fl_lock_cancel(self._handle, was_waiting))
        return bool(was_waiting[0])

    def release_detached(self) -> None:
        """Releases it without confirmation; the client completes the release in the background."""
        self._core.check_process()
        check(lib.fl_lock_release_detached(self._handle))

    def close(self) -> None:
        """Cancels or releases it without waiting. Idempotent. Not usable afterwards."""
        handle, self._handle = self._handle, 0
        self._end_watch()
        if handle != 0 and not self._core.forked:
            lib.fl_lock_free(handle)

    def _tell_stack(self) -> None:
        """Records the call stack of the acquisition that begins now."""
        if self._captures_stack and not self._core.forked:
            lib.fl_lock_set_stack(self._handle, stack_of_caller())

    def _milliseconds(self, timeout: Timeout) -> int:
        return timeout_milliseconds(self._timeout if timeout is None else timeout)

    def _begin(self, call: Callable[[int], int], receiver: Receiver) -> int:
        """Begins an asynchronous call, whose end the receiver gets. Returns its tag."""
        self._core.check_process()
        tag = self._core.dispatcher.expect(receiver)
        if call(tag) != 0:
            error = last_error()
            self._core.dispatcher.forget(tag)
            raise error
        return tag

    def __del__(self) -> None:
        handle: Any = getattr(self, "_handle", 0)
        if handle == 0 or self._core.forked:
            return
        state = ffi.new("int32_t*")
        if lib.fl_lock_get_state(handle, state) == 0 and state[0] not in (lib.FL_STATE_FREE, lib.FL_STATE_LOST):
            warnings.warn(f"{self!r} was neither released nor closed", ResourceWarning, source=self)
        self.close()


class LockObject(Acquirable, HeldLock):
    """A lock object."""

    def __init__(self, client: Client, monitor: str, *, lock_info: str = "",
                 priority: PriorityLike = Priority.FOREGROUND, timeout: Timeout = None,
                 expected_runtime: Optional[Duration] = None, auto_unlock_after: Optional[Duration] = None,
                 thread_name: Optional[str] = None, may_linger: bool = True,
                 capture_stack: Optional[bool] = None, refuse_in_vain: Optional[bool] = None,
                 queue_max: Optional[int] = None, keep_monitor: bool = False) -> None:
        """Creates a lock object, free.

        ``monitor`` is the id of the monitor object: any text, 1 to 255 bytes after encoding.
        ``lock_info``: the purpose, a text for people.
        ``priority``: a waiting foreground lock goes before every waiting background one.
        ``timeout``: of acquire() without an argument; None: the one configured for the class.
        ``expected_runtime``: the expected duration of the work.
        ``auto_unlock_after``, written into the owner record: the time after which an unlocker may free the lock:
        ``forelock serve --unlocker``, or your own program (Inspector.force_release()).
        ``thread_name``: of the identity ``host/pid/thread``.
        ``may_linger``: whether an acquisition may get a lock that lingers, and its lock may linger afterwards
        (``zookeeper.lock.linger``); False: each has its own grant, with a fencing token that no other section has.
        ``capture_stack``: whether the owner record has the call stack of acquire(), at most eight frames; None: it does
        unless the lock may linger, since a record describes a grant's first section alone.
        ``refuse_in_vain``, in place of ``zookeeper.admission``: whether an acquisition that would probably time out is
        refused at once (code lock_refused).
        ``queue_max``, in place of ``zookeeper.queue.max``: it is refused if that many wait before it; 0: no limit.
        ``keep_monitor``: whether a monitor's node that an acquisition creates stays when it is unused
        (``zookeeper.monitor.linger``): for a small number of monitors that are locked again and again.
        """
        core = core_of(client)
        options, _name = options_of(expected_runtime, auto_unlock_after, thread_name, may_linger,
                                    refuse_in_vain, queue_max, keep_monitor)
        timeout_milliseconds(timeout)  # is valid
        result = ffi.new("fl_lock*")
        check(lib.fl_lock_new(core.use(), encode(lock_info, "lock_info"), encode(monitor, "monitor"),
                              priority_of(priority), options, result))
        HeldLock.__init__(self, core, int(result[0]), monitor)
        self._client = client
        self._lock_info = lock_info
        self._priority = priority_of(priority)
        self._timeout = timeout
        self._captures_stack = captures_stack(core, may_linger, capture_stack)

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__qualname__} {self._monitor!r}, {self._priority.name.lower()}>"
