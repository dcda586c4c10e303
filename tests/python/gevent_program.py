"""A program of greenlets, which prints what they saw: gevent_program.py SERVERS OUTBOX."""

from gevent import monkey

monkey.patch_all()

import json  # noqa: E402
import sys  # noqa: E402
import threading  # noqa: E402

import gevent  # noqa: E402
import gevent.event  # noqa: E402

import forelock  # noqa: E402

PATIENCE = 60
GREENLETS = 30  # more than gevent's pool has native threads


def until(condition):
    """Lets the other greenlets go on until then."""
    while not condition():
        gevent.idle()


def waiters(client, monitor):
    return forelock.Inspector(client).show(monitor).waiting


def end_of(call):
    """How it ended: its result, or what it raised."""
    try:
        return call()
    except BaseException as error:
        return error


def save(client, saved, name):
    with forelock.lock(client, "P1", timeout=PATIENCE):
        gevent.idle()
        saved.append(name)


def many(client):
    """All wait at once; their holder is one of them."""
    saved = []
    with forelock.lock(client, "P1") as held:
        waiting = [gevent.spawn(save, client, saved, name) for name in range(GREENLETS)]
        until(lambda: waiters(client, "P1") == GREENLETS)
        assert held.healthy() and not saved
    gevent.joinall(waiting, raise_error=True)
    return len(saved)


def withdrawn(client):
    """A waiter whose greenlet is killed, one that gives up, and one whose time is over."""
    ends = []
    with forelock.lock(client, "P1"):
        for kill in (gevent.GreenletExit, gevent.Timeout):
            lock = forelock.BlockingLock(client, "P1", timeout=PATIENCE)
            queued = gevent.event.Event()
            lock.on_queued(lambda place, queued=queued: queued.set())
            waiter = gevent.spawn(end_of, lock.acquire)
            assert queued.wait(PATIENCE)
            waiter.kill(kill)
            ends += [type(waiter.value).__name__, lock.state.name]
        late = forelock.BlockingLock(client, "P1")
        waiter = gevent.spawn(end_of, lambda: late.acquire(0.05))
        turns = 0
        while not waiter.ready():
            turns += 1
            gevent.idle()
        return [*ends, turns > 1, str(waiter.value.code)]


def aside(client):
    """A holder that stands aside, and takes its set again; then one that is killed while it does."""
    bulk = forelock.LockSet(client, ["S1", "S2"], priority="background")
    urgent = forelock.BlockingLock(client, "S2")
    bulk.acquire()
    ends = []
    for end in ("released", "killed"):
        waiting = gevent.spawn(urgent.acquire, PATIENCE)
        until(lambda: waiters(client, "S2") == 1)
        stepping = gevent.spawn(end_of, lambda: bulk.step_aside(PATIENCE))
        waiting.get(timeout=PATIENCE)
        if end == "killed":
            stepping.kill()
        assert len(urgent.write_guarded([forelock.SetNode("/S2", end.encode())])) == 1
        urgent.release()
        stepping.join(PATIENCE)
        ends += [type(stepping.value).__name__, bulk.state.name]
    return ends


def operation(client, outbox):
    """Two at a time, each with an attempt that fails first."""
    def handler(attempt):
        gevent.idle()
        attempt.check_health()
        if attempt.number == 1:
            raise forelock.OperationFailure("busy", "later")

    with forelock.DeadLetterQueue(dlq_outbox_path=outbox) as letters:
        with forelock.OperationRunner(client, letters, backoff_initial=0.001) as runner:
            runs = [gevent.spawn(runner.run, forelock.Operation("save", f"O{i}"), handler) for i in range(2)]
            return [run.get(timeout=PATIENCE).end.name for run in runs]


def main():
    left_open = forelock.Client(zookeeper_servers=sys.argv[1])
    left_open.wait_connected(PATIENCE)
    with forelock.Client(zookeeper_servers=sys.argv[1]) as client:
        seen = {"many": many(client), "withdrawn": withdrawn(client), "aside": aside(client),
                "operation": operation(client, sys.argv[2]), "callbacks": []}
        held = forelock.BlockingLock(client, "C1")
        held.on_lost(lambda reason: seen["callbacks"].append((reason.name, threading.current_thread().name)))
        held.acquire()
    with forelock.lock(left_open, "C1", timeout=PATIENCE):
        seen["after"] = True
    forelock.BlockingLock(left_open, "P9").acquire()  # open, and held, at exit
    print(json.dumps(seen))


main()
