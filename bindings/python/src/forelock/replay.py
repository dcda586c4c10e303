"""Replays of dead letters: see DeadLetterQueue.replay()."""

from __future__ import annotations

import dataclasses
import datetime
import queue
from typing import Any, Callable, Optional, Sequence, Union

from forelock._abi import ffi
from forelock._attempt import FailedAttempt, HandledAttempt
from forelock._callables import refuse_undone, thread_handler
from forelock._event import Event
from forelock._green import blocking
from forelock._native import check, encode, invalid, last_error, lib, milliseconds, text
from forelock.client import Client, core_of
from forelock.errors import ErrorCode, NamedNumber, make_error
from forelock.held import Duration
from forelock.values import Priority

#: Seconds since 1970, or a datetime.
Instant = Union[float, datetime.datetime]


@dataclasses.dataclass(frozen=True)
class DeadLetter:
    """An operation that ran out of retries, as the dead-letter queue has it."""

    #: The idempotency key.
    id: str
    type: str
    #: Whose lock it needs.
    monitor: str
    #: Of the operation; it is replayed as background work, whatever this says.
    priority: Priority
    #: What the operation's lock was for.
    lock_info: str
    payload: bytes = dataclasses.field(repr=False)
    #: The code of the last failure.
    reason: str
    #: Those that failed, oldest first.
    attempts: tuple[FailedAttempt, ...]
    #: How many there could have been.
    max_attempts: int
    #: How often it had been replayed into a topic before it failed again.
    replay_count: int
    #: When the operation was first asked for, in seconds since 1970.
    enqueued_at: float
    #: When its last attempt failed, in seconds since 1970.
    failed_at: float
    #: ``host/pid`` of the process that gave it up.
    instance: str
    #: W3C trace context; may be empty.
    traceparent: str


class ReplayAttempt(HandledAttempt):
    """A dead letter that is replayed, with its monitor's lock held. Usable until its handler has returned."""

    def __init__(self, client: Client, handle: int, letter: DeadLetter, tries: int) -> None:
        super().__init__(client, handle, letter.monitor, letter.type)
        #: What is to be done.
        self.letter = letter
        #: How many replays of it have begun before and did not end well.
        self.tries = tries

    @property
    def should_stop(self) -> bool:
        """Whether the work should end: its lock was lost, or the replay is to end.

        What is done afterwards does not count unless the handler returns while the lock is certain to be held.
        """
        return self._core.forked or bool(lib.fl_attempt_should_stop(self._handle))


ReplayHandler = Callable[[ReplayAttempt], None]


class ReplayOutcome(NamedNumber):
    """What became of a dead letter that is not done."""

    #: The handler put it off, its lock was lost, or the replay was stopped; not counted.
    LATER = 1
    #: Counted; the next replay tries it again.
    FAILED = 2
    #: Failed once too often; later ones of its monitor go on.
    PARKED = 3
    #: Its monitor's lock was not to be had in time; not counted.
    LOCKED_OUT = 4
    #: An earlier one of its monitor failed or has to wait.
    SKIPPED = 5
    #: Not a letter, or one of a newer version; left alone.
    UNREADABLE = 6


@dataclasses.dataclass(frozen=True)
class UnresolvedLetter:
    """A dead letter that a replay has met, and that is not done."""

    #: Of one that cannot be read: its position.
    id: str
    type: str
    monitor: str
    outcome: ReplayOutcome
    #: For people.
    why: str


@dataclasses.dataclass(frozen=True)
class ReplayReport:
    """The result of a replay, in numbers of letters."""

    #: Done, and out of the queue.
    replayed: int
    #: And will be tried by the next replay.
    failed: int
    #: Put off, or their lock was not to be had.
    later: int
    #: Failed too often.
    parked: int
    #: Behind an earlier letter of their monitor that failed or waits.
    skipped: int
    #: Records that cannot be read.
    unreadable: int
    #: Whether it ended early, because the lock that makes it the only one was lost: not all letters were met.
    stopped: bool
    #: Those that were met and are not done, as they came up, at most ``max_unresolved``.
    unresolved: tuple[UnresolvedLetter, ...]
    #: Letters that had no place among them.
    unresolved_left_out: int
    #: Why the queue could not be tidied up, for people; empty if it was. Nothing is lost by that.
    unsettled: str


@dataclasses.dataclass(frozen=True)
class ReplayPreview:
    """What a replay would do."""

    #: It would try.
    letters: int
    #: Records that cannot be read.
    unreadable: int
    #: Letters that do not match and stand before others of their monitors that do.
    overtaken: int
    #: When the oldest that matches failed, in seconds since 1970; None: there is none.
    oldest: Optional[float]


@dataclasses.dataclass(frozen=True)
class ReplayOptions:
    """Which dead letters are replayed, and how. All conditions must hold; of several values in one, any."""

    #: Whole ids; empty: any, as for the next three.
    ids: Sequence[str] = ()
    monitors: Sequence[str] = ()
    types: Sequence[str] = ()
    #: Codes of the last failure.
    reasons: Sequence[str] = ()
    #: Failed at this time or later.
    since: Optional[Instant] = None
    #: Failed before this time.
    until: Optional[Instant] = None
    #: Those in the parking place instead of those in the queue.
    parked: bool = False
    #: Those in this machine's outbox also where Kafka is configured.
    outbox: bool = False
    #: Tried at most; None: all.
    max_letters: Optional[int] = None
    #: Begun per second at most; 0: as fast as it goes.
    rate: float = 0.0
    #: For each letter's lock.
    lock_timeout: Duration = 2.0
    #: A letter that has failed so often is parked.
    max_tries: int = 3
    #: Letters that the report lists at most.
    max_unresolved: int = 10_000


def options_of(given: Optional[ReplayOptions]) -> tuple[Any, Any]:
    """Options as the library takes them, and what those point to."""
    options = given or ReplayOptions()
    result = ffi.new("fl_replay_options*", {"size": ffi.sizeof("fl_replay_options"), "concurrency": 1})
    kept: list[Any] = []
    for name, count in (("ids", "id_count"), ("monitors", "monitor_count"), ("types", "type_count"),
                        ("reasons", "reason_count")):
        values = getattr(options, name)
        if isinstance(values, str):
            raise TypeError(f"{name} is a str, not several of them: write [{values!r}]")
        texts = [ffi.new("char[]", encode(value, name)) for value in values]
        kept += [texts, ffi.new("char*[]", texts)]
        if texts:
            setattr(result, name, kept[-1])
            setattr(result, count, len(texts))
    result.since_ms, result.until_ms = _instant(options.since), _instant(options.until)
    result.parked, result.outbox = options.parked, options.outbox
    result.max = 0 if options.max_letters is None else _positive(options.max_letters, "max_letters")
    result.rate = options.rate
    result.lock_timeout_ms = _positive(milliseconds(options.lock_timeout, "lock_timeout"), "lock_timeout")
    result.max_tries = _positive(options.max_tries, "max_tries")
    result.max_unresolved = _positive(options.max_unresolved, "max_unresolved")
    return result, kept


def _instant(instant: Optional[Instant]) -> int:
    if instant is None:
        return 0
    return int((instant.timestamp() if isinstance(instant, datetime.datetime) else instant) * 1000)


def _positive(value: int, name: str) -> int:
    if not 1 <= value < 2**31:
        raise invalid(f"{name} is {value}; give 1 or more")
    return value


def preview(dlq: int, given: Optional[ReplayOptions]) -> ReplayPreview:
    """See DeadLetterQueue.preview_replay()."""
    options, _kept = options_of(given)
    result = ffi.new("fl_replay_preview*", {"size": ffi.sizeof("fl_replay_preview")})
    blocking(lambda: check(lib.fl_dlq_preview_replay(dlq, options, result)))
    return ReplayPreview(result.letters, result.unreadable, result.overtaken,
                         None if result.oldest_ms < 0 else result.oldest_ms / 1000)


def run(client: Client, dlq: int, handler: ReplayHandler, given: Optional[ReplayOptions]) -> ReplayReport:
    """See DeadLetterQueue.replay()."""
    work = thread_handler(handler)
    core = core_of(client)
    core.check_process()
    if core.dispatcher.is_this_thread():
        raise make_error(ErrorCode.INVALID_ARGUMENT, "", "replay() was called in a callback, for whose thread its "
                         "handler's callbacks would wait", "call it on another thread")
    options, _kept = options_of(given)
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    result = ffi.new("fl_replay*")
    handle = core.use()
    tag = core.dispatcher.follow(events.put)
    if lib.fl_dlq_replay(handle, dlq, options, tag, result) != 0:
        error = last_error()
        core.dispatcher.forget(tag)
        raise error
    replay = int(result[0])
    attempt: Optional[ReplayAttempt] = None
    try:
        event = events.get()
        while event.kind == lib.FL_EVENT_LETTER:
            attempt = _attempt(client, event)
            failure: Optional[BaseException] = None
            try:
                done = work(attempt)
            except Exception as problem:
                failure = problem
            else:
                refuse_undone(done, "the handler of a replay does its work before it returns")
            attempt.end(failure)
            event = events.get()
        if event.code != 0:
            raise event.error()
        return _report_of(replay)
    except BaseException as problem:
        lib.fl_replay_stop(replay)  # first: so that the end of its attempt is no failure of the letter's
        if attempt is not None:
            attempt.end(problem)
        raise
    finally:
        core.dispatcher.forget(tag)
        blocking(lambda: int(lib.fl_replay_free(replay)))


def _attempt(client: Client, event: Event) -> ReplayAttempt:
    told = ffi.new("fl_letter*", {"size": ffi.sizeof("fl_letter")})
    check(lib.fl_attempt_letter(event.source, told))
    letter = DeadLetter(
        id=text(told.id),
        type=text(told.type),
        monitor=text(told.monitor),
        priority=Priority(told.priority),
        lock_info=text(told.lock_info),
        payload=bytes(ffi.buffer(told.payload, told.payload_length)),
        reason=text(told.reason),
        attempts=tuple(_failed_attempt(event.source, i) for i in range(told.failure_count)),
        max_attempts=told.max_attempts,
        replay_count=told.replay_count,
        enqueued_at=told.enqueued_at_ms / 1000,
        failed_at=told.failed_at_ms / 1000,
        instance=text(told.instance),
        traceparent=text(told.traceparent),
    )
    return ReplayAttempt(client, event.source, letter, told.tries)


def _failed_attempt(attempt: int, index: int) -> FailedAttempt:
    told = ffi.new("fl_failed_attempt*", {"size": ffi.sizeof("fl_failed_attempt")})
    check(lib.fl_attempt_failure(attempt, index, told))
    return FailedAttempt(text(told.code), text(told.message), told.at_ms / 1000, told.waited_ms / 1000)


def _report_of(replay: int) -> ReplayReport:
    told = ffi.new("fl_replay_report*", {"size": ffi.sizeof("fl_replay_report")})
    check(lib.fl_replay_get_report(replay, told))
    return ReplayReport(
        replayed=told.replayed,
        failed=told.failed,
        later=told.later,
        parked=told.parked,
        skipped=told.skipped,
        unreadable=told.unreadable,
        stopped=told.stopped == 1,
        unresolved=tuple(_unresolved(replay, i) for i in range(told.unresolved)),
        unresolved_left_out=told.unresolved_left_out,
        unsettled=text(told.unsettled),
    )


def _unresolved(replay: int, index: int) -> UnresolvedLetter:
    told = ffi.new("fl_unresolved_letter*", {"size": ffi.sizeof("fl_unresolved_letter")})
    check(lib.fl_replay_unresolved(replay, index, told))
    return UnresolvedLetter(text(told.id), text(told.type), text(told.monitor), ReplayOutcome(told.outcome),
                            text(told.why))
