"""The holder of a lock that was not obtained in time, read from the server for a message like the library's own."""

from __future__ import annotations

import datetime
import time

from forelock._abi import ffi
from forelock._event import Event
from forelock._native import encode, lib, text
from forelock.client import Core
from forelock.values import Owner, owner_of

#: The longest wait for the holder's name after a time-out, in milliseconds.
LOOK_MS = 150


def with_holder(core: Core, refusal: Event) -> Event:
    """The end of an acquisition; after a time-out, with the holder in its message. Blocks shortly for that."""
    if refusal.code != lib.FL_LOCK_TIMEOUT:
        return refusal
    # Behind "within 300 ms", before the place in the queue.
    place = refusal.message.find(";", len(f"the lock on {refusal.monitor} was not obtained within "))
    end = place if place >= 0 else len(refusal.message)
    told = refusal.message[:end] + _describe(core, refusal.monitor) + refusal.message[end:]
    return refusal._replace(message=told)


def _describe(core: Core, monitor: str) -> str:
    view = ffi.new("fl_view*")
    if lib.fl_inspect_holder(core.handle, encode(monitor, "monitor"), LOOK_MS, view) != 0:
        return ""
    try:
        seen = ffi.new("fl_monitor*", {"size": ffi.sizeof("fl_monitor")})
        if lib.fl_view_monitor(view[0], 0, seen) != 0 or seen.held != 1:
            return "; it is not held at this moment"
        if seen.has_owner != 1:
            return "; a client that leaves no record holds it"
        return _held_by(owner_of(seen.owner, seen.linger_ms))
    finally:
        lib.fl_view_free(view[0])


def _held_by(owner: Owner) -> str:
    held = f'; held by {owner.instance} for "{owner.lock_info}" ({owner.priority})'
    if owner.acquired_at is None:
        return held
    since = datetime.datetime.fromtimestamp(owner.acquired_at, datetime.timezone.utc)
    return (f"{held} since {since.isoformat(timespec='milliseconds').replace('+00:00', 'Z')} "
            f"({max(0.0, time.time() - owner.acquired_at):.1f} s)")
