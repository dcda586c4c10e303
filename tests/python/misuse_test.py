"""What must not crash, hang or be silently wrong."""

import gc
import inspect
import logging
import os
import pickle
import queue
import random
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from datetime import timedelta
from decimal import Decimal

import pytest
from conftest import PATIENCE

import forelock
from forelock import BlockingLock, ErrorCode, Priority


def code_of(call):
    with pytest.raises(forelock.Error) as caught:
        call()
    return caught.value.code


def complaints(errors):
    """What the interpreter says; the library may have warned of a slow server."""
    return [line for line in errors.splitlines() if "Traceback" in line or "Exception" in line or "Warning:" in line]


def test_a_closed_lock(client):
    lock = BlockingLock(client, "P1")
    lock.acquire()
    lock.close()
    lock.close()
    assert not lock.healthy()
    assert lock.fencing_token == 0 and lock.expires_at == 0
    for call in (lock.acquire, lock.try_acquire, lock.release, lock.check_health, lock.owner, lock.cancel,
                 lambda: lock.on_lost(print), lambda: lock.alive(1), lambda: lock.write_guarded([]),
                 lambda: lock.state):
        assert code_of(call) == ErrorCode.INVALID_HANDLE
    assert BlockingLock(client, "P1").try_acquire() or forelock.Inspector(client).show("P1").holder is None


def test_arguments(client):
    for call in (
        lambda: BlockingLock(client, ""),
        lambda: BlockingLock(client, "P1\0P2"),
        lambda: BlockingLock(client, "\ud800"),
        lambda: BlockingLock(client, "x" * 256),
        lambda: BlockingLock(client, "P1", lock_info="a\0b"),
        lambda: BlockingLock(client, "P1", priority="urgent"),
        lambda: BlockingLock(client, "P1", priority=7),
        lambda: BlockingLock(client, "P1", timeout=-1),
        lambda: BlockingLock(client, "P1").acquire(float("nan")),
        lambda: BlockingLock(client, "P1").on_danger(0, print),
        lambda: BlockingLock(client, "P1").on_danger(timedelta(hours=1), print),
        lambda: client.wait_connected(-1),
    ):
        assert code_of(call) == ErrorCode.INVALID_ARGUMENT
    with pytest.raises(TypeError):
        BlockingLock(client, b"P1")


@pytest.mark.parametrize("value", ["1", b"1", [1], 1j])
def test_durations_are_numbers_or_timedeltas(client, value):
    lock = BlockingLock(client, "P1")
    for name, call in (
        ("timeout", lambda: lock.acquire(value)),
        ("timeout", lambda: forelock.LockSet(client, ["P1", "P2"]).acquire(value)),
        ("timeout", lambda: BlockingLock(client, "P1", timeout=value)),
        ("timeout", lambda: client.wait_connected(value)),
        ("expected_runtime", lambda: BlockingLock(client, "P1", expected_runtime=value)),
        ("expected", lambda: lock.alive(value)),
        ("margin", lambda: lock.on_danger(value, print)),
    ):
        with pytest.raises(TypeError, match=f"^{name} is a {type(value).__name__}, not seconds or a timedelta$"):
            call()
    assert lock.acquire(Decimal("60")) > 0
    lock.release()


@pytest.mark.parametrize("value", [True, False])
def test_a_bool_is_no_time(client, value):
    lock = BlockingLock(client, "P1")
    with pytest.raises(TypeError, match="^timeout is a bool, not seconds or a timedelta: try_acquire"):
        lock.acquire(value)
    with pytest.raises(TypeError, match="^expected_runtime is a bool, not seconds or a timedelta$"):
        BlockingLock(client, "P1", expected_runtime=value)
    assert lock.state == forelock.LockState.FREE


def test_what_is_no_client_is_named(client):
    for call in (lambda: forelock.lock("P1", client), lambda: forelock.LockSet("P1", ["P1"]),
                 lambda: forelock.aio.Lock("P1", client), lambda: forelock.Inspector("P1"),
                 lambda: forelock.OperationRunner("P1", None)):
        with pytest.raises(TypeError, match="^client is a str, not a forelock.Client$"):
            call()


def test_every_argument_of_a_lock_is_explained():
    for made in (forelock.lock, forelock.aio.lock):
        arguments = set(inspect.signature(made).parameters) - {"client"}
        assert arguments and not [name for name in arguments if f"``{name}``" not in inspect.getdoc(made.__init__)]


def test_numbers_of_the_library_are_printed_by_name():
    for value, name in ((forelock.LossReason.SESSION_EXPIRED, "session_expired"), (forelock.LockState.HELD, "held"),
                        (Priority.FOREGROUND, "foreground"), (forelock.OperationEnd.DEAD_LETTERED, "dead_lettered"),
                        (forelock.ForceRelease.HOLDER_CHANGED, "holder_changed"),
                        (ErrorCode.LOCK_TIMEOUT, "lock_timeout")):
        assert (str(value), f"{value}", f"{value:d}", value == int(value)) == (name, name, str(int(value)), True)


def test_a_hint_is_in_the_stack_that_nothing_catches(client):
    with forelock.lock(client, "P1"), pytest.raises(forelock.InstanceLockException) as caught:
        BlockingLock(client, "P1").acquire(0)
    told = "".join(traceback.format_exception(caught.value))
    assert told.endswith(f"{caught.value}\nhint: {caught.value.hint}\n") and caught.value.hint
    copy = pickle.loads(pickle.dumps(caught.value))
    assert "".join(traceback.format_exception(copy)).count("hint: ") == 1


def test_settings(tmp_path):
    file = tmp_path / "forelock.properties"
    file.write_text("zookeeper.session.timeout=soon\nzookeeper.servrs=a\n", encoding="utf-8")
    with pytest.raises(forelock.ConfigurationException) as refused:
        forelock.Client(file)
    assert len(str(refused.value).splitlines()) == 2 and refused.value.code == ErrorCode.CONFIGURATION
    with pytest.raises(forelock.ConfigurationException, match="^set by the program: zookeper.servers: unknown key"):
        forelock.Client(zookeper_servers="a")
    assert code_of(lambda: forelock.Client(zookeeper_session_timout=1)) == ErrorCode.CONFIGURATION
    assert code_of(lambda: forelock.Client(tmp_path / "none.properties")) == ErrorCode.CONFIGURATION


def test_settings_come_from_a_file_a_dict_and_keywords(tmp_path, servers):
    file = tmp_path / "forelock.properties"
    file.write_text("zookeeper.servers=127.0.0.1:1\nzookeeper.session.timeout=1h\n", encoding="utf-8")
    with forelock.Client(file, {"zookeeper.servers": servers, "zookeeper.session.timeout": "10s"},
                         zookeeper_session_timeout=timedelta(seconds=6)) as client:
        client.wait_connected(PATIENCE)
        assert client.status.session_timeout == 6


def test_an_unreachable_server_is_named():
    with forelock.Client(zookeeper_servers="127.0.0.1:1") as client:
        with pytest.raises(forelock.ConnectionLossException) as lost:
            client.wait_connected(0.2)
        assert lost.value.code == ErrorCode.CONNECTION_LOSS and lost.value.retryable


def test_exceptions_travel_between_processes(client):
    with pytest.raises(forelock.InstanceLockException) as caught:
        with forelock.lock(client, "P1"), forelock.lock(client, "P1", timeout=0):
            pass
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is forelock.InstanceLockException
    assert (copy.code, copy.monitor, str(copy), copy.hint, copy.retryable) == (
        ErrorCode.LOCK_UNAVAILABLE, "P1", str(caught.value), caught.value.hint, True)


def test_the_blocks_own_exception_is_not_replaced(client):
    with pytest.raises(ZeroDivisionError):
        with forelock.lock(client, "P1") as held:
            held.release()
            raise ZeroDivisionError
    with pytest.raises(forelock.NoNodeException):
        with forelock.lock(client, "P1") as held:
            held.release()


def test_ctrl_c_withdraws_the_waiter(client):
    with forelock.lock(client, "P1"):
        waiter = BlockingLock(client, "P1", lock_info="interrupted")
        waiter.on_queued(lambda place: os.kill(os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            waiter.acquire(PATIENCE)
        assert waiter.state == forelock.LockState.FREE
    with waiter:
        assert waiter.healthy()


@pytest.mark.parametrize("raised", [ZeroDivisionError, SystemExit])
def test_what_a_callback_raises_is_logged_and_ends_nothing(client, caplog, raised):
    lost = queue.SimpleQueue()
    holder, waiter = BlockingLock(client, "P1"), BlockingLock(client, "P1")

    def fail(place):
        waiter.cancel()
        raise raised

    waiter.on_queued(fail)
    holder.on_lost(lost.put)
    holder.acquire()
    with caplog.at_level(logging.ERROR, "forelock"):
        assert code_of(lambda: waiter.acquire(PATIENCE)) == ErrorCode.CANCELLED
        client.close()
    assert lost.get(timeout=0) == forelock.LossReason.CLOSED
    assert any(record.exc_info and record.exc_info[0] is raised for record in caplog.records)


def test_what_runs_in_between_may_close_a_lock(client):
    closed = BlockingLock(client, "P2")
    closed.on_lost(print)

    class Interrupted(dict):
        def pop(self, *arguments):  # as a signal handler does, or the finalizer of what the collector finds
            closed.close()
            return super().pop(*arguments)

    client.core.dispatcher._completions = Interrupted()
    with forelock.lock(client, "P1"):
        pass
    assert code_of(closed.acquire) == ErrorCode.INVALID_HANDLE


def test_a_callback_may_close_the_client(client):
    holder, waiter = BlockingLock(client, "P1"), BlockingLock(client, "P1")
    waiter.on_queued(lambda place: client.close())
    holder.acquire()
    assert code_of(lambda: waiter.acquire(PATIENCE)) == ErrorCode.CLOSED
    assert not holder.healthy()


def test_what_is_forgotten_is_given_back_with_a_warning(client):
    lock = BlockingLock(client, "P1")
    lock.acquire()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        del lock
        gc.collect()
    assert any("neither released nor closed" in str(warning.message) for warning in warned)
    with forelock.lock(client, "P1", timeout=PATIENCE):
        pass


def test_an_open_client_is_closed_at_exit(client, servers):
    program = ("import sys, forelock\n"
               "client = forelock.Client(zookeeper_servers=sys.argv[1], zookeeper_session_timeout=60000)\n"
               "lock = forelock.BlockingLock(client, 'P1')\n"
               "print(lock.acquire(60))\n")
    ended = subprocess.run([sys.executable, "-c", program, servers], capture_output=True, text=True, timeout=PATIENCE,
                           check=True)
    assert not complaints(ended.stderr)
    with forelock.lock(client, "P1", timeout=10) as held:  # not only when the session has expired
        assert held.fencing_token > int(ended.stdout)


def test_after_a_fork_the_parents_locks_are_not_the_childs(client):
    lock = BlockingLock(client, "P1")
    lock.acquire()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            codes = []
            for call in (lock.acquire, lock.release, lock.check_health, lock.close, lambda: client.status,
                         client.close, lambda: BlockingLock(client, "P2")):
                try:
                    call()
                    codes.append("ok")
                except forelock.Error as error:
                    codes.append(str(error.code))
            os.write(writing, f"{lock.healthy()} {lock.expires_in} {' '.join(codes)}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        assert answer.read() == "False 0.0 forked forked forked ok forked ok forked"
    os.waitpid(child, 0)
    assert lock.healthy()
    lock.release()


def test_a_forked_child_that_ends_leaves_the_parents_session_alone(servers):
    program = """
import gc, os, sys, forelock
client = forelock.Client(zookeeper_servers=sys.argv[1], zookeeper_session_timeout=20000)
lock = forelock.BlockingLock(client, "P1", timeout=60)
lock.acquire()
if os.fork() == 0:
    with forelock.Client(zookeeper_servers=sys.argv[1]) as own:
        own_lock = forelock.BlockingLock(own, "P2", timeout=60)
        own_lock.acquire()
        own_lock.release()
    del lock, client
    gc.collect()
    sys.exit(7)
_, status = os.wait()
print(os.waitstatus_to_exitcode(status), lock.healthy())
lock.release()
"""
    ended = subprocess.run([sys.executable, "-c", program, servers], capture_output=True, text=True, timeout=PATIENCE,
                           check=False)
    assert (ended.stdout, complaints(ended.stderr), ended.returncode) == ("7 True\n", [], 0), ended.stderr


def test_threads_call_anything_at_any_time(client, open_client):
    """Whatever several threads do with the same objects: an exception of this package, or nothing."""
    seed = random.randrange(2**32)
    clients = [client, open_client()]
    locks = [BlockingLock(clients[i % 2], f"P{i % 3}", priority=Priority(i % 2)) for i in range(8)]
    problems = queue.SimpleQueue()

    def call(which):
        choice = random.Random(seed + which)
        for _ in range(150):
            lock = choice.choice(locks)
            try:
                choice.choice([
                    lambda: lock.acquire(0.01), lock.try_acquire, lock.release, lock.cancel, lock.release_detached,
                    lock.healthy, lock.owner, lambda: lock.state, lambda: lock.on_lost(lambda reason: None),
                    lambda: lock.write_guarded([forelock.CheckNode("/P1", -1)]), lambda: lock.step_aside(0.01),
                    lambda: client.status, lambda: choice.random() < 0.02 and lock.close(),
                ])()
            except forelock.Error as error:
                if error.code == ErrorCode.INTERNAL:
                    problems.put(error)
            except BaseException as error:
                problems.put(error)
                raise

    threads = [threading.Thread(target=call, args=(which,)) for which in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE * 2)
        assert not thread.is_alive(), f"seed {seed}"
    assert problems.empty(), f"seed {seed}: {problems.get()!r}"
    for one in clients:
        one.close()
