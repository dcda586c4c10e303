"""Client: a session with ZooKeeper, the base of all locks."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import logging
import os
import warnings
import weakref
from types import TracebackType
from typing import Any, Mapping, Optional, Union

from forelock._abi import ffi
from forelock._dispatcher import Dispatcher
from forelock._green import blocking, refuse_eventlet
from forelock._native import check, encode, lib, milliseconds, text
from forelock.errors import ErrorCode, make_error
from forelock.values import LossReason, PriorityLike, priority_of


#: The upper bounds of a DurationHistogram's buckets, in seconds; one more bucket has all longer durations.
BOUNDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0)


@dataclasses.dataclass(frozen=True)
class DurationHistogram:
    """Durations, counted by size."""

    #: Of each bucket alone, not cumulative.
    counts: tuple[int, ...]
    #: The sum of all, in seconds.
    sum: float


@dataclasses.dataclass(frozen=True)
class LockTimes:
    """The waits and holds of the locks of one class since the client was opened."""

    #: The waits of granted acquisitions, from their begin.
    wait: DurationHistogram
    #: The holds of locks, until their release was called or they were lost.
    hold: DurationHistogram


@dataclasses.dataclass(frozen=True)
class ClientStatus:
    """The state of a client, and counts since it was opened."""

    connected: bool
    session_id: int
    #: Seconds; granted by the server, 0 before the first connection.
    session_timeout: float
    granted: int
    refused: int
    lost: int
    released: int
    requests: int
    sessions_expired: int
    disconnections: int
    contenders: int
    #: ``host/pid``
    instance: str
    #: The reason of the last failed attempt to connect; may be empty.
    last_problem: str
    #: Acquisitions of a lock that lingered (``zookeeper.lock.linger``): without a request.
    taken_again: int = 0
    #: Locks that linger now.
    lingering: int = 0
    #: The number of lost locks by reason.
    lost_by_reason: Mapping[LossReason, int] = dataclasses.field(default_factory=dict)
    #: Attempts of operations after the first.
    retries: int = 0
    #: Operations whose last attempt has failed.
    retries_exhausted: int = 0


class Core:
    """The state that a client shares with everything made with it."""

    def __init__(self, handle: int, lingers: bool, session_ms: int) -> None:
        self.handle = handle
        #: Whether locks may linger.
        self.lingers = lingers
        self.forked = False
        self.closed = False
        self.dispatcher = Dispatcher(handle, max(1, session_ms // 8))
        _cores.add(self)

    def check_process(self) -> None:
        """Raises in a process that was forked from the client's: it has neither its threads nor its session."""
        if self.forked:
            raise make_error(ErrorCode.FORKED, "", "the client belongs to the parent process",
                             "open a client of its own in each process, after the fork")

    def use(self) -> int:
        """The client's handle."""
        self.check_process()
        if self.closed:
            raise make_error(ErrorCode.CLOSED, "", "the client is closed")
        return self.handle

    def close(self) -> None:
        """Closes the client. Idempotent; concurrent calls all wait until it is done."""
        if self.forked:
            return
        if not self.closed:
            self.closed = True
            blocking(lambda: int(lib.fl_client_close(self.handle)))  # by a second thread: it may have been freed
        self.dispatcher.join()


_cores: weakref.WeakSet[Core] = weakref.WeakSet()


def _after_fork() -> None:
    for core in _cores:
        core.forked = True


os.register_at_fork(after_in_child=_after_fork)


class Config:
    """Settings in the native library."""

    def __init__(self, file: Union[str, os.PathLike[str], None], settings: Mapping[str, object]) -> None:
        result = ffi.new("fl_config*")
        if file is None:
            check(lib.fl_config_new(result))
        else:
            check(lib.fl_config_load(encode(os.fspath(file), "file"), result))
        self.handle = int(result[0])
        try:
            self._set(settings)
        except BaseException:
            self.free()
            raise

    def _set(self, settings: Mapping[str, object]) -> None:
        keys = [ffi.new("char[]", encode(key, "a setting's key")) for key in settings]
        values = [ffi.new("char[]", encode(_value_text(value), key)) for key, value in settings.items()]
        check(lib.fl_config_set_all(self.handle, ffi.new("char*[]", keys), ffi.new("char*[]", values), len(keys)))

    def get(self, key: str) -> str:
        """The effective value."""
        value = ffi.new("char**")
        check(lib.fl_config_get(self.handle, encode(key, "key"), value))
        return text(value[0])

    def free(self) -> None:
        """Frees it; clients made with it keep their settings."""
        lib.fl_config_free(self.handle)


def core_of(client: Any) -> Core:
    """The core of an argument that must be a client."""
    core = getattr(client, "core", None)
    if not isinstance(core, Core):
        raise TypeError(f"client is a {type(client).__name__}, not a forelock.Client")
    return core


def _value_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.timedelta):
        return str(milliseconds(value, "a duration"))
    return str(value)


def merge(settings: Optional[Mapping[str, object]], keywords: Mapping[str, object]) -> dict[str, object]:
    """Merges settings of a dict with those of keywords, which override them and in which "_" stands for "."."""
    merged: dict[str, object] = dict(settings or {})
    merged.update((key.replace("_", "."), value) for key, value in keywords.items())
    return merged


class Client:
    """A session with ZooKeeper. One for each process is enough, whatever the number of locks.

    ``file`` is a `.properties` or `.yaml` file; ``settings`` override it, keywords both. In keywords "_" stands for
    ".": ``Client(zookeeper_servers="zk1:2181,zk2:2181", zookeeper_session_timeout="15s")``.

    Connects in the background. Thread-safe. Belongs to the process that made it: after os.fork() everything that is
    made with it raises RequestRejectedException (forked) in the child, and its locks are not healthy there.
    ``with`` or close() ends the session: waiting acquisitions end with code closed, held locks are lost.
    """

    def __init__(self, file: Union[str, os.PathLike[str], None] = None,
                 settings: Optional[Mapping[str, object]] = None, **keywords: object) -> None:
        refuse_eventlet()
        config = Config(file, merge(settings, keywords))
        try:
            result = ffi.new("fl_client*")
            flags = lib.FL_CLIENT_LOG_EVENTS
            if logging.getLogger("forelock").isEnabledFor(logging.DEBUG):
                flags |= lib.FL_CLIENT_LOG_DEBUG
            check(lib.fl_client_open(config.handle, flags, result))
            try:
                self.core = Core(int(result[0]), lingers=config.get("zookeeper.lock.linger") != "0",
                                 session_ms=int(config.get("zookeeper.session.timeout")))
            except BaseException:
                lib.fl_client_free(result[0])
                raise
        finally:
            config.free()
        self._finalizer = weakref.finalize(self, Core.close, self.core)  # at the latest at exit

    def wait_connected(self, timeout: Union[float, datetime.timedelta]) -> None:
        """Waits until a server has accepted the session. Raises ConnectionLossException: not within the time."""
        handle, limit = self.core.use(), milliseconds(timeout, "timeout")
        blocking(lambda: check(lib.fl_client_wait_connected(handle, limit)))

    @property
    def status(self) -> ClientStatus:
        """The client's state and counts."""
        status = ffi.new("fl_client_status*", {"size": ffi.sizeof("fl_client_status")})
        check(lib.fl_client_get_status(self.core.use(), status))
        return ClientStatus(
            connected=status.connected == 1,
            session_id=status.session_id,
            session_timeout=status.session_timeout_ms / 1000,
            granted=status.granted,
            refused=status.refused,
            lost=status.lost,
            released=status.released,
            requests=status.requests,
            sessions_expired=status.sessions_expired,
            disconnections=status.disconnections,
            contenders=status.contenders,
            instance=text(status.instance),
            last_problem=text(status.last_problem),
            taken_again=status.taken_again,
            lingering=status.lingering,
            lost_by_reason=dict(zip(LossReason, status.lost_by_reason)),
            retries=status.retries,
            retries_exhausted=status.retries_exhausted,
        )

    def times(self, priority: PriorityLike) -> LockTimes:
        """The waits for locks of this class, and their holds; each member of a lock set counts."""
        times = ffi.new("fl_times*", {"size": ffi.sizeof("fl_times")})
        check(lib.fl_client_get_times(self.core.use(), int(priority_of(priority)), times))
        return LockTimes(DurationHistogram(tuple(times.waits), times.wait_sum_ns / 1e9),
                         DurationHistogram(tuple(times.holds), times.hold_sum_ns / 1e9))

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self.core.closed

    def close(self) -> None:
        """Ends the session. Idempotent. Returns when every callback has been called, unless a callback calls it."""
        self.core.close()
        self._finalizer.detach()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        await asyncio.to_thread(self.close)

    def __del__(self) -> None:
        core: Any = getattr(self, "core", None)
        if core is not None and not core.closed and not core.forked:
            warnings.warn(f"a client was never closed: {self!r}", ResourceWarning, source=self)
