"""SetObject: what the lock set of a thread and the lock set of a task have in common."""

from __future__ import annotations

import time
import warnings
from typing import Any, Callable, Iterable, Optional, Sequence, Union

from forelock._abi import ffi
from forelock._callables import check_callback
from forelock._event import Event, Receiver
from forelock._native import Timeout, check, encode, last_error, lib, milliseconds, text, timeout_milliseconds
from forelock._stack import stack_of_caller
from forelock.client import Client, core_of
from forelock.held import WriteOperation, commit_guarded
from forelock.lock_object import Duration, LockObject, captures_stack, options_of
from forelock.values import LockState, LossReason, Priority, PriorityLike, priority_of


class SetObject:
    """Several monitors as one lock, free: all of them or none, with one deadline, and free of deadlock whatever sets
    overlap. Other clients see ordinary locks, one for each member. One acquisition at a time. Not re-entrant.
    Thread-safe.

    *Not* covered: a program that takes a set while it holds another set or a lock; it has an order of its own to keep.
    """

    def __init__(self, client: Client, monitors: Iterable[str], *, lock_info: str = "",
                 priority: PriorityLike = Priority.FOREGROUND, timeout: Timeout = None,
                 expected_runtime: Optional[Duration] = None, auto_unlock_after: Optional[Duration] = None,
                 thread_name: Optional[str] = None, may_linger: bool = True,
                 capture_stack: Optional[bool] = None, refuse_in_vain: Optional[bool] = None,
                 queue_max: Optional[int] = None) -> None:
        """Makes a set, free.

        ``monitors``: the members' ids in any order, 1 to 1,000; the same id twice counts once. The other arguments are
        those of BlockingLock, and count for each member.
        """
        if isinstance(monitors, str):
            raise TypeError("monitors is one str; a set takes several")
        core = core_of(client)
        ids = [ffi.new("char[]", encode(monitor, "a monitor")) for monitor in monitors]
        options, _name = options_of(expected_runtime, auto_unlock_after, thread_name, may_linger,
                                    refuse_in_vain, queue_max)
        timeout_milliseconds(timeout)  # is valid
        result = ffi.new("fl_set*")
        check(lib.fl_set_new(core.use(), encode(lock_info, "lock_info"), ffi.new("char*[]", ids), len(ids),
                             priority_of(priority), options, result))
        self._client = client  # whatever has a set needs its client
        self._core = core
        self._handle = int(result[0])
        self._lock_info = lock_info
        self._priority = priority_of(priority)
        self._timeout = timeout
        self._captures_stack = captures_stack(core, may_linger, capture_stack)
        self._callbacks: dict[int, Callable[[Event], None]] = {}
        self._tag = 0
        self._monitors = tuple(text(self._member(i)[0]) for i in range(int(lib.fl_set_size(self._handle))))

    def _member(self, index: int) -> tuple[Any, int]:
        monitor, token = ffi.new("char**"), ffi.new("int64_t*")
        check(lib.fl_set_member(self._handle, index, monitor, token))
        return monitor[0], int(token[0])

    @property
    def monitors(self) -> tuple[str, ...]:
        """The members' ids, each once, in the order in which they are taken."""
        return self._monitors

    @property
    def lock_info(self) -> str:
        """Short description of why the lock is taken."""
        return self._lock_info

    @property
    def priority(self) -> Priority:
        """The class in which all members contend."""
        return self._priority

    def healthy(self) -> bool:
        """Whether every member is certain to be held now. As a lock's healthy(), and as cheap."""
        return not self._core.forked and bool(lib.fl_set_is_healthy(self._handle))

    def check_health(self) -> None:
        """Returns if healthy(). Raises LockUnhealthyException otherwise; its monitor is the member that was lost."""
        self._core.check_process()
        check(lib.fl_set_check_health(self._handle))

    @property
    def fencing_tokens(self) -> dict[str, int]:
        """By the members' ids: of the current or last grant, as a lock's fencing_token. 0: never granted."""
        self._core.check_process()
        return {monitor: self._member(i)[1] for i, monitor in enumerate(self._monitors)}

    @property
    def expires_at(self) -> float:
        """Until when all members are certain, on time.monotonic(); moves on by itself. 0: not held."""
        return 0.0 if self._core.forked else int(lib.fl_set_expires_at_ns(self._handle)) / 1e9

    @property
    def expires_in(self) -> float:
        """For how many seconds all members are certain from now on; 0: not healthy."""
        return max(0.0, self.expires_at - time.monotonic()) if self.healthy() else 0.0

    @property
    def state(self) -> LockState:
        """Where the set stands: LOST with one member; the others stay held until it is released."""
        self._core.check_process()
        state = ffi.new("int32_t*")
        check(lib.fl_set_get_state(self._handle, state))
        return LockState(state[0])

    @property
    def waits_for(self) -> Optional[str]:
        """The member in whose queue the set waits at this moment; None: it does not wait in one."""
        self._core.check_process()
        monitor = ffi.new("char**")
        check(lib.fl_set_waits_for(self._handle, monitor))
        return text(monitor[0]) or None

    def alive(self, expected: Duration) -> None:
        """The work continues as planned and needs ``expected`` (seconds or timedelta) more; a request for each member.

        Raises LockUnhealthyException if one is not healthy.
        """
        self._core.check_process()
        check(lib.fl_set_alive(self._handle, milliseconds(expected, "expected")))

    def _write_guarded(self, operations: Sequence[WriteOperation]) -> list[int]:
        self._core.check_process()
        return commit_guarded(lib.fl_set_write_guarded, self._handle, operations)

    def on_danger(self, margin: Duration, callback: Callable[[], None]) -> None:
        """Called when less than ``margin`` is left before expires_at while the connection is silent.

        ``margin``: more than 0, at most a third of the session time-out. See on_lost().
        """
        check_callback(callback)
        limit = milliseconds(margin, "margin")
        self._watch(lib.FL_EVENT_DANGER, lambda tag: int(lib.fl_set_watch_danger(self._handle, limit, tag)),
                    lambda event: callback())

    def on_lost(self, callback: Callable[[LossReason, str], None]) -> None:
        """Called with the member, once for each grant of which one is lost. As a lock's on_lost()."""
        check_callback(callback)
        self._watch(lib.FL_EVENT_LOST, self._watched(lib.FL_ON_LOST),
                    lambda event: callback(LossReason(event.value), event.monitor))

    def on_contended(self, callback: Callable[[Priority, str], None]) -> None:
        """Called when another contender waits behind a member, once for each class, member and grant.

        Costs a watch for each member, and a listing for each change in its queue. See on_lost().
        """
        check_callback(callback)
        self._watch(lib.FL_EVENT_CONTENDED, self._watched(lib.FL_ON_CONTENDED),
                    lambda event: callback(Priority(event.value), event.monitor))

    def set_priority(self, priority: PriorityLike) -> bool:
        """Changes the class, and returns whether: not once all members are held.

        The member that the set waits for moves, and those that it takes afterwards contend in the new class.
        As a lock's set_priority().
        """
        self._core.check_process()
        changed = ffi.new("int32_t*")
        check(lib.fl_set_set_priority(self._handle, priority_of(priority), changed))
        if changed[0]:
            self._priority = priority_of(priority)
        return bool(changed[0])

    def inside(self, outer: Union[LockObject, SetObject]) -> None:
        """As a lock's inside(), for the member that the set waits for."""
        self._core.check_process()
        inside = lib.fl_set_inside if isinstance(outer, LockObject) else lib.fl_set_inside_set
        check(inside(self._handle, outer._handle))

    def cancel(self) -> bool:
        """Cancels a waiting acquisition: it ends with code cancelled. Returns whether there was one."""
        self._core.check_process()
        was_waiting = ffi.new("int32_t*")
        check(lib.fl_set_cancel(self._handle, was_waiting))
        return bool(was_waiting[0])

    def release_detached(self) -> None:
        """Releases every member without any confirmation; the client makes sure in the background."""
        self._core.check_process()
        check(lib.fl_set_release_detached(self._handle))

    def close(self) -> None:
        """Gives up what it holds or waits for, without waiting; idempotent. Not usable any more afterwards."""
        handle, self._handle = self._handle, 0
        tag, self._tag = self._tag, 0
        if tag != 0 and not self._core.forked:
            self._core.dispatcher.forget(tag)
        if handle != 0 and not self._core.forked:
            lib.fl_set_free(handle)

    def _tell_stack(self) -> None:
        """Where the acquisition that begins now was called."""
        if self._captures_stack and not self._core.forked:
            lib.fl_set_set_stack(self._handle, stack_of_caller())

    def _milliseconds(self, timeout: Timeout) -> int:
        return timeout_milliseconds(self._timeout if timeout is None else timeout)

    def _begin(self, call: Callable[[int], int], receiver: Receiver) -> int:
        """An asynchronous call, whose end the receiver is told. Returns its tag."""
        self._core.check_process()
        tag = self._core.dispatcher.expect(receiver)
        if call(tag) != 0:
            error = last_error()
            self._core.dispatcher.forget(tag)
            raise error
        return tag

    def _watched(self, flag: int) -> Callable[[int], int]:
        return lambda tag: int(lib.fl_set_watch(self._handle, flag, tag))

    def _watch(self, kind: int, call: Callable[[int], int], callback: Callable[[Event], None]) -> None:
        self._core.check_process()
        callbacks = self._callbacks
        if self._tag == 0:
            self._tag = self._core.dispatcher.watch(lambda event: callbacks[event.kind](event))
        callbacks[kind] = callback  # first: an event may come at once
        check(call(self._tag))

    def __repr__(self) -> str:
        return (f"<{type(self).__module__}.{type(self).__qualname__} {self._monitors[0]!r} "
                f"and {len(self._monitors) - 1} more, {self._priority.name.lower()}>")

    def __del__(self) -> None:
        handle: Any = getattr(self, "_handle", 0)
        if handle == 0 or self._core.forked:
            return
        state = ffi.new("int32_t*")
        if lib.fl_set_get_state(handle, state) == 0 and state[0] not in (lib.FL_STATE_FREE, lib.FL_STATE_LOST):
            warnings.warn(f"a lock set was neither released nor closed: {self!r}", ResourceWarning, source=self)
        self.close()
