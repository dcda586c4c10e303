#!/usr/bin/python3
"""A client of somebody else's that follows the lock's algorithm to the letter, over kazoo.

Acquire: create the monitor's persistent node if it does not exist; create a sequential ephemeral PREFIX- node below it
(if the monitor has vanished in between, begin again; with --keeps-monitor never: such a client has set the monitor's
data once);
list the children and sort them; whoever is first and finds no privateLock creates privateLock and holds; the others
watch the parent and look again. Release: delete the own node and privateLock, in either order.
"""

import argparse
import socket
import sys
import threading

from kazoo.client import KazooClient
from kazoo.exceptions import NodeExistsError, NoNodeError


class Resource:
    """Enters and leaves what the lock protects (tests/support/visit_server.h)."""

    def __init__(self, path, who):
        self.who = who
        self.connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.connection.connect(path)

    def ask(self, *words):
        self.connection.send(" ".join(str(word) for word in words).encode())
        return self.connection.recv(64).decode()

    def enter(self, *words):
        return self.ask("enter", self.who, *words)

    def leave(self):
        return self.ask("leave")


class LiteralLock:
    def __init__(self, client, monitor, prefix, keeps_monitor):
        self.client = client
        self.parent = "/" + monitor
        self.private_lock = self.parent + "/privateLock"
        self.prefix = prefix
        self.node = None
        self.keeps_monitor = keeps_monitor
        while keeps_monitor:
            try:
                self.make_monitor()
                self.client.set(self.parent, b"")
                return
            except NoNodeError:
                pass  # another client made it, and has just removed it

    def make_monitor(self):
        try:
            self.client.create(self.parent, b"")
        except NodeExistsError:
            pass

    def enqueue(self):
        while True:
            self.make_monitor()
            try:
                path = self.client.create(f"{self.parent}/{self.prefix}-", b"", ephemeral=True, sequence=True)
            except NoNodeError:
                if self.keeps_monitor:
                    raise
                continue
            self.node = path.rsplit("/", 1)[1]
            return

    def acquire(self, patience):
        """Returns the zxid of the grant."""
        self.enqueue()
        while True:
            changed = threading.Event()
            children = self.client.get_children(self.parent, watch=lambda event: changed.set())
            if sorted(children)[0] == self.node and "privateLock" not in children:
                try:
                    _, stat = self.client.create(self.private_lock, b"", ephemeral=True, include_data=True)
                    return stat.czxid
                except NodeExistsError:
                    pass
            if not changed.wait(patience):
                raise TimeoutError(f"no change for {patience} s; I am {self.node} of {sorted(children)}")

    def release(self, order):
        paths = [f"{self.parent}/{self.node}", self.private_lock]
        for path in paths if order == "node-first" else reversed(paths):
            self.client.delete(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--servers", required=True)
    parser.add_argument("--monitor", required=True)
    parser.add_argument("--resource", required=True)
    parser.add_argument("--prefix", default="A")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--hold-ms", type=float, default=0)
    parser.add_argument("--order", choices=["node-first", "lock-first"], default="node-first")
    parser.add_argument("--who", default="literal")
    parser.add_argument("--keeps-monitor", action="store_true")
    parser.add_argument("--begins-again", action="store_false", dest="keeps_monitor")
    parser.add_argument("--patience", type=float, default=100)
    options = parser.parse_args()

    client = KazooClient(hosts=options.servers, timeout=10)
    client.start()
    resource = Resource(options.resource, options.who)
    lock = LiteralLock(client, options.monitor, options.prefix, options.keeps_monitor)
    for _ in range(options.rounds):
        token = lock.acquire(options.patience)
        answer = resource.enter(token)
        if answer != "ok":
            print(f"the resource says {answer} to token {token}")
            return 1
        if options.hold_ms:
            threading.Event().wait(options.hold_ms / 1000)
        resource.leave()
        lock.release(options.order)
    client.stop()
    print(f"sections={options.rounds}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
