"""Callbacks that take their time: they are named in the log, and nothing but other callbacks waits for them."""

import asyncio
import logging
import queue
import threading

from conftest import PATIENCE, SHORT

import forelock
from forelock import BlockingLock, _callbacks
from forelock._event import Event


def stay_in_a_callback(client, monitor):
    """Holds the monitor, and lets a waiter's callback run until the function that is returned is called."""
    leave, inside, left = threading.Event(), threading.Event(), queue.SimpleQueue()
    holder, waiter = BlockingLock(client, monitor), BlockingLock(client, monitor, timeout=PATIENCE)
    holder.acquire()
    waiter.on_queued(lambda place: (inside.set(), left.put(leave.wait(PATIENCE))))
    thread = threading.Thread(target=lambda: waiter.acquire() and waiter.release())
    thread.start()
    assert inside.wait(PATIENCE)

    def end():
        leave.set()
        assert left.get(timeout=PATIENCE), "it was left before"
        holder.release()
        thread.join(PATIENCE)

    return end


def test_a_slow_callback_is_named_while_it_runs(open_client, caplog, monkeypatch):
    lines = queue.SimpleQueue()
    monkeypatch.setattr(caplog.handler, "emit", lambda record: lines.put((record.levelname, record.getMessage())))
    client = open_client(zookeeper_session_timeout=SHORT)
    end = stay_in_a_callback(client, "P1")
    while "slow callback" not in (line := lines.get(timeout=PATIENCE))[1]:
        pass
    assert line[0] == "WARNING" and line[1].startswith("slow callback: on_queued of the lock on P1 has been running ")
    end()


def test_nothing_waits_for_a_callback_but_callbacks(client):
    end = stay_in_a_callback(client, "P1")

    async def main():
        async with forelock.aio.lock(client, "P2", timeout=PATIENCE):
            pass

    asyncio.run(main())
    with forelock.lock(client, "P2", timeout=PATIENCE):  # the main thread's
        pass
    end()


def test_events_for_which_there_is_no_room_are_dropped_and_told_once(caplog, monkeypatch):
    monkeypatch.setattr(_callbacks, "_ROOM", 2)
    callbacks, leave, seen = _callbacks.Callbacks(60_000), threading.Event(), queue.SimpleQueue()
    callbacks.start()
    callbacks.add(1, lambda event: (seen.put(event.value), leave.wait(PATIENCE)))
    with caplog.at_level(logging.WARNING, "forelock"):
        post = lambda value: callbacks.post(1, Event(0, 0, 0, value, False, "P1", "", "", ""))  # noqa: E731
        post(1)
        assert seen.get(timeout=PATIENCE) == 1
        for value in range(2, 6):
            post(value)
    leave.set()
    callbacks.end()
    callbacks.join()
    assert [seen.get(timeout=0), seen.get(timeout=0), seen.empty()] == [2, 3, True]
    assert [record.getMessage() for record in caplog.records] == ["events are dropped: a callback blocks"]
