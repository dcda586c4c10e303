#!/usr/bin/python3
"""The literal client (tests/integration/literal_client.py) as a process of the robustness runs: it locks, visits the
resource, unlocks, and writes the history, whatever happens to it.

It knows no token and no deadline. What it does about faults is what a careful user of kazoo does: while the connection
is not there it does not trust its lock, and after any failure it gives its session up and begins anew. Like any worker
it ends its traffic at the first SIGTERM and itself at the second.
"""

import argparse
import json
import os
import random
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "integration"))
# pylint: disable=wrong-import-position
from kazoo.client import KazooClient, KazooState  # noqa: E402
from literal_client import LiteralLock, Resource  # noqa: E402

SESSION_TIMEOUT = 6.0
PATIENCE = 3.0


class History:
    """One line an event; see tests/robustness/README.md."""

    def __init__(self, directory, process):
        self.process = process
        path = os.path.join(directory, process + ".ndjson")
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)

    def event(self, name, **more):
        record = {"t": time.monotonic_ns(), "process": self.process, "kind": "literal", "event": name, **more}
        os.write(self.file, (json.dumps(record, separators=(",", ":")) + "\n").encode())


class Worker:
    """One session after the other, and in each of them one section after the other."""

    def __init__(self, options):
        self.options = options
        self.history = History(options.directory, options.process)
        self.resource = Resource(options.resource, options.process)
        self.random = random.Random(options.process)
        self.stopping = threading.Event()
        self.ending = threading.Event()
        self.calls = 0
        files = dict(each.split("=", 1) for each in options.setting)
        self.tls = {"use_ssl": True, "ca": files["zookeeper.tls.ca.file"],
                    "certfile": files["zookeeper.tls.certificate.file"],
                    "keyfile": files["zookeeper.tls.key.file"]} if "zookeeper.tls.ca.file" in files else {}

    def beat(self):
        while not self.ending.is_set():
            self.history.event("heartbeat")
            self.ending.wait(0.1)

    def run(self):
        self.history.event("started", session_timeout_ms=int(SESSION_TIMEOUT * 1000))
        threading.Thread(target=self.beat, daemon=True).start()
        while not self.stopping.is_set():
            self.use_session()
            self.stopping.wait(0.05)
        self.history.event("quiet", contenders=0)
        with open(os.path.join(self.options.directory, self.options.process + ".quiet"), "wb"):
            pass
        self.ending.wait()
        self.history.event("ended")

    def choose_monitor(self):
        visits = self.options.visited and self.random.random() < 0.2
        return self.random.choice(self.options.visited.split(",")) if visits else self.options.monitor

    def use_session(self):
        client = KazooClient(hosts=self.options.servers, timeout=SESSION_TIMEOUT, **self.tls)
        doubtful = threading.Event()
        client.add_listener(lambda state: doubtful.set() if state != KazooState.CONNECTED else None)
        try:
            client.start(timeout=SESSION_TIMEOUT)
            doubtful.clear()
            while not self.stopping.is_set() and not doubtful.is_set():
                monitor = self.choose_monitor()
                self.section(LiteralLock(client, monitor, self.options.prefix, False), monitor, doubtful)
        except Exception as problem:  # pylint: disable=broad-except
            # Whatever it was: with the session goes everything that may be left of it on the server.
            print(f"{time.monotonic_ns()} {type(problem).__name__}: {problem}", file=sys.stderr, flush=True)
        finally:
            client.stop()
            client.close()

    def section(self, lock, monitor, doubtful):
        self.calls += 1
        call = {"call": self.calls, "monitor": monitor,
                "priority": "foreground" if self.options.prefix == "A" else "background"}
        self.history.event("invoke", **call, mode="timeout")
        try:
            lock.acquire(PATIENCE)
        except Exception as problem:
            self.history.event("refused", **call, code=type(problem).__name__)
            raise
        self.history.event("granted", **call, token="0", node=lock.node)
        if not doubtful.is_set() and self.resource.enter(self.calls, monitor, 0) == "ok":
            doubtful.wait(self.random.choice([0, 0, 0, 0.002, 0.005]))
            self.resource.leave()
        if doubtful.is_set():
            self.history.event("unhealthy", **call)
            raise ConnectionError("the connection was lost while the lock was held")
        self.history.event("release", **call)
        try:
            # Its own node first: in another session that is gone, and the other's lock is left alone.
            lock.release("node-first")
        except Exception as problem:
            self.history.event("released", **call, code=type(problem).__name__)
            raise
        self.history.event("released", **call, code="")
        doubtful.wait(self.random.choice([0.005, 0.02, 0.05]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("process", "directory", "resource", "servers", "monitor", "prefix"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--visited", default="")  # monitors of others, used now and then
    parser.add_argument("--setting", action="append", default=[])  # of which "zookeeper.tls.…=FILE" counts
    worker = Worker(parser.parse_args())
    os.setpgrp()

    def on_sigterm(*_):
        (worker.ending if worker.stopping.is_set() else worker.stopping).set()

    signal.signal(signal.SIGTERM, on_sigterm)
    worker.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
