"""Operations with retries, and the dead-letter queue behind them."""

import array
import asyncio
import concurrent.futures
import logging
import os
import queue
import signal
import threading

import pytest
from conftest import PATIENCE

import forelock
from forelock import ErrorCode, Operation, OperationEnd, OperationFailure

SAVE = Operation(type="saveContent", monitor="P1", payload=b"\x00article", id="op-1")


@pytest.fixture
def letters(tmp_path):
    with forelock.DeadLetterQueue(dlq_outbox_path=tmp_path / "outbox.db") as queue:
        yield queue


@pytest.fixture
def runner(open_client, letters):
    client = open_client(elastic_request_retry_count=2)
    with forelock.OperationRunner(client, letters, backoff_initial=0.001, backoff_cap=0.002) as runner:
        yield runner


def test_an_attempt_holds_the_lock(runner, letters):
    seen = []

    def handler(attempt):
        attempt.check_health()
        attempt.write_guarded([forelock.CreateNode("/data", attempt.operation.payload)])
        seen.append((attempt.number, attempt.monitor, attempt.healthy(), attempt.fencing_token > 0, attempt))

    result = runner.run(SAVE, handler, timeout=PATIENCE)
    assert (result.end, result.id, result.reason) == (OperationEnd.SUCCEEDED, "op-1", "")
    assert [entry[:4] for entry in seen] == [(1, "P1", True, True)]
    assert not seen[0][4].healthy()
    assert letters.status.outbox_rows == 0


def test_what_fails_is_tried_again_and_becomes_a_dead_letter(runner, letters):
    attempts = []

    def handler(attempt):
        attempts.append(attempt.number)
        raise OperationFailure("cluster_red", "the cluster is red")

    result = runner.run(SAVE, handler)
    assert attempts == [1, 2, 3]
    assert (result.end, result.reason) == (OperationEnd.DEAD_LETTERED, "cluster_red")
    status = letters.status
    assert (status.outbox_rows, status.accepted, status.forwarding) == (1, 1, False)
    assert status.oldest_age is not None and status.outbox_bytes > 0


class Unspeakable(Exception):
    def __str__(self):
        raise ZeroDivisionError("no text")


class Unfinished(OperationFailure):
    def __init__(self):
        pass


@pytest.mark.parametrize("failure, reason, attempts", [
    (ZeroDivisionError("0"), "handler_failed", 1),
    (Unspeakable(), "handler_failed", 1),
    (Unfinished(), "handler_failed", 1),
    (OperationFailure("busy", ValueError("x")), "busy", 3),
    (OperationFailure("gone", "for good", retryable=None), "gone", 1),
    (OperationFailure("no_such_article", "gone", retryable=False), "no_such_article", 1),
    (OperationFailure("Not A\0 Code", "a\0b", retryable=False), "not_a_code", 1),
    (forelock.ConnectionLossException(ErrorCode.CONNECTION_LOSS, "", "lost", "", True), "connection_loss", 3),
])
def test_the_exception_decides_whether_there_is_another_attempt(runner, caplog, failure, reason, attempts):
    caplog.set_level(logging.CRITICAL, "forelock")
    numbers = []

    def handler(attempt):
        numbers.append(attempt.number)
        raise failure

    assert runner.run(SAVE, handler).reason == reason
    assert len(numbers) == attempts


def test_a_lost_lock_is_another_attempt(runner, open_client):
    inspector = forelock.Inspector(open_client())

    def handler(attempt):
        if attempt.number == 1:
            lost = queue.SimpleQueue()
            attempt.on_lost(lost.put)
            inspector.force_release("P1", inspector.show("P1").holder.node)
            assert lost.get(timeout=PATIENCE) == forelock.LossReason.REMOVED
        attempt.check_health()
        numbers.append(attempt.number)

    numbers = []
    assert runner.run(SAVE, handler).end == OperationEnd.SUCCEEDED
    assert numbers == [2]


def test_the_caller_keeps_what_was_not_begun(runner, letters, open_client):
    with forelock.lock(open_client(), "P1"):
        with pytest.raises(forelock.RequestRejectedException) as invalid:
            runner.run(Operation(type="", monitor="P1"), print)
        assert invalid.value.code == ErrorCode.INVALID_ARGUMENT
    letters.close()  # lives on until its runner is closed
    runner.close()
    with pytest.raises(forelock.RequestRejectedException):
        runner.run(SAVE, print)


@pytest.mark.parametrize("payload", ["abc", None, 5, [1]])
def test_a_payload_is_bytes(runner, client, letters, payload):
    operation = Operation(type="saveContent", monitor="P1", payload=payload)
    for call in (lambda: runner.run(operation, print), lambda: asyncio.run(runner.run_async(operation, print)),
                 lambda: letters.accept(client, operation, [forelock.FailedAttempt("busy")])):
        with pytest.raises(TypeError, match=f"^payload is a {type(payload).__name__}, not bytes"):
            call()
    assert letters.status.accepted == 0


def test_whatever_has_bytes_is_a_payload(client, letters):
    attempts = [forelock.FailedAttempt("busy")]
    sizes = []
    for payload in (b"12345678", bytearray(b"12345678"), memoryview(b"12345678").cast("I"), array.array("Q", [1])):
        before = letters.status.outbox_bytes
        letters.accept(client, Operation("saveContent", "P1", payload, id=f"op-{len(sizes)}"), attempts)
        sizes.append(letters.status.outbox_bytes - before)
    assert len(set(sizes)) == 1


def test_the_log_tells_of_a_damaged_outbox(client, tmp_path, caplog, monkeypatch):
    lines = queue.SimpleQueue()
    monkeypatch.setattr(caplog.handler, "emit", lambda record: lines.put(record.getMessage()))
    path = tmp_path / "outbox.db"
    for id in ("before", "after"):
        with forelock.DeadLetterQueue(dlq_outbox_path=path) as letters:
            letters.accept(client, Operation("save", "P1", id=id), [forelock.FailedAttempt("busy")])
        with open(path, "r+b") as file:
            file.write(b"no SQLite file")
    while "outbox.db.damaged-" not in lines.get(timeout=PATIENCE):
        pass


def test_the_id_of_a_letter_is_read_before_its_thread_accepts_another(client, letters, monkeypatch):
    def accept(id):
        return letters.accept(client, Operation("save", "P1", id=id), [forelock.FailedAttempt("busy")])

    def on_the_pool(call):
        """As under gevent, when the greenlet goes on late."""
        result = pool.submit(call).result()
        monkeypatch.undo()
        assert pool.submit(accept, "another").result() == "another"
        return result

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr("forelock.dead_letters.blocking", on_the_pool)
        assert accept("mine") == "mine"


def test_ctrl_c_ends_an_operation(runner, letters):
    with pytest.raises(KeyboardInterrupt):
        runner.run(SAVE, lambda attempt: os.kill(os.getpid(), signal.SIGINT))
    assert letters.status.accepted == 0  # its caller keeps it


def test_a_callback_runs_no_operation(runner, open_client):
    refused = queue.SimpleQueue()

    def callback(where):
        try:
            runner.run(SAVE, print)
        except forelock.Error as error:
            refused.put(error.code)

    waiting = forelock.BlockingLock(runner._client, "P2", timeout=PATIENCE)
    waiting.on_queued(callback)
    with forelock.lock(open_client(), "P2"):
        thread = threading.Thread(target=waiting.acquire)
        thread.start()
        assert refused.get(timeout=PATIENCE) == ErrorCode.INVALID_ARGUMENT
    thread.join()
    waiting.release()


def test_an_operation_ends_though_its_client_was_closed_meanwhile(runner, letters, open_client):
    client = open_client(elastic_request_retry_count=2)
    with forelock.OperationRunner(client, letters) as runner:
        def handler(attempt):
            client.close()
            raise OperationFailure("busy", "too late", retryable=False)

        result = runner.run(SAVE, handler)
        assert (result.end, result.reason) == (OperationEnd.DEAD_LETTERED, "busy")
    assert letters.status.outbox_rows == 1


def test_a_log_that_cannot_be_written_ends_nothing(runner, monkeypatch):
    handler = logging.Handler()
    monkeypatch.setattr(handler, "handle", lambda record: 1 / 0)
    monkeypatch.setattr(logging.getLogger("forelock"), "handlers", [handler])

    def fail(attempt):
        raise ValueError("what is logged")

    assert runner.run(SAVE, fail).reason == "handler_failed"


def test_tasks_run_operations(runner, letters):
    async def main():
        async def handler(attempt):
            if attempt.number < 2:
                raise OperationFailure("not_yet", "again")

        results = await asyncio.gather(*(
            runner.run_async(Operation(type="t", monitor=f"P{i % 5}"), handler, timeout=PATIENCE) for i in range(20)))
        assert {result.end for result in results} == {OperationEnd.SUCCEEDED}
        assert len({result.id for result in results}) == 20

        begun = asyncio.Event()

        async def endless(attempt):
            begun.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(runner.run_async(SAVE, endless))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with forelock.aio.lock(runner._client, "P1", timeout=PATIENCE):
            pass
        assert letters.status.accepted == 0  # its caller keeps it

    asyncio.run(asyncio.wait_for(main(), PATIENCE))


def held(client, monitor):
    """Waits until the monitor is held."""
    inspector = forelock.Inspector(client)
    while (seen := inspector.show(monitor)) is None or seen.holder is None:
        pass


def test_no_handler_is_called_once_the_runner_is_closed(open_client, letters, monkeypatch):
    client, other = open_client(), open_client()
    runner = forelock.OperationRunner(client, letters)
    calls, ends = [], queue.SimpleQueue()

    def run():
        try:
            runner.run(SAVE, calls.append)
        except forelock.Error as error:
            ends.put(error.code)

    # The thread that fetches the client's events has this one in its hands until the runner is closed.
    closed = threading.Event()
    deliver = client.core.dispatcher._deliver
    monkeypatch.setattr(client.core.dispatcher, "_deliver", lambda event: (closed.wait(PATIENCE), deliver(event)))
    thread = threading.Thread(target=run)
    thread.start()
    held(other, "P1")
    runner.close()
    closed.set()
    thread.join()
    assert (ends.get(timeout=PATIENCE), calls) == (ErrorCode.CANCELLED, [])


def test_no_task_calls_a_handler_once_the_runner_is_closed(client, letters):
    calls = []

    async def handler(attempt):
        calls.append(attempt)

    async def main():
        runner = forelock.OperationRunner(client, letters)
        task = asyncio.create_task(runner.run_async(SAVE, handler))
        begun = asyncio.Event()
        asyncio.get_running_loop().call_soon(begun.set)  # after the task's first step
        await begun.wait()
        held(client, "P1")  # the task gets no further, since the loop stands still
        runner.close()
        with pytest.raises(forelock.InstanceLockException) as kept:
            await task
        assert kept.value.code == ErrorCode.CANCELLED

    asyncio.run(asyncio.wait_for(main(), PATIENCE))
    assert (calls, letters.status.accepted) == ([], 0)


def test_the_queue_takes_what_was_attempted_elsewhere(client, letters):
    attempts = [forelock.FailedAttempt("cluster_red", "the cluster is red", waited=0.5), forelock.FailedAttempt("busy")]
    assert letters.accept(client, SAVE, attempts, max_attempts=3) == "op-1"
    assert len(letters.accept(client, Operation(type="saveContent", monitor="P1"), attempts)) == 36
    assert letters.status.outbox_rows == 2
    with pytest.raises(forelock.Error) as none:
        letters.accept(client, Operation(type="saveContent", monitor="P1"), [])
    assert none.value.code == ErrorCode.INVALID_ARGUMENT
    with pytest.raises(forelock.Error) as empty:
        letters.accept(client, Operation(type="", monitor="P1"), attempts)
    assert empty.value.code == ErrorCode.INVALID_ARGUMENT


def test_a_runner_may_have_a_budget_of_its_own(open_client, letters):
    client = open_client(elastic_request_retry_count=1)
    with pytest.raises(forelock.RequestRejectedException):
        forelock.OperationRunner(client, letters, retry_burst=2_000_000)
    with pytest.raises(forelock.RequestRejectedException):
        forelock.OperationRunner(client, letters, retries_per_second=-1)
    with forelock.OperationRunner(
            client, letters, retry_burst=1, retries_per_second=1e6, backoff_initial=0.001) as runner:
        attempts = []

        def handler(attempt):
            attempts.append(attempt.number)
            raise OperationFailure("cluster_red", "red")

        assert runner.run(SAVE, handler).end == OperationEnd.DEAD_LETTERED
        assert attempts == [1, 2]
