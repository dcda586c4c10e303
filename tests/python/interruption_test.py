"""Ctrl-C on the main thread, at the worst moment: just when the library has done what it was called for."""

import math
import signal

import pytest
from conftest import PATIENCE

import forelock
from forelock import BlockingLock, LockSet, LockState


class InterruptedLibrary:
    """The library, whose acquisitions are followed by a Ctrl-C."""

    def __init__(self, library):
        self._library = library

    def __getattr__(self, name):
        real = getattr(self._library, name)
        if "_try" not in name and "_acquire" not in name:
            return real

        def call(*arguments):
            code = real(*arguments)
            signal.raise_signal(signal.SIGINT)
            return code

        return call


@pytest.mark.parametrize("lingers", [False, True])
@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("make", [
    lambda client: BlockingLock(client, "P1", timeout=PATIENCE),
    lambda client: LockSet(client, ["P1", "P2"], timeout=PATIENCE),
])
def test_nothing_stays_held_after_an_interruption(open_client, monkeypatch, make, once, lingers):
    client = open_client(zookeeper_lock_linger=60_000 if lingers else 0)
    lock = make(client)
    if lingers:
        with lock:
            pass  # from now on the library grants it in the call itself
    with monkeypatch.context() as patched:
        patched.setattr(forelock.blocking, "lib", InterruptedLibrary(forelock.blocking.lib))
        with pytest.raises(KeyboardInterrupt):
            lock.try_acquire() if once else lock.acquire()
    assert lock.state == LockState.FREE
    with lock:  # the object is as good as new
        assert lock.healthy()


def test_a_refusal_is_no_interruption(client):
    with BlockingLock(client, "P1") as holder:
        with pytest.raises(forelock.RequestRejectedException):
            holder.try_acquire()
        assert holder.healthy()
        assert not BlockingLock(client, "P1").try_acquire()
        assert not LockSet(client, ["P1", "P2"]).try_acquire()


def test_times_without_end_are_not_over_before_they_begin(servers):
    with forelock.Client(zookeeper_servers=servers) as client:
        client.wait_connected(math.inf)
        assert forelock.Inspector(client, timeout=math.inf).list() == []
        with BlockingLock(client, "P1", timeout=math.inf, expected_runtime=math.inf) as held:
            held.alive(math.inf)
            assert held.owner().alert_at > held.owner().acquired_at
