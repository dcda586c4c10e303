"""Attempts at an operation or a dead letter, with their lock held, as passed to handlers."""

from __future__ import annotations

import dataclasses
import logging
import time
from typing import Any, Optional, Sequence

from forelock._event import write_log
from forelock._native import lib
from forelock.client import Client
from forelock.errors import Error, OperationFailure
from forelock.held import Duration, HeldLock, WriteOperation


@dataclasses.dataclass(frozen=True)
class FailedAttempt:
    """One failed attempt at an operation."""

    #: The stable code, for programs: lower case letters, digits, underscores.
    code: str
    #: The message, for people.
    message: str = ""
    #: The time of the failure, in seconds since 1970.
    at: float = dataclasses.field(default_factory=time.time)
    #: Its wait for the lock.
    waited: Duration = 0.0


class HandledAttempt(HeldLock):
    """Common part of Attempt and ReplayAttempt. ``kind``: the type of operation."""

    def __init__(self, client: Client, handle: int, monitor: str, kind: str) -> None:
        super().__init__(client.core, handle, monitor)
        self._kind = kind

    def write_guarded(self, operations: Sequence[WriteOperation]) -> list[int]:
        """See BlockingLock.write_guarded()."""
        return self._write_guarded(operations)

    def end(self, failure: Optional[BaseException]) -> None:
        """Called by the handler's caller alone."""
        self._end_watch()
        if failure is None:
            lib.fl_attempt_succeed(self._handle)
            return
        known = isinstance(failure, (Error, OperationFailure))
        try:
            code, message, retryable = _describe(failure) if known else ("handler_failed", str(failure), False)
        except Exception:  # an exception that cannot be passed on; the attempt has to end all the same
            code, message, retryable = "handler_failed", "", False
        message = message or type(failure).__name__
        lib.fl_attempt_fail(self._handle, _bytes(code), _bytes(message), retryable)
        if isinstance(failure, Exception) and not known:
            write_log(logging.ERROR, "the handler of %s failed", self._kind, exc_info=failure)


def _describe(failure: Any) -> tuple[str, str, bool]:
    return str(failure.code), str(failure), bool(failure.retryable)


def _bytes(text: str) -> bytes:
    return text.replace("\0", "").encode("utf-8", "replace")
