"""The dead-letter queue, and the operations that it accepts."""

from __future__ import annotations

import dataclasses
import os
import weakref
from types import TracebackType
from typing import Any, Callable, Mapping, Optional, Sequence, Union

from forelock import replay
from forelock._abi import ffi
from forelock._attempt import FailedAttempt
from forelock._green import blocking
from forelock._native import check, encode, lib, milliseconds, open_dead_letter_library, text
from forelock.client import Client, Config, merge
from forelock.errors import ErrorCode
from forelock.held import Duration
from forelock.replay import ReplayHandler, ReplayOptions, ReplayPreview, ReplayReport
from forelock.values import Priority, PriorityLike, priority_of


@dataclasses.dataclass(frozen=True)
class Operation:
    """Work to be done under a lock. ``type`` is its kind, e.g. "saveContent"; ``id`` is the idempotency key.

    An empty ``id`` becomes a random UUID.
    """

    type: str
    monitor: str
    #: Opaque; never logged. A str is refused with TypeError: encode it.
    payload: bytes = b""
    priority: PriorityLike = Priority.FOREGROUND
    id: str = ""
    #: The purpose of the lock; empty: the type.
    lock_info: str = ""
    #: W3C trace context.
    traceparent: str = ""


@dataclasses.dataclass(frozen=True)
class DeadLetterStatus:
    """The outbox's contents, and counts of letters accepted and delivered."""

    outbox_rows: int
    outbox_bytes: int
    #: The age of the oldest letter, in seconds; None: there is none.
    oldest_age: Optional[float]
    accepted: int
    delivered: int
    delivery_failures: int
    #: Whether this process pushes to Kafka.
    forwarding: bool
    last_problem: str


class DeadLetterQueue:
    """The outbox of the settings (`dlq.outbox.path`), forwarded to Kafka where that is configured. Arguments as Client.

    Needs the system's SQLite and Kafka's C client (Debian: libsqlite3-0, librdkafka1). Thread-safe; close it, or use
    ``with``, after the runners that use it.
    """

    def __init__(self, file: Union[str, os.PathLike[str], None] = None,
                 settings: Optional[Mapping[str, object]] = None, **keywords: object) -> None:
        library = open_dead_letter_library()
        config = Config(file, merge(settings, keywords))
        try:
            result = ffi.new("fl_dlq*")
            blocking(lambda: check(library.fl_dlq_open(config.handle, result)))
        finally:
            config.free()
        self.handle = int(result[0])
        self._finalizer = weakref.finalize(self, free_here, os.getpid(), lib.fl_dlq_free, self.handle)

    def flush(self, timeout: Duration) -> bool:
        """Waits until every letter in the outbox is forwarded. Returns whether that is so."""
        done = ffi.new("int32_t*")
        limit = milliseconds(timeout, "timeout")
        blocking(lambda: check(lib.fl_dlq_flush(self.handle, limit, done)))
        return bool(done[0])

    def accept(self, client: Client, operation: Operation, attempts: Sequence[FailedAttempt], *,
               max_attempts: int = 0) -> str:
        """Accepts an operation whose attempts were made without an OperationRunner; returns the letter's id.

        Blocks until the letter is durable. ``client`` names this process in it; ``attempts`` are the failed ones,
        oldest first, at least one; ``max_attempts``: the largest number allowed. Raises DeadLetterException,
        RequestRejectedException: it is in no queue.
        """
        core = client.core
        spec, _kept = spec_of(operation)
        kept = [(ffi.new("char[]", encode(attempt.code, "code")), ffi.new("char[]", encode(attempt.message, "message")))
                for attempt in attempts]
        failed = ffi.new("fl_failed_attempt[]", len(attempts))
        for place, attempt, (code, message) in zip(failed, attempts, kept):
            place.size = ffi.sizeof("fl_failed_attempt")
            place.at_ms = int(attempt.at * 1000)
            place.code, place.message = code, message
            place.waited_ms = milliseconds(attempt.waited, "waited")
        result = ffi.new("char**")

        def accept() -> str:
            check(lib.fl_dlq_accept(core.use(), self.handle, spec, failed, len(attempts), max_attempts, result))
            return text(result[0])  # valid on this thread, until its next call

        return blocking(accept)

    def replay(self, client: Client, handler: ReplayHandler, options: Optional[ReplayOptions] = None) -> ReplayReport:
        """Replays letters of the queue: passes each to the handler, under its monitor's lock at background priority.

        One after the other, in the order of their failures, on this thread. The queue is the Kafka topic where one is
        configured, else the outbox. One replay at a time over all processes and machines, ``forelock dlq replay``
        included. A letter is done, and leaves the queue, when the handler has returned and the lock was certain to be
        held until then. Otherwise the exception decides, as in an OperationRunner: a retryable Error or
        OperationFailure puts the letter off; any other one is a failure and is counted, and the letter is parked after
        ``max_tries``. A letter that is not done keeps the later ones of its monitor, and no others, waiting for the
        next replay. At least once: handlers are idempotent, or guard their effects with the fencing token.

        Raises InstanceLockException (lock_timeout: another replay or change of the queue runs; the message names it),
        DeadLetterException (the queue cannot be read or changed), RequestRejectedException; letters done by then stay
        done. Ctrl-C ends it: the letter under way is put off. A handler may close the client, which ends the replay
        with a report. TypeError as for OperationRunner.run(). Refused in a callback.
        """
        return replay.run(client, self.handle, handler, options)

    def preview_replay(self, options: Optional[ReplayOptions] = None) -> ReplayPreview:
        """The expected outcome of replay() with these options. Reads the queue, and changes nothing."""
        return replay.preview(self.handle, options)

    @property
    def status(self) -> DeadLetterStatus:
        """The outbox's contents, and counts."""
        status = ffi.new("fl_dlq_status*", {"size": ffi.sizeof("fl_dlq_status")})
        check(lib.fl_dlq_get_status(self.handle, status))
        return DeadLetterStatus(
            outbox_rows=status.outbox_rows,
            outbox_bytes=status.outbox_bytes,
            oldest_age=None if status.oldest_age_ms < 0 else status.oldest_age_ms / 1000,
            accepted=status.accepted,
            delivered=status.delivered,
            delivery_failures=status.delivery_failures,
            forwarding=status.forwarding == 1,
            last_problem=text(status.last_problem),
        )

    def close(self) -> None:
        """Frees the object; the queue is closed when the last runner or replay that uses it has ended. Idempotent."""
        blocking(self._finalizer)

    def __enter__(self) -> DeadLetterQueue:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()


def spec_of(operation: Operation) -> tuple[Any, Any]:
    """An operation in the library's form, and the memory to which that points."""
    texts = {name: ffi.new("char[]", encode(getattr(operation, name), name))
             for name in ("id", "type", "monitor", "lock_info", "traceparent")}
    try:
        payload = ffi.from_buffer(operation.payload)
    except TypeError:
        raise TypeError(f"payload is a {type(operation.payload).__name__}, not bytes") from None
    spec = ffi.new("fl_operation_spec*", {"size": ffi.sizeof("fl_operation_spec"), **texts})
    spec.priority = priority_of(operation.priority)
    spec.payload = payload
    spec.payload_length = len(payload)  # for a memoryview this is not the number of its items
    return spec, (texts, payload)


def free_here(process: int, free: Callable[[int], int], handle: int) -> Any:
    """Frees a handle, but not in a process that was forked from the owner's."""
    return free(handle) if process == os.getpid() else ErrorCode.FORKED
