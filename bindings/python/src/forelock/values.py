"""The values that locks and the inspector give."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, Optional, Union

from forelock._native import invalid, text
from forelock.errors import NamedNumber


class Priority(NamedNumber):
    """The two classes of work: a waiting foreground lock always goes before a waiting background one."""

    FOREGROUND = 0
    BACKGROUND = 1


#: A Priority, "foreground" or "background".
PriorityLike = Union[Priority, Literal["foreground", "background"]]


class LockState(NamedNumber):
    """Where a lock object stands."""

    FREE = 0
    WAITING = 1
    HELD = 2
    #: Held; the connection is silent. Certain until it expires.
    SUSPECT = 3
    #: Was held, and is not any more, without having been released.
    LOST = 4


class LossReason(NamedNumber):
    """Why a held lock was lost."""

    DEADLINE_PASSED = 1
    SESSION_EXPIRED = 2
    REMOVED = 3
    CLOSED = 4


@dataclasses.dataclass(frozen=True)
class Owner:
    """Who holds or waits, and what for. Wall-clock times in seconds since 1970; None: not known."""

    lock_info: str
    instance: str
    guid: str
    stack: str
    priority: Priority
    enqueued_at: Optional[float]
    acquired_at: Optional[float]
    expected_runtime: Optional[float]
    alert_at: Optional[float]
    auto_unlock_at: Optional[float]
    #: For how many seconds the lock may stay with its process after a section; None: not at all. Then the rest is that
    #: of the grant's first section: a later one may be under way, or none.
    linger: Optional[float] = None


@dataclasses.dataclass(frozen=True)
class QueuePosition:
    """The place of a waiting lock in the queue."""

    #: 1 is next.
    place: int
    #: The node directly before; "privateLock": only the holder.
    behind: str
    #: How long it will probably still wait, in seconds, by how this process's latest waits of its class for the monitor
    #: went; None as long as these were too few.
    expected_wait: Optional[float] = None


def priority_of(value: PriorityLike) -> Priority:
    """The class that is meant."""
    if isinstance(value, Priority):
        return value
    if isinstance(value, str) and value.upper() in Priority.__members__:
        return Priority[value.upper()]
    raise invalid(f"priority is {value!r}; a priority is Priority.FOREGROUND or Priority.BACKGROUND")


def _seconds(value: int) -> Optional[float]:
    return None if value < 0 else value / 1000


def owner_of(owner: Any, linger_ms: int) -> Owner:
    """Of a fl_owner, and of what it has no place for."""
    return Owner(
        lock_info=text(owner.lock_info),
        instance=text(owner.instance),
        guid=text(owner.guid),
        stack=text(owner.stack),
        priority=Priority(owner.priority),
        enqueued_at=_seconds(owner.enqueued_at_ms),
        acquired_at=_seconds(owner.acquired_at_ms),
        expected_runtime=_seconds(owner.expected_runtime_ms),
        alert_at=_seconds(owner.alert_at_ms),
        auto_unlock_at=_seconds(owner.auto_unlock_at_ms),
        linger=_seconds(linger_ms),
    )
