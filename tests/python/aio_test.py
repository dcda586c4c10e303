"""The locks of asyncio tasks."""

import asyncio
import os
import queue
import re

import pytest
from cases_test import time_out_message
from conftest import PATIENCE

import forelock
from forelock import ErrorCode


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, PATIENCE))


def threads():
    return len(os.listdir("/proc/self/task"))


class Turn:
    """Awaited: the other tasks and callbacks go first, once."""

    def __await__(self):
        yield


async def queued(lock):
    """A task that waits for the lock, in the queue."""
    loop, event = asyncio.get_running_loop(), asyncio.Event()
    lock.on_queued(lambda place: loop.call_soon_threadsafe(event.set))
    task = asyncio.create_task(lock.acquire(PATIENCE))
    await event.wait()
    return task


def test_a_block_holds_the_lock(client):
    async def main():
        async with forelock.aio.lock(client, "P1", lock_info="case") as held:
            assert held.healthy()
            token = held.fencing_token
            assert await held.write_guarded([forelock.CreateNode("/data", b"a")]) == [0]
        with pytest.raises(forelock.LockUnhealthyException):
            held.check_health()
        async with forelock.aio.lock(client, "P1") as held:
            assert held.fencing_token > token

    run(main())


def test_codes_are_those_of_blocking_locks(client):
    async def main():
        lock, waiter = forelock.aio.Lock(client, "P1", lock_info="case"), forelock.aio.Lock(client, "P1")
        assert await lock.try_acquire()
        assert not await waiter.try_acquire()
        with pytest.raises(forelock.InstanceLockException) as late:
            await waiter.acquire(0.05)
        assert late.value.code == ErrorCode.LOCK_TIMEOUT and late.value.retryable
        assert re.fullmatch(time_out_message(client, "P1"), str(late.value)), str(late.value)
        with pytest.raises(forelock.RequestRejectedException) as twice:
            await lock.acquire()
        assert twice.value.code == ErrorCode.ALREADY_HELD
        await lock.release()
        with pytest.raises(forelock.NoNodeException):
            await lock.release()
        await lock.acquire()
        task = await queued(waiter)
        assert waiter.cancel()
        with pytest.raises(forelock.InstanceLockException) as cancelled:
            await task
        assert cancelled.value.code == ErrorCode.CANCELLED
        task = await queued(waiter)
        await asyncio.to_thread(client.close)
        with pytest.raises(forelock.RequestRejectedException) as closed:
            await task
        assert closed.value.code == ErrorCode.CLOSED

    run(main())


def test_cancellation_of_the_task_withdraws_the_waiter(client):
    async def main():
        holder, waiter = forelock.aio.Lock(client, "P1"), forelock.aio.Lock(client, "P1")
        await holder.acquire()
        task = await queued(waiter)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert waiter.state == forelock.LockState.FREE
        await holder.release()
        await waiter.acquire(PATIENCE)  # the object is as good as new
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(holder.acquire(PATIENCE), 0.05)

    run(main())


def test_cancellation_of_a_task_whose_acquisition_has_ended_leaves_another_alone(client):
    async def main():
        holder, lock = forelock.aio.Lock(client, "P1"), forelock.aio.Lock(client, "P1")
        await holder.acquire()
        first = asyncio.create_task(lock.acquire(0.03))
        await Turn()
        while lock.state == forelock.LockState.WAITING:
            pass  # this loop learns nothing of the end
        second = asyncio.create_task(lock.acquire(PATIENCE))
        await Turn()
        first.cancel()
        await asyncio.wait([first])
        await holder.release()
        assert await second > 0
        await lock.release()

    run(main())


def test_a_grant_that_meets_the_cancellation_is_given_back(client):
    inspector = forelock.Inspector(client)

    async def main():
        lock = forelock.aio.Lock(client, "P1")
        task = asyncio.create_task(lock.acquire())
        await Turn()
        while lock.state != forelock.LockState.HELD:
            inspector.list()  # takes its time, in which this loop learns nothing of the grant
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not lock.healthy()
        async with lock:
            assert lock.healthy()

    run(main())


def test_cancellation_at_any_moment_leaves_nothing(client):
    async def main():
        lock = forelock.aio.Lock(client, "P1")
        for turns in range(30):
            task = asyncio.create_task(lock.acquire())
            for _ in range(turns):
                await Turn()
            task.cancel()
            try:
                await task
                await lock.release()
            except asyncio.CancelledError:
                assert not lock.healthy()
        async with lock:
            pass

    run(main())


def test_a_loop_that_ends_leaves_no_waiter(client):
    async def main():
        holder = forelock.aio.Lock(client, "P1")
        await holder.acquire()
        waiter = forelock.aio.Lock(client, "P1")
        await queued(waiter)
        return holder, waiter

    holder, waiter = run(main())  # cancels what is left
    assert waiter.state == forelock.LockState.FREE
    holder.release_detached()
    with forelock.lock(client, "P1", timeout=PATIENCE):
        pass


def test_a_thousand_wait_without_threads(client):
    async def main():
        holder = forelock.aio.Lock(client, "P1")
        holder.on_lost(print)  # now the thread of callbacks is there, too
        await holder.acquire()
        before = threads()
        locks = [forelock.aio.Lock(client, "P1") for _ in range(1000)]
        tasks = [asyncio.create_task(lock.acquire(PATIENCE)) for lock in locks[:-1]]
        tasks.append(await queued(locks[-1]))  # the last in the queue
        assert threads() == before
        for task in tasks:
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(end, asyncio.CancelledError) for end in ends)
        for lock in locks:
            lock.close()
        await holder.release()

    run(main())
    with forelock.lock(client, "P1", timeout=PATIENCE) as held:
        assert held.healthy()


def test_a_client_is_closed_at_the_end_of_its_block(open_client):
    async def main():
        async with open_client() as client:
            lost = queue.SimpleQueue()
            lock = forelock.aio.Lock(client, "P1")
            lock.on_lost(lost.put)
            await lock.acquire()
        assert client.closed
        assert lost.get(timeout=0) == forelock.LossReason.CLOSED

    run(main())


def test_a_record_says_where_a_task_called(client):
    async def save_content(lock):
        async with lock:
            return lock.owner().stack if isinstance(lock, forelock.aio.Lock) else ""

    async def main():
        stack = await save_content(forelock.aio.lock(client, "P1"))
        assert ".save_content (" in stack.splitlines()[0] and ".main (" in stack.splitlines()[1]
        assert not [line for line in stack.splitlines() if "asyncio" in line], stack
        lock = forelock.aio.Lock(client, "P1")
        await asyncio.gather(lock.acquire())  # a task that begins in the package
        first = lock.owner().stack.splitlines()[0]
        assert first.startswith(("run (", "test_a_record_says_where_a_task_called (")), first

    run(main())


def test_a_holder_steps_aside(client):
    async def main():
        holder = forelock.aio.Lock(client, "P1", priority="background")
        urgent = forelock.aio.Lock(client, "P1")
        token = await holder.acquire()
        waiting = await queued(urgent)
        aside = asyncio.create_task(holder.step_aside(PATIENCE))
        urgent_token = await waiting
        await urgent.release()
        again = await aside
        assert token < urgent_token < again and holder.healthy()
        # A task that is cancelled while its lock stands aside holds nothing in the end.
        waiting = await queued(urgent)
        aside = asyncio.create_task(holder.step_aside(PATIENCE))
        await waiting
        aside.cancel()
        with pytest.raises(asyncio.CancelledError):
            await aside
        assert holder.state == forelock.LockState.FREE
        await urgent.release()
        with pytest.raises(forelock.LockUnhealthyException):
            await holder.step_aside(PATIENCE)
        pair = forelock.aio.LockSet(client, ["P1", "P2"])
        await pair.acquire()
        before = pair.fencing_tokens
        assert (await pair.step_aside(PATIENCE)).keys() == before.keys() and pair.healthy()
        await pair.release()

    run(main())
