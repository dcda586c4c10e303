"""The cases that every language passes (docs/embedding.md), with the same codes."""

import json
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import LONG, PATIENCE, SHORT

import forelock
from forelock import BlockingLock, ErrorCode, LockState, LossReason, Priority


def in_thread(function):
    """Runs it in a thread; the result's get() returns what it returned or raised."""
    results = queue.SimpleQueue()

    def run():
        try:
            results.put(function())
        except forelock.Error as error:
            results.put(error)

    threading.Thread(target=run, daemon=True).start()
    return results


def signal_when_queued(lock):
    queued = threading.Event()
    lock.on_queued(lambda place: queued.set())
    return queued


def time_out_message(client, monitor):
    """Who holds it, what for, in which class, since when, and our place; the same on every thread."""
    return (rf'the lock on {monitor} was not obtained within \d+ ms; held by {client.status.instance}/\S+ for "case" '
            r"\(foreground\) since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z \(\d+\.\d s\)"
            r"(; we were first in the queue, behind the holder)?")


def hold(client, monitor="P1"):
    """A held lock, and where the reason of its loss appears."""
    lock = BlockingLock(client, monitor, lock_info="case")
    lost = queue.SimpleQueue()
    lock.on_lost(lost.put)
    lock.acquire(PATIENCE)
    return lock, lost


def test_blocking(client):
    lock = BlockingLock(client, "P1", lock_info="case")
    assert not lock.healthy()
    assert (lock.state, lock.expires_at, lock.expires_in) == (LockState.FREE, 0, 0)
    token = lock.acquire()
    assert lock.healthy()
    lock.check_health()
    assert token == lock.fencing_token > 0
    assert time.monotonic() < lock.expires_at < time.monotonic() + LONG / 1000
    assert 0 < lock.expires_in < LONG / 1000
    assert lock.state == LockState.HELD
    with pytest.raises(forelock.RequestRejectedException) as twice:
        lock.acquire()
    assert twice.value.code == ErrorCode.ALREADY_HELD
    lock.release()
    assert not lock.healthy()
    with pytest.raises(forelock.LockUnhealthyException) as unhealthy:
        lock.check_health()
    assert unhealthy.value.code == ErrorCode.LOCK_UNHEALTHY
    with pytest.raises(forelock.NoNodeException) as released:
        lock.release()
    assert released.value.code == ErrorCode.NOT_HELD
    assert lock.try_acquire()
    assert lock.fencing_token > token
    lock.close()


def test_debug_lines_tell_the_course_of_a_lock(open_client, caplog, monkeypatch):
    lines = queue.SimpleQueue()
    monkeypatch.setattr(caplog.handler, "emit", lambda record: lines.put((record.levelname, record.getMessage())))
    with caplog.at_level("DEBUG", logger="forelock"):
        lock = BlockingLock(open_client(), "P1")
        lock.acquire()
        while True:
            level, message = lines.get(timeout=PATIENCE)
            if level == "DEBUG" and "is granted the lock" in message:
                break
        lock.release()


@pytest.mark.parametrize("in_main_thread", [True, False])
def test_timed_out(open_client, in_main_thread):
    client = open_client(zookeeper_foregound_task_timeout=300)
    holder, _ = hold(client)
    waiter = BlockingLock(client, "P1")
    if in_main_thread:
        with pytest.raises(forelock.InstanceLockException) as refused:
            waiter.acquire()
        error = refused.value
    else:
        error = in_thread(waiter.acquire).get(timeout=PATIENCE)
    assert isinstance(error, forelock.InstanceLockException)
    assert (error.code, str(error.code), error.monitor) == (ErrorCode.LOCK_TIMEOUT, "lock_timeout", "P1")
    assert error.retryable
    assert re.fullmatch(time_out_message(client, "P1"), str(error)), str(error)
    assert "held by" in str(error)
    assert error.hint
    assert not waiter.try_acquire()
    with pytest.raises(forelock.InstanceLockException):
        waiter.acquire(timeout=0.01)
    with pytest.raises(forelock.InstanceLockException) as caught:
        waiter.acquire(timeout=0)
    assert caught.value.code == ErrorCode.LOCK_UNAVAILABLE
    holder.release()
    waiter.acquire(timeout=0)
    waiter.release()


def test_cancelled(client):
    holder, _ = hold(client)
    for end in (BlockingLock.cancel, BlockingLock.close):
        waiter = BlockingLock(client, "P1")
        queued = signal_when_queued(waiter)
        result = in_thread(lambda lock=waiter: lock.acquire(PATIENCE))
        assert queued.wait(PATIENCE)
        end(waiter)
        error = result.get(timeout=PATIENCE)
        assert isinstance(error, forelock.InstanceLockException)
        assert error.code == ErrorCode.CANCELLED and not error.retryable
    holder.release()


def test_foreground_first(client):
    holder, _ = hold(client)
    order = queue.SimpleQueue()
    results = []
    for priority in ("background", Priority.FOREGROUND):
        lock = BlockingLock(client, "P1", priority=priority, timeout=PATIENCE)
        queued = signal_when_queued(lock)

        def work(lock=lock):
            with lock:
                order.put(lock.priority)

        results.append(in_thread(work))
        assert queued.wait(PATIENCE)
    seen = forelock.Inspector(client).show("P1")
    assert seen.holder.owner.lock_info == "case" and seen.holder.token == holder.fencing_token
    assert (seen.waiting, seen.waiting_foreground, seen.waiting_background) == (2, 1, 1)
    assert [waiter.priority for waiter in seen.line] == [Priority.FOREGROUND, Priority.BACKGROUND]
    assert [waiter.position for waiter in seen.line] == [1, 2]
    assert [monitor.monitor for monitor in forelock.Inspector(client).list()] == ["P1"]
    holder.release()
    assert order.get(timeout=PATIENCE) == Priority.FOREGROUND
    assert order.get(timeout=PATIENCE) == Priority.BACKGROUND
    for result in results:
        assert result.get(timeout=PATIENCE) is None
    assert forelock.Inspector(client).show("nothing") is None


def wait_until_waiting(client, foreground, background):
    seen = None
    while seen is None or (seen.waiting_foreground, seen.waiting_background) != (foreground, background):
        seen = forelock.Inspector(client).show("P1")
    return seen


def test_priority_set(client):
    holder, _ = hold(client)
    assert not holder.set_priority("background")
    assert holder.priority == Priority.FOREGROUND
    order = queue.SimpleQueue()
    results = []
    places = {}
    waiters = [BlockingLock(client, "P1", lock_info="bulk", priority="background", timeout=PATIENCE),
               BlockingLock(client, "P1", lock_info="moved", priority="background", timeout=PATIENCE),
               forelock.LockSet(client, ["P1"], lock_info="set", priority="background", timeout=PATIENCE)]
    for place, waiter in enumerate(waiters, 1):
        def work(waiter=waiter):
            with waiter:
                order.put(waiter.lock_info)

        results.append(in_thread(work))
        wait_until_waiting(client, 0, place)
    with pytest.raises(forelock.RequestRejectedException):
        waiters[1].set_priority("urgent")
    for place, moved in enumerate(waiters[1:], 1):
        assert moved.set_priority(Priority.FOREGROUND)
        assert moved.priority == Priority.FOREGROUND
        seen = wait_until_waiting(client, place, 3 - place)
    assert [waiter.owner.lock_info for waiter in seen.line] == ["moved", "set", "bulk"]
    holder.release()
    assert [order.get(timeout=PATIENCE) for _ in waiters] == ["moved", "set", "bulk"]
    for result in results:
        assert result.get(timeout=PATIENCE) is None


def test_queue_max(client):
    holder, _ = hold(client)
    waiting = BlockingLock(client, "P1", timeout=PATIENCE, queue_max=0, refuse_in_vain=False)
    waited = in_thread(waiting.acquire)
    wait_until_waiting(client, 1, 0)
    for refused in (BlockingLock(client, "P1", timeout=PATIENCE, queue_max=1),
                    forelock.LockSet(client, ["P1"], timeout=PATIENCE, queue_max=1, refuse_in_vain=True)):
        with pytest.raises(forelock.InstanceLockException) as error:
            refused.acquire()
        assert error.value.code == ErrorCode.LOCK_REFUSED
    with pytest.raises(forelock.RequestRejectedException):
        BlockingLock(client, "P1", queue_max=-2)
    holder.release()
    assert waited.get(timeout=PATIENCE) is not None


def test_lock_inside(client):
    holder, _ = hold(client)
    outer = BlockingLock(client, "P1+", lock_info="bulk", priority="background", timeout=PATIENCE)
    outer.acquire()
    order = queue.SimpleQueue()
    results = []

    def waits(waiter, foreground, background):
        def work():
            with waiter:
                order.put(waiter.lock_info)

        results.append(in_thread(work))
        wait_until_waiting(client, foreground, background)

    waits(BlockingLock(client, "P1", lock_info="bulk", priority="background", timeout=PATIENCE), 0, 1)
    inner = forelock.LockSet(client, ["P1"], lock_info="inner", priority="background", timeout=PATIENCE)
    inner.inside(outer)
    waits(inner, 0, 2)
    save = BlockingLock(client, "P1+", lock_info="save", timeout=PATIENCE)
    saved = in_thread(save.acquire)
    first = None
    while first != "inner":
        first = forelock.Inspector(client).show("P1").line[0].owner.lock_info
    waits(BlockingLock(client, "P1", lock_info="later", timeout=PATIENCE), 1, 2)
    holder.release()
    assert [order.get(timeout=PATIENCE) for _ in results] == ["inner", "later", "bulk"]
    outer.release()
    assert saved.get(timeout=PATIENCE) is not None
    for result in results:
        assert result.get(timeout=PATIENCE) is None
    outer.inside(save)
    outer.inside(inner)


def check_lost(lock, lost, reason):
    assert lost.get(timeout=PATIENCE) == reason
    assert not lock.healthy()
    assert lock.expires_in == 0
    assert lock.state == LockState.LOST
    with pytest.raises(forelock.LockUnhealthyException):
        lock.check_health()


def test_lost_by_a_stall(open_client, host):
    lock, lost = hold(open_client(zookeeper_session_timeout=SHORT))
    host.command("stall")
    try:
        check_lost(lock, lost, LossReason.DEADLINE_PASSED)
    finally:
        host.command("flow")
    with pytest.raises(forelock.NoNodeException) as error:
        lock.release()
    assert error.value.code == ErrorCode.NO_NODE


def test_lost_by_a_stop_of_the_process(client, servers):
    stopped = subprocess.Popen([sys.executable, str(Path(__file__).parent / "holder.py"), servers, "P1", str(SHORT)],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        token = json.loads(stopped.stdout.readline())["token"]
        stopped.send_signal(signal.SIGSTOP)
        with forelock.lock(client, "P1", timeout=PATIENCE) as next_holder:
            assert next_holder.fencing_token > token
            stopped.send_signal(signal.SIGCONT)
            answer, _ = stopped.communicate("how are you?\n", timeout=PATIENCE)
            assert next_holder.healthy()
    finally:
        stopped.kill()
        stopped.wait()
    assert json.loads(answer) == {"healthy": False, "expires_in": 0.0, "lost": "DEADLINE_PASSED", "release": "no_node"}


def test_removed(client):
    lock, lost = hold(client)
    inspector = forelock.Inspector(client)
    assert inspector.force_release("P1", "A-0000009999") == forelock.ForceRelease.HOLDER_CHANGED
    assert inspector.force_release("nothing", "A-0000009999") == forelock.ForceRelease.NO_SUCH_MONITOR
    assert inspector.force_release("P1", inspector.show("P1").holder.node) == forelock.ForceRelease.RELEASED
    check_lost(lock, lost, LossReason.REMOVED)
    with pytest.raises(forelock.NoNodeException) as error:
        lock.release()
    assert error.value.code == ErrorCode.NO_NODE


def test_danger_is_announced_before_the_loss(open_client, host):
    lock = BlockingLock(open_client(zookeeper_session_timeout=SHORT), "P1")
    told = queue.SimpleQueue()
    lock.on_danger(1, lambda: told.put(lock.expires_in))
    lock.on_lost(told.put)
    lock.acquire()
    host.command("stall")
    try:
        assert 0 < told.get(timeout=PATIENCE) <= 1
        assert told.get(timeout=PATIENCE) == LossReason.DEADLINE_PASSED
    finally:
        host.command("flow")


def test_expired(client, host):
    lock, lost = hold(client)
    status = client.status
    assert status.connected and status.session_timeout * 1000 == LONG and status.granted == 1 and "/" in status.instance
    host.command(f"expire {status.session_id}")
    check_lost(lock, lost, LossReason.SESSION_EXPIRED)
    with pytest.raises(forelock.SessionExpiredException) as error:
        lock.release()
    assert error.value.code == ErrorCode.SESSION_EXPIRED
    lock.acquire(PATIENCE)  # in a new session
    assert lock.healthy()
    assert client.status.sessions_expired == 1


def test_closed(client):
    lock, lost = hold(client)
    waiter = BlockingLock(client, "P1", priority="background")
    queued = signal_when_queued(waiter)
    result = in_thread(lambda: waiter.acquire(PATIENCE))
    assert queued.wait(PATIENCE)
    client.close()
    error = result.get(timeout=PATIENCE)
    assert isinstance(error, forelock.RequestRejectedException) and error.code == ErrorCode.CLOSED
    assert lost.get(timeout=0) == LossReason.CLOSED  # close() has waited for it
    assert not lock.healthy()
    with pytest.raises(forelock.NoNodeException):
        lock.release()
    for call in (lock.acquire, waiter.acquire, lock.try_acquire, lambda: client.status):
        with pytest.raises(forelock.RequestRejectedException) as closed:
            call()
        assert closed.value.code == ErrorCode.CLOSED
    client.close()


def test_own_grant(open_client):
    client = open_client(zookeeper_lock_linger=60000)
    lock, _ = hold(client)
    token = lock.fencing_token
    assert lock.owner().linger == 60
    lock.release()
    assert forelock.Inspector(client).show("P1").holder.owner.linger == 60
    own = BlockingLock(client, "P1", may_linger=False)
    own.acquire(PATIENCE)
    assert own.fencing_token > token
    assert (own.owner().linger, own.owner().alert_at) == (None, None)
    own.release()
    lock_set = forelock.LockSet(client, ["P1", "P2"], may_linger=False)
    lock_set.acquire(PATIENCE)
    lock_set.release()
    assert (client.status.lingering, client.status.taken_again) == (0, 0)


def test_held_header(client):
    lock, several = BlockingLock(client, "Größe/1, 2=3%"), forelock.LockSet(client, ["P 2", "P1"])
    for never in (lock, several):
        with pytest.raises(forelock.Error) as caught:
            never.held_header  # noqa: B018
        assert caught.value.code == ErrorCode.INVALID_ARGUMENT
    with lock, several:
        assert lock.held_header == f"Gr%C3%B6%C3%9Fe%2F1%2C%202%3D3%25={lock.fencing_token}"
        assert several.held_header == ", ".join(
            f"{name}={several.fencing_tokens[monitor]}" for monitor, name in (("P 2", "P%202"), ("P1", "P1")))


def test_expected_wait(client):
    holder, _ = hold(client)
    line, places, tasks = [BlockingLock(client, "P1") for _ in range(20)], queue.SimpleQueue(), []
    for lock in line:
        lock.on_queued(places.put)

        def serve(lock=lock):
            lock.acquire(PATIENCE)
            lock.release()

        tasks.append(threading.Thread(target=serve))
        tasks[-1].start()
        place = places.get(timeout=PATIENCE)
        assert (place.place, place.expected_wait) == (len(tasks), None)
    holder.release()
    for task in tasks:
        task.join(PATIENCE)
    holder.acquire(PATIENCE)
    told = queue.SimpleQueue()
    lock = BlockingLock(client, "P1")
    lock.on_queued(told.put)
    task = threading.Thread(target=lambda: lock.acquire(PATIENCE))
    task.start()
    assert told.get(timeout=PATIENCE).expected_wait is not None  # less than half a millisecond is 0
    holder.release()
    task.join(PATIENCE)
    lock.release()


def test_holder_token(client, open_client):
    lock, _ = hold(client)
    reader = forelock.Inspector(open_client())
    assert reader.known_holder_token("P1", 60) is None
    assert reader.holder_token("P1", 60) == lock.fencing_token
    assert reader.known_holder_token("P1", 60) == lock.fencing_token
    assert reader.known_holder_token("P1", 0) is None
    lock.release()
    lock.acquire(PATIENCE)
    deadline = time.monotonic() + PATIENCE
    while reader.holder_token("P1", 60) != lock.fencing_token:
        assert time.monotonic() < deadline
    lock.release()


def test_identity(open_client, servers):
    identity = forelock.Inspector(open_client()).identity()
    assert identity
    assert forelock.Inspector(open_client()).identity() == identity
    with forelock.Client(zookeeper_servers=servers + "/other") as other:
        assert forelock.Inspector(other).identity() != identity


def test_guarded_write(client):
    lock, _ = hold(client)
    create = [forelock.CreateNode("/data", b"a"), forelock.SetNode("/data", b"bc", version=0)]
    assert lock.write_guarded(create)[1] == 1
    with pytest.raises(forelock.RequestRejectedException) as conflict:
        lock.write_guarded(create)
    assert conflict.value.code == ErrorCode.WRITE_CONFLICT
    assert lock.healthy()
    lock.write_guarded([forelock.CheckNode("/data", 1), forelock.DeleteNode("/data")])
    lock.alive(1)
    owner = lock.owner()
    assert (owner.expected_runtime, owner.priority, owner.lock_info) == (1.0, Priority.FOREGROUND, "case")
    assert owner.acquired_at <= owner.alert_at
    token = lock.fencing_token
    assert lock.step_aside(PATIENCE) >= token
    lock.release()
    for call in (lambda: lock.write_guarded(create), lambda: lock.step_aside(0), lambda: lock.alive(1)):
        with pytest.raises(forelock.LockUnhealthyException):
            call()


def test_stack(client, open_client):
    def save_content(lock):
        return lock.acquire()

    lock = BlockingLock(client, "P1")
    for one in (lock, forelock.LockSet(client, ["P1", "P2"])):
        save_content(one)
        first, second = forelock.Inspector(client).show("P1").holder.owner.stack.splitlines()[:2]
        assert "save_content" in first and f"{__file__}:" in first, "no frame of the package comes before"
        assert first.startswith("test_stack.") and second.startswith("test_stack (")
        one.release()
    results = in_thread(lambda: save_content(lock))
    results.get()
    assert "save_content" in lock.owner().stack.splitlines()[0]
    lock.release()
    assert lock.try_acquire() and lock.owner().stack.startswith("test_stack (")
    lock.release()
    with BlockingLock(client, "P1", capture_stack=False) as without:
        assert without.owner().stack == ""
    # Where locks linger, a record may be of a section that has ended.
    lingering = open_client(zookeeper_lock_linger=60000)
    with BlockingLock(lingering, "P3") as may_linger:
        assert may_linger.owner().stack == ""
    with BlockingLock(lingering, "P4", may_linger=False) as own:
        assert own.owner().stack.startswith("test_stack (")
    with BlockingLock(lingering, "P5", capture_stack=True) as wanted:
        assert wanted.owner().stack.startswith("test_stack (")
