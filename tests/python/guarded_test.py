"""Guarded writes and withdrawals, by everything that has them."""

import asyncio
import queue
import threading

import pytest
from conftest import PATIENCE

import forelock
from forelock import BlockingLock, CheckNode, CreateNode, DeleteNode, ErrorCode, LockSet, SetNode

MAKERS = [lambda client: BlockingLock(client, "P1", timeout=PATIENCE),
          lambda client: LockSet(client, ["P1", "P2"], timeout=PATIENCE)]


def code_of(call):
    with pytest.raises(forelock.Error) as refused:
        call()
    return refused.value.code


@pytest.mark.parametrize("make", MAKERS)
def test_all_of_a_guarded_write_or_none(client, make):
    with make(client) as held:
        assert held.write_guarded([CreateNode("/a", b"1"), CreateNode("/b"), SetNode("/b", b"2")])[2] == 1
        for refused in ([SetNode("/a", b"x"), CheckNode("/b", 7)], [DeleteNode("/a"), CreateNode("/b")],
                        [DeleteNode("/b"), DeleteNode("/none")], [SetNode("/a", b"x", version=3)]):
            assert code_of(lambda writes=refused: held.write_guarded(writes)) == ErrorCode.WRITE_CONFLICT
        held.write_guarded([CheckNode("/a", 0), CheckNode("/b", 1)])  # nothing was written
        assert held.healthy()
        for invalid in ([SetNode("/a", "text")], [CreateNode("a")], [CreateNode("/a\0")]):
            assert code_of(lambda writes=invalid: held.write_guarded(writes)) == ErrorCode.INVALID_ARGUMENT
        with pytest.raises((TypeError, KeyError, AttributeError)):
            held.write_guarded(["/a"])


@pytest.mark.parametrize("make", MAKERS)
def test_who_has_lost_the_lock_writes_nothing(client, open_client, make):
    lost = queue.SimpleQueue()
    held = make(client)
    held.on_lost(lambda *reason: lost.put(reason))
    held.acquire()
    inspector = forelock.Inspector(open_client())
    holder = inspector.show("P1").holder
    assert inspector.force_release("P1", f"{holder.node}@{holder.token}") == forelock.ForceRelease.RELEASED
    assert code_of(lambda: held.write_guarded([CreateNode("/a")])) == ErrorCode.LOCK_UNHEALTHY
    assert lost.get(timeout=PATIENCE)[0] == forelock.LossReason.REMOVED
    held.close()
    with BlockingLock(client, "P3") as other:
        assert other.write_guarded([CreateNode("/a")]) == [0], "it was not there"


def test_a_task_writes_under_its_lock(client):
    async def main():
        async with forelock.aio.LockSet(client, ["P1", "P2"], timeout=PATIENCE) as held:
            assert await held.write_guarded([CreateNode("/a"), SetNode("/a", b"1")]) == [0, 1]
            with pytest.raises(forelock.RequestRejectedException) as conflict:
                await held.write_guarded([CheckNode("/a", 0)])
            assert conflict.value.code == ErrorCode.WRITE_CONFLICT and held.healthy()
        with pytest.raises(forelock.LockUnhealthyException):
            await held.write_guarded([CheckNode("/a", 1)])

    asyncio.run(asyncio.wait_for(main(), PATIENCE))


@pytest.mark.parametrize("make", MAKERS)
def test_the_one_that_is_cancelled_is_withdrawn_and_no_other(client, make):
    ends = queue.SimpleQueue()

    def work(lock):
        try:
            lock.acquire()
            ends.put(lock)
        except forelock.Error as error:
            ends.put(error.code)

    def waits(lock, count):
        thread = threading.Thread(target=work, args=[lock])
        thread.start()
        while forelock.Inspector(client).show("P1").waiting < count:
            pass
        return thread

    holder, first, second = BlockingLock(client, "P1"), make(client), make(client)
    assert not first.cancel(), "nothing waits"
    holder.acquire()
    assert not holder.cancel() and holder.healthy()
    threads = [waits(first, 1), waits(second, 2)]
    assert first.cancel()
    assert ends.get(timeout=PATIENCE) == ErrorCode.CANCELLED
    assert not first.cancel()
    assert forelock.Inspector(client).show("P1").waiting == 1
    holder.release()
    assert ends.get(timeout=PATIENCE) is second and second.healthy()
    second.release()
    with first:  # is as good as new
        assert first.healthy()
    for thread in threads:
        thread.join(PATIENCE)
