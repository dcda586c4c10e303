"""What is given to be called: refused where it cannot be, or its body would not run, and then never counted as done."""

import asyncio
import functools
import logging
import types

import pytest
from conftest import PATIENCE

import forelock
from forelock import Operation, OperationEnd

SAVE = Operation(type="saveContent", monitor="P1", payload=b"article", id="op-1")


@pytest.fixture
def letters(tmp_path):
    with forelock.DeadLetterQueue(dlq_outbox_path=tmp_path / "outbox.db") as queue:
        yield queue


@pytest.fixture
def runner(client, letters):
    with forelock.OperationRunner(client, letters) as runner:
        yield runner


def in_loop(runner, handler, operation=SAVE):
    return asyncio.run(asyncio.wait_for(runner.run_async(operation, handler, timeout=PATIENCE), PATIENCE))


async def coroutine(attempt):
    pass


def generator(attempt):
    yield attempt


async def asynchronous_generator(attempt):
    yield attempt


@types.coroutine
def old_coroutine(attempt):
    yield


class Turn:
    def __await__(self):
        yield


class Coroutine:
    async def __call__(self, attempt):
        pass

    async def method(self, attempt):
        pass

    @types.coroutine
    def old_method(self, attempt):
        yield


class Generator:
    def __call__(self, attempt):
        yield attempt


def with_argument(argument, attempt):
    return coroutine(attempt)


COROUTINES = [coroutine, old_coroutine, Coroutine(), Coroutine().method, Coroutine().old_method,
              functools.partial(coroutine), functools.partial(functools.partial(Coroutine()))]
GENERATORS = [generator, asynchronous_generator, Generator(), functools.partial(asynchronous_generator)]


@pytest.mark.parametrize("handler", COROUTINES)
def test_a_thread_runs_no_coroutine_function(runner, client, handler):
    with pytest.raises(TypeError, match=r"coroutine function.*run_async"):
        runner.run(SAVE, handler)
    assert forelock.Inspector(client).show("P1") is None  # not begun


@pytest.mark.parametrize("handler", GENERATORS)
def test_nothing_runs_a_generator_function(runner, client, handler):
    with pytest.raises(TypeError, match="generator function"):
        runner.run(SAVE, handler)
    with pytest.raises(TypeError, match="generator function"):
        in_loop(runner, handler)
    assert forelock.Inspector(client).show("P1") is None


@pytest.mark.parametrize("handler", [None, 5, "save", coroutine.__code__])
def test_a_handler_can_be_called(runner, client, letters, handler):
    with pytest.raises(TypeError, match=f"handler is a {type(handler).__name__}"):
        runner.run(SAVE, handler)
    with pytest.raises(TypeError, match=f"handler is a {type(handler).__name__}"):
        in_loop(runner, handler)
    assert forelock.Inspector(client).show("P1") is None
    assert letters.status.accepted == 0


def kept_by_its_caller(client, letters):
    with forelock.lock(client, "P1", timeout=PATIENCE):
        return letters.status.accepted == 0


@pytest.mark.parametrize("handler, returned", [
    (lambda attempt: coroutine(attempt), "coroutine.*run_async"),
    (functools.partial(with_argument, 1), "coroutine.*run_async"),
    (lambda attempt: old_coroutine(attempt), "generator.*run_async"),
    (lambda attempt: Turn(), "Turn.*run_async"),
    (lambda attempt: generator(attempt), "generator"),
    (lambda attempt: asynchronous_generator(attempt), "async_generator"),
])
def test_what_a_thread_s_handler_returned_undone_is_no_success(runner, client, letters, handler, returned):
    left = []

    def keep(attempt):
        left.append(handler(attempt))
        return left[0]

    with pytest.raises(TypeError, match=f"returned a {returned}"):
        runner.run(SAVE, keep, timeout=PATIENCE)
    assert len(left) == 1
    assert getattr(left[0], "cr_frame", None) is None and getattr(left[0], "gi_frame", None) is None  # closed
    assert kept_by_its_caller(client, letters)


async def returns_undone(attempt):
    return coroutine(attempt)


@pytest.mark.parametrize("handler, returned", [
    (lambda attempt: generator(attempt), "generator"),
    (lambda attempt: asynchronous_generator(attempt), "async_generator"),
    (returns_undone, "coroutine.*await"),
])
def test_what_a_task_s_handler_returned_undone_is_no_success(runner, client, letters, handler, returned):
    with pytest.raises(TypeError, match=f"returned a {returned}"):
        in_loop(runner, handler)
    assert kept_by_its_caller(client, letters)


def test_a_generator_that_cannot_be_closed_changes_nothing(runner, client, letters):
    def stubborn(attempt):
        try:
            yield
        finally:
            raise ZeroDivisionError

    def handler(attempt):
        begun = stubborn(attempt)
        next(begun)
        return begun

    with pytest.raises(TypeError, match="returned a generator"):
        runner.run(SAVE, handler, timeout=PATIENCE)
    assert kept_by_its_caller(client, letters)


def test_a_task_that_a_handler_left_does_not_go_on_without_the_lock(runner, client, letters):
    ends = []

    async def work():
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ends.append("cancelled")
            raise

    async def handler(attempt):
        task = asyncio.create_task(work())
        await Turn()
        return task

    async def main():
        with pytest.raises(TypeError, match="returned a Task"):
            await runner.run_async(SAVE, handler, timeout=PATIENCE)
        assert ends == ["cancelled"]

    asyncio.run(asyncio.wait_for(main(), PATIENCE))
    assert kept_by_its_caller(client, letters)


@pytest.mark.parametrize("handler", [*COROUTINES, lambda attempt: coroutine(attempt), lambda attempt: Turn(),
                                     functools.partial(with_argument, 1)])
def test_tasks_run_whatever_can_be_awaited(runner, caplog, handler):
    assert in_loop(runner, handler).end == OperationEnd.SUCCEEDED
    assert not [record for record in caplog.records if "handler" in record.getMessage()]


def test_what_a_plain_function_did_in_a_task_is_done_and_told_once(runner, letters, caplog):
    calls = []
    with caplog.at_level(logging.WARNING, "forelock"):
        for i in range(3):
            assert in_loop(runner, calls.append, Operation("saveContent", f"P{i}")).end == OperationEnd.SUCCEEDED
        assert in_loop(runner, calls.append, Operation("deleteContent", "P1")).end == OperationEnd.SUCCEEDED
    assert (len(calls), letters.status.accepted) == (4, 0)
    told = [record.getMessage() for record in caplog.records if "handler" in record.getMessage()]
    assert [line.partition(":")[0] for line in told] == [
        f"the handler of {kind} returned a NoneType, which cannot be awaited"
        for kind in ("saveContent", "deleteContent")]


def test_what_a_plain_function_raises_in_a_task_is_a_failure(runner, letters):
    def handler(attempt):
        raise forelock.OperationFailure("gone", "for good", retryable=False)

    assert in_loop(runner, handler).reason == "gone"
    assert letters.status.accepted == 1


@pytest.mark.parametrize("callback, problem", [
    (5, "callback is a int"), (None, "callback is a NoneType"), (coroutine, "coroutine function"),
    (Generator(), "generator function"),
])
def test_callbacks_can_be_called(client, runner, callback, problem):
    def of_an_attempt(attempt):
        with pytest.raises(TypeError, match=problem):
            attempt.on_lost(callback)

    for lock in (forelock.BlockingLock(client, "P2"), forelock.aio.Lock(client, "P2")):
        for call in (lock.on_lost, lock.on_queued, lock.on_contended, functools.partial(lock.on_danger, 1)):
            with pytest.raises(TypeError, match=problem):
                call(callback)
    for lock in (forelock.LockSet(client, ["P2", "P3"]), forelock.aio.LockSet(client, ["P2", "P3"])):
        for call in (lock.on_lost, lock.on_contended, functools.partial(lock.on_danger, 1)):
            with pytest.raises(TypeError, match=problem):
                call(callback)
    assert runner.run(SAVE, of_an_attempt).end == OperationEnd.SUCCEEDED
