"""Operations: attempted under their locks, tried again, and handed to the dead-letter queue after the last attempt."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import logging
import os
import queue
import weakref
from types import TracebackType
from typing import Any, Awaitable, Callable, Mapping, Optional, Sequence, Union

from forelock import replay
from forelock._abi import ffi
from forelock._attempt import FailedAttempt, HandledAttempt
from forelock._callables import refuse_undone, task_handler, thread_handler
from forelock._event import Event, Receiver, write_log
from forelock._green import blocking
from forelock._native import check, encode, last_error, lib, milliseconds, open_dead_letter_library, text
from forelock.client import Client, Config, core_of, merge
from forelock.errors import ErrorCode, NamedNumber, OperationFailure, make_error
from forelock.held import Duration
from forelock.replay import ReplayHandler, ReplayOptions, ReplayPreview, ReplayReport
from forelock.values import Priority, PriorityLike, priority_of


@dataclasses.dataclass(frozen=True)
class DeadLetterStatus:
    """What waits in the outbox, and what became of the rest."""

    outbox_rows: int
    outbox_bytes: int
    #: Of the oldest letter, in seconds; None: there is none.
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
        self._finalizer = weakref.finalize(self, _free_here, os.getpid(), lib.fl_dlq_free, self.handle)

    def flush(self, timeout: Duration) -> bool:
        """Waits until nothing in the outbox is left to be forwarded. Returns whether that is so."""
        done = ffi.new("int32_t*")
        limit = milliseconds(timeout, "timeout")
        blocking(lambda: check(lib.fl_dlq_flush(self.handle, limit, done)))
        return bool(done[0])

    def accept(self, client: Client, operation: Operation, attempts: Sequence[FailedAttempt], *,
               max_attempts: int = 0) -> str:
        """Takes an operation whose attempts were made without an OperationRunner; returns the letter's id.

        Blocks until the letter is durable. ``client`` names this process in it; ``attempts`` are those that failed,
        oldest first, at least one; ``max_attempts``: how many there could have been. Raises DeadLetterException,
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
        blocking(lambda: check(
            lib.fl_dlq_accept(core.use(), self.handle, spec, failed, len(attempts), max_attempts, result)))
        return text(result[0])

    def replay(self, client: Client, handler: ReplayHandler, options: Optional[ReplayOptions] = None) -> ReplayReport:
        """Puts letters of the queue through the handler, each under its monitor's lock at background priority.

        In the order in which they failed, one after the other, on this thread; the queue is the Kafka topic where that
        is configured, else the outbox. One replay at a time over all processes and machines, that of ``forelock dlq
        replay`` included. A letter is done, and leaves the queue, when the handler has returned and the lock was
        certain to be held until then. Otherwise the exception decides, as in an OperationRunner: an Error or
        OperationFailure that is retryable puts the letter off; anything else has failed, is counted, and the letter is
        parked after ``max_tries``. One that is not done keeps the later ones of its monitor waiting for the next
        replay, and no others. At least once: handlers are idempotent, or guard their effects with the fencing token.

        Raises InstanceLockException (lock_timeout: another replay or change of the queue is at work; it is named),
        DeadLetterException (the queue cannot be read or changed), RequestRejectedException; what was done by then stays
        done. Ctrl-C ends it: the letter that is worked on is put off. A handler may close the client, which ends the
        replay with a report. TypeError as for OperationRunner.run(). Refused in a callback.
        """
        return replay.run(client, self.handle, handler, options)

    def preview_replay(self, options: Optional[ReplayOptions] = None) -> ReplayPreview:
        """What replay() would do, as far as that is known before it is tried. Reads the queue, and changes nothing."""
        return replay.preview(self.handle, options)

    @property
    def status(self) -> DeadLetterStatus:
        """Where it stands."""
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
        """Idempotent. The queue is closed when the last runner or replay that uses it has ended."""
        blocking(self._finalizer)

    def __enter__(self) -> DeadLetterQueue:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()


@dataclasses.dataclass(frozen=True)
class Operation:
    """What is to be done. ``type`` says what kind, "saveContent"; ``id`` is the idempotency key.

    An empty ``id`` becomes a random UUID.
    """

    type: str
    monitor: str
    #: Opaque; never logged. A str is refused with TypeError: encode it.
    payload: bytes = b""
    priority: PriorityLike = Priority.FOREGROUND
    id: str = ""
    #: What the lock is for; empty: the type.
    lock_info: str = ""
    #: W3C trace context.
    traceparent: str = ""


class OperationEnd(NamedNumber):
    """How an operation ended that did not stay with its caller."""

    # generated by bindings/generator/generate.py: fl_operation_end
    #: An attempt succeeded, and its lock was certain to be held until then.
    SUCCEEDED = 0
    #: The dead-letter queue has it, durably.
    DEAD_LETTERED = 1
    # end of what is generated


@dataclasses.dataclass(frozen=True)
class OperationResult:
    """How an operation ended."""

    end: OperationEnd
    id: str
    #: Of a dead letter: the code of the last failure. Else empty.
    reason: str


class Attempt(HandledAttempt):
    """One attempt at an operation, with its lock held. Usable until its handler has returned."""

    def __init__(self, client: Client, handle: int, operation: Operation, number: int) -> None:
        super().__init__(client, handle, operation.monitor, operation.type)
        #: What is to be done.
        self.operation = operation
        #: 1 is the first.
        self.number = number


Handler = Callable[[Attempt], None]
AsyncHandler = Callable[[Attempt], Awaitable[None]]


class OperationRunner:
    """Runs operations: takes the lock, calls the handler, and tries again after a failure that may pass
    (`elastic.request.retry.count` times at most); the others, and the last, go to the dead-letter queue.

    A handler fails by raising: Error and OperationFailure say whether another attempt makes sense; any other exception
    is code "handler_failed", not retryable. At least once: an attempt may repeat what an earlier one did, so handlers
    are idempotent, or guard their effects with the fencing token or write_guarded(). Thread-safe.

    ``backoff_initial``, ``backoff_cap``: the wait before the first retry, whose bound doubles with each further one.
    ``retry_burst``, ``retries_per_second``: of all runners of the client, whose first runner decides; 0: the default.
    """

    def __init__(self, client: Client, dead_letters: DeadLetterQueue, *, backoff_initial: Duration = 0.1,
                 backoff_cap: Duration = 10.0, max_operations: int = 10_000, retry_burst: int = 0,
                 retries_per_second: float = 0.0) -> None:
        options = ffi.new("fl_runner_options*", {"size": ffi.sizeof("fl_runner_options")})
        options.backoff_initial_ms = milliseconds(backoff_initial, "backoff_initial")
        options.backoff_cap_ms = milliseconds(backoff_cap, "backoff_cap")
        options.max_operations = max_operations
        options.retry_burst = retry_burst
        options.retries_per_second = retries_per_second
        result = ffi.new("fl_runner*")
        check(lib.fl_runner_new(core_of(client).use(), dead_letters.handle, options, result))
        self._client = client
        self._told: set[str] = set()  # of which types of operations it was said that their handler is not awaited
        self._handle = int(result[0])
        self._finalizer = weakref.finalize(self, _free_here, os.getpid(), lib.fl_runner_free, self._handle)

    def run(self, operation: Operation, handler: Handler, *, timeout: Optional[Duration] = None) -> OperationResult:
        """Runs the operation on this thread; blocks for its waits. ``timeout``: no attempt begins after that.

        Raises what says why the caller still owns the operation: RequestRejectedException (it is invalid, or the client
        closed), InstanceLockException (lock_timeout: nothing was tried in time), DeadLetterException (the queue cannot
        take it). Ctrl-C cancels the operation: the caller keeps it, unless it is on its way into the queue already.
        Refused in a callback: what the operation's own callbacks tell would wait for it.

        The handler does its work before it returns. TypeError: it cannot be called, or is a coroutine function (for
        run_async()) or a generator function, whose body would not run: nothing is begun; or it returned a coroutine or
        a generator, which is closed, or something else to be awaited: the caller keeps the operation.
        """
        work = thread_handler(handler)
        if self._client.core.dispatcher.is_this_thread():
            raise make_error(ErrorCode.INVALID_ARGUMENT, operation.monitor,
                             "run() was called in a callback, whose thread its own callbacks would wait for",
                             "call it on another thread")
        events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        handle = self._submit(operation, timeout, events.put)
        attempt: Optional[Attempt] = None
        try:
            event = events.get()
            while not _is_end(event):
                attempt = self._attempt(event, operation)
                if attempt is not None:
                    failure: Optional[BaseException] = None
                    try:
                        done = work(attempt)
                    except Exception as error:
                        failure = error
                    else:
                        refuse_undone(done, "use run_async()")
                    attempt.end(failure)
                event = events.get()
        except BaseException as error:
            self._withdraw(handle, attempt, error)
            while not _is_end(event := events.get()):
                self._refuse(event, operation)
            raise
        finally:
            lib.fl_operation_free(handle)
        return _result_of(event)

    async def run_async(self, operation: Operation, handler: AsyncHandler, *,
                        timeout: Optional[Duration] = None) -> OperationResult:
        """As run(), for tasks. Cancellation of the task cancels the operation and the handler.

        The handler is a coroutine function, or another that returns something to be awaited. If it returns anything
        else, its work counts as done, since another attempt would do it twice; the log warns of it once for each type
        of operation, since such a handler keeps the event loop waiting. TypeError as for run(): it cannot be called, or
        is a generator function; or it returned a generator, or left something that is still to be awaited.
        """
        work = task_handler(handler)
        loop = asyncio.get_running_loop()
        events: asyncio.Queue[Event] = asyncio.Queue()
        handle = self._submit(operation, timeout, lambda event: _put(loop, events, event))
        attempt: Optional[Attempt] = None
        try:
            event = await events.get()
            while not _is_end(event):
                attempt = self._attempt(event, operation)
                if attempt is not None:
                    failure: Optional[BaseException] = None
                    try:
                        done = work(attempt)
                        awaited = inspect.isawaitable(done)
                        if awaited:
                            done = await done
                    except Exception as error:
                        failure = error
                    else:
                        refuse_undone(done, "the handler has to await it")
                        if not awaited:
                            self._tell_of_plain_handler(operation, done)
                    attempt.end(failure)
                event = await events.get()
        except BaseException as error:
            self._withdraw(handle, attempt, error)
            await self._until_ended(events, operation)
            raise
        finally:
            lib.fl_operation_free(handle)
        return _result_of(event)

    def close(self) -> None:
        """Withdraws all operations, and waits until the last one has ended. Idempotent.

        They stay with their callers (code cancelled), except those that are on their way into the queue already. An
        attempt under way is over, too: what still works on it has no lock any more. No handler is called that was not
        called before.
        """
        blocking(self._finalizer)

    def __enter__(self) -> OperationRunner:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def _submit(self, operation: Operation, timeout: Optional[Duration], receiver: Receiver) -> int:
        core = self._client.core
        core.check_process()
        spec, _kept = spec_of(operation)
        spec.timeout_ms = 0 if timeout is None else max(1, milliseconds(timeout, "timeout"))
        handle = ffi.new("fl_operation*")
        tag = core.dispatcher.follow(receiver)
        if lib.fl_runner_submit(self._handle, spec, tag, handle) != 0:
            error = last_error()
            core.dispatcher.forget(tag)
            raise error
        return int(handle[0])

    def _attempt(self, event: Event, operation: Operation) -> Optional[Attempt]:
        """What a handler is to be called with. None: the event is of another kind, or the runner was closed since."""
        state = ffi.new("int32_t*")
        if event.kind != lib.FL_EVENT_ATTEMPT or lib.fl_lock_get_state(event.source, state) != 0:
            return None
        return Attempt(self._client, event.source, operation, event.value)

    def _tell_of_plain_handler(self, operation: Operation, result: object) -> None:
        if operation.type not in self._told:
            self._told.add(operation.type)
            write_log(logging.WARNING, "the handler of %s returned a %s, which cannot be awaited: its work is done, "
                      "but kept the event loop waiting; run_async() takes a coroutine function, run() a plain one",
                      operation.type, type(result).__name__)

    @staticmethod
    def _withdraw(operation: int, attempt: Optional[Attempt], error: BaseException) -> None:
        """The operation first: the end of its attempt alone would make a dead letter of what its caller keeps."""
        lib.fl_operation_cancel(operation)
        if attempt is not None:
            attempt.end(error)

    def _refuse(self, event: Event, operation: Operation) -> None:
        """An attempt that began while the operation was cancelled."""
        if event.kind == lib.FL_EVENT_ATTEMPT:
            Attempt(self._client, event.source, operation, event.value).end(
                OperationFailure("cancelled", "the operation was cancelled", False))

    async def _until_ended(self, events: asyncio.Queue[Event], operation: Operation) -> None:
        while True:
            try:
                event = await events.get()
            except asyncio.CancelledError:
                continue  # the caller raises the first one
            if _is_end(event):
                return
            self._refuse(event, operation)


def spec_of(operation: Operation) -> tuple[Any, Any]:
    """An operation as the library takes it, and what that points to."""
    texts = {name: ffi.new("char[]", encode(getattr(operation, name), name))
             for name in ("id", "type", "monitor", "lock_info", "traceparent")}
    try:
        payload = ffi.from_buffer(operation.payload)
    except TypeError:
        raise TypeError(f"payload is a {type(operation.payload).__name__}, not bytes") from None
    spec = ffi.new("fl_operation_spec*", {"size": ffi.sizeof("fl_operation_spec"), **texts})
    spec.priority = priority_of(operation.priority)
    spec.payload = payload
    spec.payload_length = len(payload)  # of a memoryview other than the number of its items
    return spec, (texts, payload)


def _put(loop: asyncio.AbstractEventLoop, events: asyncio.Queue[Event], event: Event) -> None:
    try:
        loop.call_soon_threadsafe(events.put_nowait, event)
    except RuntimeError:  # the loop was closed: no task is left to work on the attempt
        if event.kind == lib.FL_EVENT_ATTEMPT:
            lib.fl_attempt_fail(event.source, b"cancelled", b"the event loop was closed", False)


def _is_end(event: Event) -> bool:
    return event.kind in (0, lib.FL_EVENT_OPERATION)


def _result_of(event: Event) -> OperationResult:
    if event.code != 0:
        raise event.error()
    return OperationResult(OperationEnd(event.value), event.hint, event.name)


def _free_here(process: int, free: Callable[[int], int], handle: int) -> Any:
    """Not in a process that was forked from the owner's."""
    return free(handle) if process == os.getpid() else ErrorCode.FORKED
