"""Several monitors as one lock, for threads and for tasks."""

import asyncio
import queue
import threading
import time

import pytest
from conftest import LONG, PATIENCE

import forelock
from forelock import BlockingLock, ErrorCode, LockSet, LockState, LossReason, Priority


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, PATIENCE))


class Turn:
    """Awaited: the other tasks and callbacks go first, once."""

    def __await__(self):
        yield


def in_thread(function):
    """Runs it in a thread; the result's get() returns what it returned or raised."""
    results = queue.SimpleQueue()

    def call():
        try:
            results.put(function())
        except forelock.Error as error:
            results.put(error)

    threading.Thread(target=call, daemon=True).start()
    return results


def await_queue(client, monitor):
    """Nothing announces that a set waits."""
    end = time.monotonic() + PATIENCE
    inspector = forelock.Inspector(client)
    while not inspector.show(monitor).waiting:
        assert time.monotonic() < end, f"none waits at {monitor}"


def code_of(call):
    with pytest.raises(forelock.Error) as caught:
        call()
    return caught.value.code


def test_all_members_are_held_and_released(client):
    single = BlockingLock(client, "b")
    with LockSet(client, ["b", "a", "b"], lock_info="case", priority="background") as held:
        assert held.monitors == ("a", "b") and held.lock_info == "case" and held.priority == Priority.BACKGROUND
        assert held.healthy() and held.state == LockState.HELD
        held.check_health()
        before = held.fencing_tokens
        assert list(before) == ["a", "b"] and min(before.values()) > 0
        assert time.monotonic() < held.expires_at < time.monotonic() + LONG / 1000
        assert 0 < held.expires_in < LONG / 1000
        assert not single.try_acquire()
        after = held.step_aside(PATIENCE)
        assert after["b"] > before["b"]
    assert not held.healthy() and (held.state, held.expires_in) == (LockState.FREE, 0)
    assert code_of(held.release) == ErrorCode.NOT_HELD
    single.acquire()
    assert not held.try_acquire()
    single.release()
    assert held.try_acquire()
    held.close()


@pytest.mark.parametrize("in_main_thread", [True, False])
def test_none_is_held_of_a_set_that_is_not_obtained(client, in_main_thread):
    busy = BlockingLock(client, "b", lock_info="busy")
    busy.acquire()
    lock_set = LockSet(client, ["a", "b", "c"], timeout=3)
    if in_main_thread:
        with pytest.raises(forelock.InstanceLockException) as refused:
            lock_set.acquire()
        error = refused.value
    else:
        error = in_thread(lock_set.acquire).get(timeout=PATIENCE)
    assert (error.code, error.monitor, error.retryable) == (ErrorCode.LOCK_TIMEOUT, "b", True)
    assert f"; held by {client.status.instance}/" in str(error) and ' for "busy"' in str(error)

    async def in_a_task():
        with pytest.raises(forelock.InstanceLockException) as late:
            await forelock.aio.LockSet(client, ["b"]).acquire(0.05)
        assert late.value.code == ErrorCode.LOCK_TIMEOUT
        assert ' for "busy"' in str(late.value)

    run(in_a_task())
    with LockSet(client, ["a", "c"], timeout=PATIENCE):
        pass
    busy.release()


def test_cancelled(client):
    busy = BlockingLock(client, "b")
    busy.acquire()
    for end in (LockSet.cancel, LockSet.close):
        waiter = LockSet(client, ["a", "b"])
        result = in_thread(lambda waiter=waiter: waiter.acquire(PATIENCE))
        await_queue(client, "b")
        end(waiter)
        error = result.get(timeout=PATIENCE)
        assert isinstance(error, forelock.InstanceLockException) and error.code == ErrorCode.CANCELLED
    busy.release()


def test_a_lost_member_is_named(client):
    lost, contended = queue.SimpleQueue(), queue.SimpleQueue()
    lock_set = LockSet(client, ["a", "b"])
    lock_set.on_lost(lambda reason, monitor: lost.put((reason, monitor)))
    lock_set.on_contended(lambda priority, monitor: contended.put((priority, monitor)))
    lock_set.acquire(PATIENCE)
    result = in_thread(lambda: BlockingLock(client, "b", priority="background").acquire(PATIENCE))
    assert contended.get(timeout=PATIENCE) == (Priority.BACKGROUND, "b")
    inspector = forelock.Inspector(client)
    inspector.force_release("b", inspector.show("b").holder.node)
    assert lost.get(timeout=PATIENCE) == (LossReason.REMOVED, "b")
    assert result.get(timeout=PATIENCE) > 0
    assert not lock_set.healthy() and lock_set.state == LockState.LOST
    with pytest.raises(forelock.LockUnhealthyException) as unhealthy:
        lock_set.check_health()
    assert unhealthy.value.monitor == "b"
    assert code_of(lock_set.release) == ErrorCode.NO_NODE


def test_misuse_is_refused(client):
    assert code_of(lambda: LockSet(client, [])) == ErrorCode.INVALID_ARGUMENT
    assert code_of(lambda: LockSet(client, ["a", ""])) == ErrorCode.INVALID_ARGUMENT
    assert code_of(lambda: LockSet(client, (f"m{i}" for i in range(1001)))) == ErrorCode.INVALID_ARGUMENT
    assert code_of(lambda: LockSet(client, ["a"], timeout=-1)) == ErrorCode.INVALID_ARGUMENT
    with pytest.raises(TypeError):
        LockSet(client, "ab")
    held = LockSet(client, ["a", "b"])
    held.acquire()
    assert code_of(held.acquire) == ErrorCode.ALREADY_HELD
    freed = LockSet(client, ["c"])
    freed.close()
    freed.close()
    assert not freed.healthy() and (freed.expires_at, freed.expires_in) == (0, 0)
    for call in (freed.acquire, freed.try_acquire, freed.release, freed.check_health, freed.cancel,
                 lambda: freed.on_lost(print), lambda: freed.state, lambda: freed.fencing_tokens):
        assert code_of(call) == ErrorCode.INVALID_HANDLE
    client.close()
    assert not held.healthy()
    assert code_of(held.release) == ErrorCode.NO_NODE
    assert code_of(held.acquire) == ErrorCode.CLOSED


def test_tasks(client):
    async def main():
        busy = BlockingLock(client, "b")
        busy.acquire()
        lock_set = forelock.aio.LockSet(client, ["a", "b"])
        assert not await lock_set.try_acquire()
        with pytest.raises(forelock.InstanceLockException) as late:
            await lock_set.acquire(0.05)
        assert late.value.code == ErrorCode.LOCK_TIMEOUT
        task = asyncio.create_task(lock_set.acquire(PATIENCE))
        await asyncio.to_thread(await_queue, client, "b")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert lock_set.state == LockState.FREE
        task = asyncio.create_task(lock_set.acquire(PATIENCE))
        await asyncio.to_thread(await_queue, client, "b")
        await asyncio.to_thread(busy.release)
        tokens = await task
        assert sorted(tokens) == ["a", "b"] and lock_set.healthy()
        await lock_set.release()
        with pytest.raises(forelock.NoNodeException):
            await lock_set.release()
        async with lock_set:
            assert lock_set.healthy()
        assert not lock_set.healthy()

    run(main())


def test_overlapping_sets_of_many_tasks_exclude_each_other(client):
    async def work(number, counts):
        members = [f"m{(number + step) % 5}" for step in range(3)]
        async with forelock.aio.LockSet(client, members):
            before = [counts[member] for member in members]
            await Turn()
            for member, count in zip(members, before):
                counts[member] = count + 1

    async def main():
        counts = {f"m{i}": 0 for i in range(5)}
        await asyncio.gather(*(work(number, counts) for number in range(50)))
        assert set(counts.values()) == {30}

    run(main())


def test_it_writes_while_all_members_are_held_or_nothing(client):
    with LockSet(client, ["written-1", "written-2"]) as held:
        held.write_guarded([forelock.CreateNode("/written-by-python", b"1")])
        held.alive(60)
        assert held.write_guarded([forelock.SetNode("/written-by-python", b"2", 0)]) == [1]
        assert code_of(lambda: held.write_guarded([forelock.CheckNode("/written-by-python", 0)])) \
            == ErrorCode.WRITE_CONFLICT
        assert held.waits_for is None
    assert code_of(lambda: held.alive(1)) == ErrorCode.LOCK_UNHEALTHY
    assert code_of(lambda: held.on_danger(0, lambda: None)) == ErrorCode.INVALID_ARGUMENT

    async def in_a_task():
        async with forelock.aio.LockSet(client, ["written-1", "written-2"]) as again:
            return await again.write_guarded([forelock.SetNode("/written-by-python", b"3", 1)])
    assert run(in_a_task()) == [2]


def test_the_member_that_it_waits_for_is_named(client):
    held = LockSet(client, ["named-1", "named-2"])
    with BlockingLock(client, "named-2"):
        waiting = in_thread(lambda: held.acquire(PATIENCE))
        await_queue(client, "named-2")
        assert held.waits_for == "named-2"
    assert set(waiting.get()) == {"named-1", "named-2"}
    held.release()


def test_its_place_is_told_with_the_member_that_it_waits_for(client):
    places = queue.SimpleQueue()
    waiter = LockSet(client, ["P1", "P2"], lock_info="Reindex", priority=Priority.BACKGROUND)
    waiter.on_queued(lambda position, monitor: places.put((position.place, monitor)))
    assert waiter.owner().lock_info == "Reindex"
    with BlockingLock(client, "P2"):
        result = in_thread(lambda: waiter.acquire(timeout=PATIENCE))
        assert places.get(timeout=PATIENCE) == (1, "P2")
    assert set(result.get(timeout=PATIENCE)) == {"P1", "P2"}
    waiter.release()


def test_the_inspector_tells_what_a_set_holds_and_waits_for(client):
    inspector = forelock.Inspector(client)
    busy = BlockingLock(client, "s2", lock_info="busy")
    busy.acquire()
    waiting = LockSet(client, ["s1", "s2", "s3"])
    end = in_thread(waiting.acquire)
    await_queue(client, "s2")
    monitor = inspector.show("s2")
    assert monitor.oldest_wait == monitor.line[0].waited and inspector.show("s1").oldest_wait is None
    assert [one.oldest_wait is None for one in inspector.list() if one.monitor in ("s1", "s2")] == [True, False]
    seen = inspector.lock_set("s2", monitor.line[0].node)
    assert (seen.size, seen.members, seen.held, seen.held_count) == (3, ("s1", "s2", "s3"), ("s1",), 1)
    assert seen.waits_for == "s2" and seen.behind.owner.lock_info == "busy"
    assert seen.id == inspector.lock_set("s1", inspector.show("s1").holder.node).id
    assert inspector.lock_set("s2", monitor.holder.node) is None, "a single lock"
    assert inspector.lock_set("s2", "A-1") is None and inspector.lock_set("nowhere", "A-1") is None
    busy.release()
    end.get()
    seen = inspector.lock_set("s3", inspector.show("s3").holder.node)
    assert seen.held == seen.members and seen.waits_for is None and seen.behind is None
    waiting.release()
