"""The state of a held lock: its tokens, its health, and its end."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any, Callable, Optional, Sequence, Union

from forelock._abi import ffi
from forelock._callables import check_callback
from forelock._event import Event
from forelock._green import blocking
from forelock._native import check, encode, invalid, last_error, lib, milliseconds, text
from forelock.client import Core
from forelock.values import LockState, LossReason, Owner, Priority, QueuePosition, owner_of

Duration = Union[float, datetime.timedelta]


@dataclasses.dataclass(frozen=True)
class CreateNode:
    """Creates a persistent node."""

    path: str
    data: bytes = b""


@dataclasses.dataclass(frozen=True)
class SetNode:
    """Replaces a node's data. ``version``: the data version that it must have; -1: any."""

    path: str
    data: bytes
    version: int = -1


@dataclasses.dataclass(frozen=True)
class DeleteNode:
    """Deletes a node. ``version``: the data version that it must have; -1: any."""

    path: str
    version: int = -1


@dataclasses.dataclass(frozen=True)
class CheckNode:
    """Changes nothing; the write is refused if the node's data version is another."""

    path: str
    version: int


WriteOperation = Union[CreateNode, SetNode, DeleteNode, CheckNode]


class Held:
    """Common part of locks and lock sets once they are held. Thread-safe."""

    def __init__(self, core: Core, handle: int) -> None:
        self._core = core
        self._handle = handle
        self._callbacks: dict[int, Callable[[Event], None]] = {}
        self._tag = 0

    def healthy(self) -> bool:
        """Whether it, or a set's every member, is certain to be held now. No network. Once false for a grant, it stays
        false.

        Not promised: that it is still true when the next instruction runs. Where that matters, give fencing tokens to
        the resource, or write through write_guarded().
        """
        return not self._core.forked and bool(lib.fl_lock_is_healthy(self._handle))

    def check_health(self) -> None:
        """Returns if healthy(). Raises LockUnhealthyException otherwise, with the lost monitor."""
        self._core.check_process()
        check(lib.fl_lock_check_health(self._handle))

    @property
    def expires_at(self) -> float:
        """The time until which it is certain, on time.monotonic(); advances by itself. 0: not held."""
        return 0.0 if self._core.forked else int(lib.fl_lock_expires_at_ns(self._handle)) / 1e9

    @property
    def expires_in(self) -> float:
        """The seconds for which it is certain from now on; 0: not healthy."""
        return 0.0 if self._core.forked else int(lib.fl_lock_time_left_ns(self._handle)) / 1e9

    @property
    def state(self) -> LockState:
        """The state. A set is LOST with one member; the others stay held until it is released."""
        self._core.check_process()
        state = ffi.new("int32_t*")
        check(lib.fl_lock_get_state(self._handle, state))
        return LockState(state[0])

    @property
    def held_header(self) -> str:
        """The value of the header ``X-Forelock-Held``, with which a node of OpenSearch or Elasticsearch that has the
        plugin does a write under this lock: ``monitor=token``, percent-encoded; for a set, of all members:
        ``monitor=token, monitor=token``. Read it anew after each grant.

        Raises Error (INVALID_ARGUMENT) if it was never granted.
        """
        self._core.check_process()
        header = ffi.new("char**")
        check(lib.fl_lock_held_header(self._handle, header))
        return text(header[0])

    def owner(self) -> Owner:
        """The record of the current acquisition; for a set, of each member but for the guid and the grant's times."""
        self._core.check_process()
        owner, linger = ffi.new("fl_owner*"), ffi.new("int64_t*")
        check(lib.fl_lock_owner(self._handle, owner))
        check(lib.fl_lock_get_linger(self._handle, linger))
        return owner_of(owner, linger[0])

    def alive(self, expected: Duration) -> None:
        """Records that the work continues as planned and needs this long. One request for each lock, without waiting.

        Raises LockUnhealthyException if it is not healthy.
        """
        self._core.check_process()
        check(lib.fl_lock_alive(self._handle, milliseconds(expected, "expected")))

    def on_danger(self, margin: Duration, callback: Callable[[], None]) -> None:
        """Sets the callback for when less than ``margin`` is left before expires_at while the connection is silent.

        ``margin``: more than 0, at most a third of the session time-out. See on_lost().
        """
        check_callback(callback)
        self._watch(lib.FL_EVENT_DANGER, lib.FL_ON_DANGER, lambda event: callback(), milliseconds(margin, "margin"))

    def _watch(self, kind: int, flag: int, callback: Callable[[Event], None], margin: int = 0) -> None:
        self._core.check_process()
        callbacks = self._callbacks
        if self._tag == 0:
            self._tag = self._core.dispatcher.watch(lambda event: callbacks[event.kind](event))
        before = callbacks.get(kind)
        callbacks[kind] = callback  # first: an event may come at once
        if lib.fl_lock_watch(self._handle, flag, margin, self._tag) != 0:
            error = last_error()
            if before is not None:
                callbacks[kind] = before
            raise error

    def _write_guarded(self, operations: Sequence[WriteOperation]) -> list[int]:
        self._core.check_process()
        return commit_guarded(self._handle, operations)

    def _end_watch(self) -> None:
        tag, self._tag = self._tag, 0
        if tag != 0 and not self._core.forked:
            self._core.dispatcher.forget(tag)


def position_of(event: Event) -> QueuePosition:
    """The place that a FL_EVENT_QUEUED reports."""
    return QueuePosition(event.value, event.message, int(event.hint) / 1000 if event.hint else None)


class HeldLock(Held):
    """Common part of BlockingLock, aio.Lock and the attempts of handlers."""

    def __init__(self, core: Core, handle: int, monitor: str) -> None:
        super().__init__(core, handle)
        self._monitor = monitor

    @property
    def monitor(self) -> str:
        """The monitor object's id."""
        return self._monitor

    @property
    def fencing_token(self) -> int:
        """The token of the current or last grant: rises strictly from grant to grant of one monitor. 0: never granted.

        With ``zookeeper.lock.linger`` sections of one process may share a grant.
        """
        return int(lib.fl_lock_token(self._handle))

    def on_lost(self, callback: Callable[[LossReason], None]) -> None:
        """Sets the callback for losses: called once for each grant that is lost.

        As all callbacks, it runs on the client's one callback thread, so it should be short and must not wait for
        another lock; its exceptions are logged. Set it while the lock is free (in an operation: before anything else).
        Raises TypeError if it is not callable, or is a coroutine or generator function, whose body would not run.
        """
        check_callback(callback)
        self._watch(lib.FL_EVENT_LOST, lib.FL_ON_LOST, lambda event: callback(LossReason(event.value)))

    def on_queued(self, callback: Callable[[QueuePosition], None]) -> None:
        """Sets the callback for the place in the queue: called when it becomes known, and when it changes.

        Costs the server a listing for each change. See on_lost().
        """
        check_callback(callback)
        self._watch(lib.FL_EVENT_QUEUED, lib.FL_ON_QUEUED, lambda event: callback(position_of(event)))

    def on_contended(self, callback: Callable[[Priority], None]) -> None:
        """Sets the callback for contention: called when another contender waits, once for each class and grant.

        Costs a watch, and a listing for each change in the queue. See on_lost().
        """
        check_callback(callback)
        self._watch(lib.FL_EVENT_CONTENDED, lib.FL_ON_CONTENDED, lambda event: callback(Priority(event.value)))


_KINDS: dict[type, int] = {
    CreateNode: lib.FL_WRITE_CREATE,
    SetNode: lib.FL_WRITE_SET,
    DeleteNode: lib.FL_WRITE_DELETE,
    CheckNode: lib.FL_WRITE_CHECK,
}


def commit_guarded(handle: int, operations: Sequence[WriteOperation]) -> list[int]:
    """Commits a guarded write of a lock or a set."""
    kept: list[Any] = []  # the memory to which the structures point

    def keep(data: bytes) -> Any:
        kept.append(ffi.new("char[]", data))
        return kept[-1]

    writes = ffi.new("fl_write[]", len(operations))
    for write, operation in zip(writes, operations):
        write.path = keep(encode(operation.path, "path"))
        write.version = -1
        if isinstance(operation, (CreateNode, SetNode)):
            if not isinstance(operation.data, bytes):
                raise invalid("a node's data are bytes")
            write.data = keep(operation.data)
            write.length = len(operation.data)
        if not isinstance(operation, CreateNode):
            write.version = operation.version
        write.kind = _KINDS[type(operation)]
    versions = ffi.new("int32_t[]", len(operations))
    blocking(lambda: check(lib.fl_lock_write_guarded(handle, writes, len(operations), versions)))
    return list(versions)
