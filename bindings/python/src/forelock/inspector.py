"""Inspector: which locks are held, by which clients, which wait, and why."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, List, Optional

from forelock._abi import ffi
from forelock._green import blocking
from forelock._native import check, encode, lib, milliseconds, text
from forelock.client import Client, core_of
from forelock.errors import NamedNumber
from forelock.held import Duration
from forelock.values import Owner, Priority, owner_of


@dataclasses.dataclass(frozen=True)
class Holder:
    """The holder of a monitor. None: not known."""

    owner: Optional[Owner]
    priority: Optional[Priority]
    #: Its contender node; empty if it has none.
    node: str
    session: int
    token: int
    #: For how many seconds, by wall clocks.
    held: float


@dataclasses.dataclass(frozen=True)
class Waiter:
    """One waiting contender. None: not known."""

    #: 1 is next.
    position: int
    node: str
    #: The node that it waits for.
    behind: str
    owner: Optional[Owner]
    priority: Optional[Priority]
    session: int
    #: For how many seconds, by wall clocks.
    waited: float


@dataclasses.dataclass(frozen=True)
class Monitor:
    """One monitor object, as seen."""

    monitor: str
    #: Its znode; empty in a list.
    path: str
    holder: Optional[Holder]
    waiting: int
    waiting_foreground: int
    waiting_background: int
    #: The line; empty in a list.
    line: tuple[Waiter, ...]
    #: For how many seconds the one has waited that has waited longest; None: none waits.
    oldest_wait: Optional[float] = None


@dataclasses.dataclass(frozen=True)
class SeenSet:
    """A lock set, as far as its nodes tell. Its records name the first members alone."""

    #: Of that acquisition of the set.
    id: str
    #: How many members it has.
    size: int
    #: Those that its records name, in the order in which they are taken.
    members: tuple[str, ...]
    #: Those of them that it holds.
    held: tuple[str, ...]
    #: How many it holds, of those that are not named too.
    held_count: int
    #: The member in whose queue it waits; None: in none.
    waits_for: Optional[str]
    #: The holder of that one.
    behind: Optional[Holder]


class ForceRelease(NamedNumber):
    """What Inspector.force_release() did."""

    RELEASED = 0
    #: Another client holds it now, or none: nothing was done.
    HOLDER_CHANGED = 1
    NO_SUCH_MONITOR = 2


class Inspector:
    """Looks at the namespace of a client. Each call blocks for its round trips, at most ``timeout``. Thread-safe.

    In asyncio: ``await asyncio.to_thread(inspector.show, "P1")``.
    """

    def __init__(self, client: Client, timeout: Duration = 10.0) -> None:
        core_of(client)
        self._client = client
        self._timeout = milliseconds(timeout, "timeout")

    def list(self, all: bool = False) -> List[Monitor]:
        """The monitors that are held or waited for, sorted by id; with ``all`` the idle ones too."""
        core = self._client.core
        return self._read(lambda view: int(lib.fl_inspect_list(core.use(), all, self._timeout, view)), False)

    def show(self, monitor: str) -> Optional[Monitor]:
        """One monitor with its queue; None if it does not exist."""
        core, name = self._client.core, encode(monitor, "monitor")
        seen = self._read(lambda view: int(lib.fl_inspect_show(core.use(), name, self._timeout, view)), True)
        return seen[0] if seen else None

    def lock_set(self, monitor: str, node: str) -> Optional[SeenSet]:
        """The lock set to which a contender belongs: what it holds, and what it waits for.

        ``node`` is its node in this monitor, of a Holder or Waiter. None: it is not there, left no record, or belongs
        to no set. Reads the members, or all monitors where its record does not name them all.
        """
        core, view, seen = self._client.core, ffi.new("fl_view*"), ffi.new("fl_view*")
        name = encode(monitor, "monitor")
        blocking(lambda: check(lib.fl_inspect_show(core.use(), name, self._timeout, view)))
        try:
            place = _place_of(view[0], node)
            if place is None:
                return None
            blocking(lambda: check(lib.fl_inspect_set(core.use(), view[0], place, self._timeout, seen)))
            return _set_of(seen[0]) if seen[0] != 0 else None
        finally:
            lib.fl_view_free(view[0])
            lib.fl_view_free(seen[0])

    def identity(self) -> str:
        """A text by which two processes find out whether they share one namespace.

        It is the same for all clients of it, whichever of its servers they name, and for no other one in the world.
        Made by the first who asks; lost with the servers' data.
        """
        core, written = self._client.core, ffi.new("char[]", lib.FL_IDENTITY_SIZE)
        blocking(lambda: check(lib.fl_inspect_identity(core.use(), self._timeout, written)))
        return text(written)

    def force_release(self, monitor: str, holder: str) -> ForceRelease:
        """Removes a holder, if ``holder`` still is the holder.

        That is its node, or its session as "0x…", with "@" and its token behind it: names come again in a monitor that
        is made anew. Writes; meant for people and unlockers.
        """
        core, result = self._client.core, ffi.new("int32_t*")
        name, of = encode(monitor, "monitor"), encode(holder, "holder")
        blocking(lambda: check(lib.fl_inspect_force_release(core.use(), name, of, self._timeout, result)))
        return ForceRelease(result[0])

    @staticmethod
    def _read(call: Callable[[Any], int], with_line: bool) -> List[Monitor]:
        view = ffi.new("fl_view*")
        blocking(lambda: check(call(view)))
        try:
            count = ffi.new("size_t*")
            check(lib.fl_view_count(view[0], count))
            return [_monitor_of(view[0], index, with_line) for index in range(count[0])]
        finally:
            lib.fl_view_free(view[0])


def _monitor_of(view: int, index: int, with_line: bool) -> Monitor:
    seen = ffi.new("fl_monitor*", {"size": ffi.sizeof("fl_monitor")})
    check(lib.fl_view_monitor(view, index, seen))
    return Monitor(
        monitor=text(seen.monitor),
        path=text(seen.path),
        holder=_holder_of(seen) if seen.held == 1 else None,
        waiting=seen.waiting,
        waiting_foreground=seen.waiting_foreground,
        waiting_background=seen.waiting_background,
        line=tuple(_waiter_of(view, place) for place in range(seen.waiting)) if with_line else (),
        oldest_wait=None if seen.oldest_wait_ms < 0 else seen.oldest_wait_ms / 1000,
    )


def _place_of(view: int, node: str) -> Optional[int]:
    """Where in a view of one monitor a node is: -1 for the holder's."""
    count = ffi.new("size_t*")
    check(lib.fl_view_count(view, count))
    if count[0] == 0 or not node:
        return None
    monitor = _monitor_of(view, 0, with_line=True)
    if monitor.holder is not None and monitor.holder.node == node:
        return -1
    return next((place for place, waiter in enumerate(monitor.line) if waiter.node == node), None)


def _set_of(view: int) -> SeenSet:
    seen = ffi.new("fl_seen_set*", {"size": ffi.sizeof("fl_seen_set")})
    check(lib.fl_view_set(view, seen))
    members, held = [], []
    name, is_held = ffi.new("char**"), ffi.new("int32_t*")
    for index in range(seen.named):
        check(lib.fl_view_set_member(view, index, name, is_held))
        members.append(text(name[0]))
        if is_held[0] == 1:
            held.append(members[-1])
    return SeenSet(
        id=text(seen.id),
        size=seen.members,
        members=tuple(members),
        held=tuple(held),
        held_count=seen.held,
        waits_for=text(seen.waits_for) or None,
        behind=_holder_of(seen) if seen.behind_holder == 1 else None,
    )


def _holder_of(seen: Any) -> Holder:
    return Holder(
        owner=owner_of(seen.owner, seen.linger_ms) if seen.has_owner == 1 else None,
        priority=_priority_of(seen.holder_priority),
        node=text(seen.holder_node),
        session=seen.holder_session,
        token=seen.holder_token,
        held=seen.held_ms / 1000,
    )


def _waiter_of(view: int, index: int) -> Waiter:
    waiter = ffi.new("fl_waiter*", {"size": ffi.sizeof("fl_waiter")})
    check(lib.fl_view_waiter(view, index, waiter))
    return Waiter(
        position=waiter.position,
        node=text(waiter.node),
        behind=text(waiter.behind),
        owner=owner_of(waiter.owner, waiter.linger_ms) if waiter.has_owner == 1 else None,
        priority=_priority_of(waiter.priority),
        session=waiter.session,
        waited=waiter.waited_ms / 1000,
    )


def _priority_of(value: int) -> Optional[Priority]:
    return None if value < 0 else Priority(value)
