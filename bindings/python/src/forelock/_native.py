"""Loads the library and turns its results into exceptions and Python's values."""

from __future__ import annotations

import datetime
import functools
import math
from pathlib import Path
from typing import Any, Union

from forelock._abi import ffi
from forelock.errors import Error, ErrorCode, make_error

#: Seconds, or a timedelta; ``math.inf``: no limit; None: the configured one.
Timeout = Union[float, datetime.timedelta, None]

_FOLDER = Path(__file__).parent / "native"
_LARGEST = 2**62


def _open(name: str) -> Any:
    """The library from this package, or, where it has none, the system's."""
    path = _FOLDER / name
    return ffi.dlopen(str(path) if path.exists() else name)


# The dependencies first: the dynamic linker takes a library that is already loaded under the same name.
_dependencies = [_open(path.name) for path in sorted(_FOLDER.glob("*.so*")) if "forelock" not in path.name]
lib: Any = _open("libforelock.so.0.1")


def text(pointer: Any) -> str:
    """A text that the library returned."""
    if pointer == ffi.NULL:
        return ""
    result: bytes = ffi.string(pointer)
    return result.decode("utf-8", "replace")


def last_error() -> Error:
    """The last failure on this thread."""
    code = lib.fl_last_code()
    return make_error(code, text(lib.fl_last_monitor()), text(lib.fl_last_message()), text(lib.fl_last_hint()),
                      lib.fl_is_retryable(code) == 1)


def check(code: int) -> None:
    """Raises the exception of a code that is not FL_OK; to be called on the thread that got the code."""
    if code != 0:
        raise last_error()


def invalid(message: str) -> Error:
    """The exception of an invalid argument."""
    return make_error(ErrorCode.INVALID_ARGUMENT, "", message)


def encode(value: str, name: str) -> bytes:
    """A text for the library, which would end at a NUL."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is a {type(value).__name__}, not a str")
    if "\0" in value:
        raise invalid(f"{name} contains a NUL character")
    try:
        return value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise invalid(f"{name} is not valid Unicode: {error.reason}") from None


def milliseconds(value: Union[float, datetime.timedelta], name: str) -> int:
    """A duration in milliseconds, rounded up."""
    if isinstance(value, bool):
        raise TypeError(f"{name} is a bool, not seconds or a timedelta")
    seconds = value.total_seconds() if isinstance(value, datetime.timedelta) else value
    try:
        if not seconds >= 0:
            raise invalid(f"{name} is {seconds} s; a duration is 0 or more")
        return _LARGEST if seconds * 1000 > _LARGEST else math.ceil(seconds * 1000)
    except TypeError:
        raise TypeError(f"{name} is a {type(value).__name__}, not seconds or a timedelta") from None


def timeout_milliseconds(timeout: Timeout) -> int:
    """The time-out of an acquisition in the library's form."""
    if timeout is None:
        return int(lib.FL_CONFIGURED)
    if isinstance(timeout, bool):
        raise TypeError("timeout is a bool, not seconds or a timedelta: try_acquire() is the call that does not wait")
    if timeout == math.inf:
        return int(lib.FL_FOREVER)
    return milliseconds(timeout, "timeout")


@functools.cache  # kept for ever: cffi unloads an unreferenced library
def open_dead_letter_library() -> Any:
    """The library of the dead-letter queue, which needs SQLite and Kafka's client."""
    try:
        return _open("libforelock-dlq.so.0.1")
    except OSError as error:
        raise make_error(
            ErrorCode.OUTBOX_UNAVAILABLE, "", f"the dead-letter queue's library cannot be loaded: {error}",
            "on Debian: apt-get install librdkafka1 libsqlite3-0"
        ) from None


if lib.fl_check_abi(lib.FL_ABI_VERSION) != 0:
    raise ImportError(f"libforelock {text(lib.fl_version())} is older than this package: {last_error()}")
