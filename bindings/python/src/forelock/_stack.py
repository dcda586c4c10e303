"""The call stack of an acquisition, for its owner record."""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import Optional

_MAX_FRAMES = 8


def stack_of_caller() -> bytes:
    """The caller's frames without those of this package and of asyncio, innermost first, one line for each frame."""
    frame: Optional[FrameType] = sys._getframe(1)
    lines: list[str] = []
    while frame is not None and len(lines) < _MAX_FRAMES:
        if not _is_left_out(frame):
            lines.append(f"{_name(frame.f_code)} ({frame.f_code.co_filename}:{frame.f_lineno})")
        frame = frame.f_back
    return "\n".join(lines).encode("utf-8", "replace")


def _name(code: CodeType) -> str:
    if sys.version_info >= (3, 11):
        return code.co_qualname
    return code.co_name


def _is_left_out(frame: FrameType) -> bool:
    module: object = frame.f_globals.get("__name__")
    return isinstance(module, str) and module.partition(".")[0] in ("forelock", "asyncio")
