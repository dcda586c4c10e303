"""Exceptions: one base class with a stable code, and a class for each case that callers tell apart."""

from __future__ import annotations

import enum


class NamedNumber(enum.IntEnum):
    """The numbers of the library; as text the name, "lock_timeout"."""

    def __str__(self) -> str:
        return self.name.lower()

    def __format__(self, spec: str) -> str:
        return int.__format__(self, spec) if spec else str(self)


class ErrorCode(NamedNumber):
    """Stable codes. The numbers are those of forelock/c.h; ``str(code)`` is the stable name, "lock_timeout"."""

    LOCK_TIMEOUT = 1
    LOCK_UNAVAILABLE = 2
    CANCELLED = 3
    SESSION_EXPIRED = 4
    CONNECTION_LOSS = 5
    NO_NODE = 6
    LOCK_UNHEALTHY = 7
    NOT_AUTHORIZED = 8
    QUOTA_EXCEEDED = 9
    INVALID_ARGUMENT = 10
    REQUEST_TOO_LARGE = 11
    WRITE_CONFLICT = 12
    NOT_HELD = 13
    ALREADY_HELD = 14
    CONFIGURATION = 15
    CLOSED = 16
    FORKED = 17
    SERVER_ERROR = 18
    INTERNAL = 19
    HANDLER_FAILED = 20
    OVERLOADED = 21
    OUTBOX_FULL = 22
    OUTBOX_UNAVAILABLE = 23
    KAFKA_UNAVAILABLE = 24
    KAFKA_REJECTED = 25
    RECORD_INVALID = 26
    RECORD_TOO_NEW = 27
    LOCK_REFUSED = 29
    INVALID_HANDLE = 1001
    OUT_OF_MEMORY = 1002
    ABI_MISMATCH = 1003


class Error(Exception):
    """Base of every exception of this package."""

    def __init__(self, code: int, monitor: str, message: str, hint: str = "", retryable: bool = False) -> None:
        super().__init__(code, monitor, message, hint, retryable)
        #: What happened, for programs.
        self.code = ErrorCode(code) if code in _KNOWN else ErrorCode.INTERNAL
        #: The monitor id concerned; may be empty.
        self.monitor = monitor
        #: What failed, for people; also ``str(error)``.
        self.message = message
        #: What to do next, for people; may be empty.
        self.hint = hint
        #: Whether the same call may succeed later without anything being changed by people.
        self.retryable = retryable
        if hint:
            self.add_note(f"hint: {hint}")  # seen below the message where nothing catches it

    def __str__(self) -> str:
        return self.message


_KNOWN = frozenset(int(code) for code in ErrorCode)


class InstanceLockException(Error):
    """The lock was not obtained: lock_timeout, lock_unavailable, lock_refused, cancelled."""


class SessionExpiredException(Error):
    """The server ended the session, and with it every lock."""


class ConnectionLossException(Error):
    """No server could be reached. What was asked for may still happen; the library withdraws what it can."""


class NoNodeException(Error):
    """The lock to be released does not exist any more (no_node), or is not held (not_held)."""


class LockUnhealthyException(Error):
    """The lock is, or may be, lost: the work that it protects must stop."""


class RequestRejectedException(Error):
    """The server or the library refused the request; the code says why."""


class ConfigurationException(Error):
    """A setting is invalid. The message has one line for each problem."""


class DeadLetterException(Error):
    """The dead-letter queue did not take or give a letter; the caller still owns the operation."""


class OperationFailure(Exception):
    """Thrown by a handler of an operation to say that the attempt failed, and whether another makes sense.

    ``code`` is stable, for programs: lower case letters, digits, underscores.
    """

    def __init__(self, code: str, message: str, retryable: bool = True) -> None:
        super().__init__(code, message, retryable)
        self.code = code
        self.message = message
        self.retryable = retryable

    def __str__(self) -> str:
        return str(self.message)


_CLASSES: dict[int, type[Error]] = {
    ErrorCode.LOCK_TIMEOUT: InstanceLockException,
    ErrorCode.LOCK_UNAVAILABLE: InstanceLockException,
    ErrorCode.LOCK_REFUSED: InstanceLockException,
    ErrorCode.CANCELLED: InstanceLockException,
    ErrorCode.SESSION_EXPIRED: SessionExpiredException,
    ErrorCode.CONNECTION_LOSS: ConnectionLossException,
    ErrorCode.NO_NODE: NoNodeException,
    ErrorCode.NOT_HELD: NoNodeException,
    ErrorCode.LOCK_UNHEALTHY: LockUnhealthyException,
    ErrorCode.CONFIGURATION: ConfigurationException,
    ErrorCode.INTERNAL: Error,
    ErrorCode.OUT_OF_MEMORY: Error,
    ErrorCode.HANDLER_FAILED: Error,
    ErrorCode.OUTBOX_FULL: DeadLetterException,
    ErrorCode.OUTBOX_UNAVAILABLE: DeadLetterException,
    ErrorCode.KAFKA_UNAVAILABLE: DeadLetterException,
    ErrorCode.KAFKA_REJECTED: DeadLetterException,
    ErrorCode.RECORD_INVALID: DeadLetterException,
    ErrorCode.RECORD_TOO_NEW: DeadLetterException,
}


def make_error(code: int, monitor: str, message: str, hint: str = "", retryable: bool = False) -> Error:
    """The exception of the class that belongs to the code."""
    return _CLASSES.get(code, RequestRejectedException)(code, monitor, message, hint, retryable)
