"""Who holds a lock that was not obtained in time: asked of the server, for a message."""

from __future__ import annotations

from forelock._abi import ffi
from forelock._event import Event
from forelock._native import encode, lib, text
from forelock.client import Core

#: How long a caller whose time is up is kept waiting for the name of the holder.
LOOK_MS = 150


def with_holder(core: Core, refusal: Event) -> Event:
    """The end of an acquisition; of one that timed out, with the holder in its message. Blocks for that, shortly."""
    if refusal.code != lib.FL_LOCK_TIMEOUT:
        return refusal
    return refusal._replace(message=refusal.message + _describe(core, refusal.monitor))


def _describe(core: Core, monitor: str) -> str:
    view = ffi.new("fl_view*")
    if lib.fl_inspect_holder(core.handle, encode(monitor, "monitor"), LOOK_MS, view) != 0:
        return ""
    seen = ffi.new("fl_monitor*", {"size": ffi.sizeof("fl_monitor")})
    found = lib.fl_view_monitor(view[0], 0, seen) == 0 and seen.has_owner == 1
    holder = f'; held by {text(seen.owner.instance)} for "{text(seen.owner.lock_info)}"' if found else ""
    lib.fl_view_free(view[0])
    return holder
