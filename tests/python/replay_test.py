"""Replays of dead letters by a handler of the application."""

import datetime
import logging
import os
import queue
import signal
import threading

import pytest
from conftest import SHORT

import forelock
from forelock import ErrorCode, FailedAttempt, Operation, OperationFailure, ReplayOptions, ReplayOutcome

FAILED = 1_767_323_045.678  # 2026-01-02T03:04:05.678Z


@pytest.fixture
def letters(tmp_path):
    with forelock.DeadLetterQueue(dlq_outbox_path=tmp_path / "outbox.db") as opened:
        yield opened


@pytest.fixture
def add(client, letters):
    def make(id, monitor, type="save"):
        letters.accept(client, Operation(type=type, monitor=monitor, id=id, payload=b"\0\xff", lock_info="Save"),
                       [FailedAttempt("busy", "one", FAILED - 1, 0.01), FailedAttempt("red", "two", FAILED, 0.02)],
                       max_attempts=4)
    return make


def unresolved(report):
    return {letter.id: (letter.outcome, letter.why) for letter in report.unresolved}


def take_away(client, monitor):
    inspector = forelock.Inspector(client)
    assert inspector.force_release(monitor, inspector.show(monitor).holder.node) == forelock.ForceRelease.RELEASED


def test_the_handler_gets_each_letter_under_its_lock(client, letters, add, caplog, monkeypatch):
    lines = queue.Queue()

    def note(record):
        if "replay" in record.getMessage():
            lines.put(record.getMessage())

    monkeypatch.setattr(caplog.handler, "emit", note)
    caplog.set_level(logging.INFO, "forelock")
    add("a1", "a")
    add("a2", "a")
    seen = []

    def handler(attempt):
        attempt.check_health()
        seen.append(attempt)
        assert threading.current_thread() is threading.main_thread()
        assert attempt.monitor == "a" and attempt.healthy() and attempt.fencing_token > 0
        assert not attempt.should_stop and attempt.tries == 0
        attempt.write_guarded([forelock.CreateNode(f"/{attempt.letter.id}", attempt.letter.payload)])

    report = letters.replay(client, handler)
    assert (report.replayed, report.unresolved, report.stopped, report.unsettled) == (2, (), False, "")
    assert [attempt.letter.id for attempt in seen] == ["a1", "a2"]
    assert not seen[0].healthy() and seen[0].should_stop
    letter = seen[0].letter
    assert (letter.type, letter.monitor, letter.priority) == ("save", "a", forelock.Priority.FOREGROUND)
    assert (letter.lock_info, letter.payload, letter.reason) == ("Save", b"\0\xff", "red")
    assert letter.attempts == (FailedAttempt("busy", "one", FAILED - 1, 0.01),
                               FailedAttempt("red", "two", FAILED, 0.02))
    assert (letter.max_attempts, letter.replay_count, letter.failed_at) == (4, 0, FAILED)
    assert letter.enqueued_at < FAILED and letter.instance and letter.traceparent == ""
    assert "\\xff" not in repr(letter), "payloads may be confidential"
    assert letters.status.outbox_rows == 0
    # Another thread takes the lines of the library.
    assert "outbox.db begins, under token " in lines.get(timeout=10)
    assert lines.get(timeout=10).endswith("outbox.db has ended: replayed 2, failed 0, parked 0, for later 0")


def test_what_the_handler_raises_decides(client, letters, add):
    for id, monitor, type in (("b1", "b", "broken"), ("b2", "b", "good"), ("c1", "c", "busy"), ("d1", "d", "odd"),
                              ("e1", "e", "lost"), ("f1", "f", "good")):
        add(id, monitor, type)

    def handler(attempt):
        kind = attempt.letter.type
        if kind == "broken":
            raise OperationFailure("bad_row", "row 7", retryable=False)
        if kind == "busy":
            raise OperationFailure("busy", "rebuilt")
        if kind == "odd":
            raise ZeroDivisionError("a defect")
        if kind == "lost":
            lost = threading.Event()
            attempt.on_lost(lambda reason: lost.set())
            take_away(client, "e")
            assert lost.wait(60) and attempt.should_stop

    report = letters.replay(client, handler)
    assert (report.replayed, report.failed, report.later, report.skipped, report.parked) == (1, 2, 2, 1, 0)
    told = unresolved(report)
    assert told["b1"] == (ReplayOutcome.FAILED, "bad_row: row 7")
    assert told["b2"][0] == ReplayOutcome.SKIPPED
    assert told["c1"] == (ReplayOutcome.LATER, "busy: rebuilt")
    assert told["d1"] == (ReplayOutcome.FAILED, "handler_failed: a defect")
    assert told["e1"] == (ReplayOutcome.LATER, "the lock on e was lost meanwhile")
    assert letters.status.outbox_rows == 5


def test_only_what_matches_is_replayed_and_a_preview_says_what(client, letters, add):
    add("a1", "a", "one")
    add("a2", "a", "two")
    add("b1", "b", "two")
    preview = letters.preview_replay(ReplayOptions(types=["two"], reasons=["red", "other"]))
    assert (preview.letters, preview.unreadable, preview.overtaken, preview.oldest) == (2, 0, 1, FAILED)
    since = datetime.datetime.fromtimestamp(FAILED, datetime.timezone.utc)
    assert letters.preview_replay(ReplayOptions(since=since)).letters == 3
    assert letters.preview_replay(ReplayOptions(until=FAILED - 1)).letters == 0
    assert letters.replay(client, lambda attempt: None, ReplayOptions(ids=["b1"])).replayed == 1
    assert letters.replay(client, lambda attempt: None, ReplayOptions(max_letters=1)).replayed == 1

    def handler(attempt):
        raise ZeroDivisionError

    assert letters.replay(client, handler, ReplayOptions(monitors=["a"], max_tries=1)).parked == 1
    assert letters.preview_replay(ReplayOptions(parked=True)).letters == 1
    assert letters.replay(client, lambda attempt: None).replayed == 0


@pytest.mark.parametrize("options", [
    {"max_letters": 0}, {"max_tries": 0}, {"lock_timeout": 0}, {"max_unresolved": 0}, {"rate": -1.0}])
def test_what_cannot_be_right_is_refused(client, letters, options):
    with pytest.raises(forelock.RequestRejectedException) as error:
        letters.replay(client, lambda attempt: None, ReplayOptions(**options))
    assert error.value.code == ErrorCode.INVALID_ARGUMENT


def test_arguments_of_the_wrong_kind(client, letters, add):
    add("a1", "a")
    with pytest.raises(TypeError):
        letters.replay(client, lambda attempt: None, ReplayOptions(types="save"))
    with pytest.raises(TypeError):
        letters.replay(client, None)

    async def later(attempt):
        pass

    with pytest.raises(TypeError):
        letters.replay(client, later)
    with pytest.raises(TypeError):
        letters.replay(client, lambda attempt: later(attempt))
    tries = []
    assert letters.replay(client, lambda attempt: tries.append(attempt.tries)).replayed == 1
    assert tries == [0], "it was no failure of the letter's"


def test_an_interruption_ends_it_and_is_not_counted(client, letters, add):
    add("a1", "a")

    def handler(attempt):
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait(60)

    with pytest.raises(KeyboardInterrupt):
        letters.replay(client, handler)
    tries = []
    assert letters.replay(client, lambda attempt: tries.append(attempt.tries)).replayed == 1
    assert tries == [0]


def test_a_handler_may_close_what_it_works_with(open_client, letters, add):
    add("a1", "a")
    add("a2", "a")
    client = open_client()

    def handler(attempt):
        client.close()
        letters.close()
        assert attempt.should_stop

    report = letters.replay(client, handler)
    assert (report.replayed, report.stopped) == (0, True)
    assert unresolved(report)["a1"][0] == ReplayOutcome.LATER
    with pytest.raises(forelock.Error):
        letters.replay(client, handler)


def test_another_one_at_work_is_named(client, open_client, letters, add):
    add("a1", "a")
    other = open_client(zookeeper_session_timeout=SHORT)

    def handler(attempt):
        with pytest.raises(forelock.InstanceLockException, match="dead letters: replay of outbox") as error:
            letters.replay(other, handler)
        assert error.value.code == ErrorCode.LOCK_TIMEOUT

    assert letters.replay(client, handler).replayed == 1
