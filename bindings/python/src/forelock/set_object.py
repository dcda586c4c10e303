"""SetObject: the common part of the lock sets of threads and of tasks."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Optional

from forelock._abi import ffi
from forelock._callables import check_callback
from forelock._native import Timeout, check, encode, lib, text, timeout_milliseconds
from forelock.client import Client, core_of
from forelock.held import Duration, position_of
from forelock.lock_object import Acquirable, captures_stack, options_of
from forelock.values import LossReason, Priority, PriorityLike, QueuePosition, priority_of


class SetObject(Acquirable):
    """Several monitors as one lock: all of them or none, with one deadline, and free of deadlock however sets overlap.
    Other clients see ordinary locks, one for each member. One acquisition at a time. Not re-entrant. Thread-safe.

    *Not* covered: a program that takes a set while it holds another set or a lock; it must keep an order of its own.
    """

    def __init__(self, client: Client, monitors: Iterable[str], *, lock_info: str = "",
                 priority: PriorityLike = Priority.FOREGROUND, timeout: Timeout = None,
                 expected_runtime: Optional[Duration] = None, auto_unlock_after: Optional[Duration] = None,
                 thread_name: Optional[str] = None, may_linger: bool = True,
                 capture_stack: Optional[bool] = None, refuse_in_vain: Optional[bool] = None,
                 queue_max: Optional[int] = None, keep_monitor: bool = False) -> None:
        """Creates a set, free.

        ``monitors``: the members' ids in any order, 1 to 1,000; the same id twice counts once. The other arguments are
        as for BlockingLock, and apply to each member.
        """
        if isinstance(monitors, str):
            raise TypeError("monitors is one str; a set takes several")
        core = core_of(client)
        ids = [ffi.new("char[]", encode(monitor, "a monitor")) for monitor in monitors]
        options, _name = options_of(expected_runtime, auto_unlock_after, thread_name, may_linger,
                                    refuse_in_vain, queue_max, keep_monitor)
        timeout_milliseconds(timeout)  # is valid
        result = ffi.new("fl_set*")
        check(lib.fl_set_new(core.use(), encode(lock_info, "lock_info"), ffi.new("char*[]", ids), len(ids),
                             priority_of(priority), options, result))
        super().__init__(core, int(result[0]))
        self._client = client
        self._lock_info = lock_info
        self._priority = priority_of(priority)
        self._timeout = timeout
        self._captures_stack = captures_stack(core, may_linger, capture_stack)
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
    def fencing_tokens(self) -> dict[str, int]:
        """The tokens of the current or last grant by the members' ids, as a lock's fencing_token. 0: never granted."""
        self._core.check_process()
        return {monitor: self._member(i)[1] for i, monitor in enumerate(self._monitors)}

    @property
    def waits_for(self) -> Optional[str]:
        """The member in whose queue the set waits at this moment; None: it waits in none."""
        self._core.check_process()
        monitor = ffi.new("char**")
        check(lib.fl_set_waits_for(self._handle, monitor))
        return text(monitor[0]) or None

    def on_lost(self, callback: Callable[[LossReason, str], None]) -> None:
        """Sets the callback for losses: gets the member, once for each grant. As a lock's on_lost()."""
        check_callback(callback)
        self._watch(lib.FL_EVENT_LOST, lib.FL_ON_LOST, lambda event: callback(LossReason(event.value), event.monitor))

    def on_queued(self, callback: Callable[[QueuePosition, str], None]) -> None:
        """Sets the callback for places: gets the member that it waits for, when the place becomes known or changes.

        Costs the server a listing for each change. See on_lost().
        """
        check_callback(callback)
        self._watch(lib.FL_EVENT_QUEUED, lib.FL_ON_QUEUED, lambda event: callback(position_of(event), event.monitor))

    def on_contended(self, callback: Callable[[Priority, str], None]) -> None:
        """Sets the callback for contention: called when another contender waits, once for each class, member and grant.

        Costs a watch for each member, and a listing for each change in its queue. See on_lost().
        """
        check_callback(callback)
        self._watch(lib.FL_EVENT_CONTENDED, lib.FL_ON_CONTENDED,
                    lambda event: callback(Priority(event.value), event.monitor))

    def __repr__(self) -> str:
        return (f"<{type(self).__module__}.{type(self).__qualname__} {self._monitors[0]!r} "
                f"and {len(self._monitors) - 1} more, {self._priority.name.lower()}>")
