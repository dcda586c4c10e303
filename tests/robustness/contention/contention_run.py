"""Clients that contend for a long time, and nobody dies: contention_run.py WORKER --seconds N --directory D.

Three servers with the limits that users have, four clients in processes of their own, a few monitors; leaders are
elected in between, and all servers are restarted in the end. What is wrong goes to the standard error, the counts to
the standard output, one line of JSON. Exit 1 if anything is wrong. README.md says what is judged.
"""

import argparse
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from contention_verdict import Verdict

sys.path.append(str(Path(__file__).resolve().parents[2] / "integration/cli"))
from support import wait_until  # noqa: E402
from zookeepers import ZooKeepers  # noqa: E402

CLIENTS = 4
SESSION_TIMEOUT_MS = 15000  # an election must not end it
LONGEST_BETWEEN_ELECTIONS = 300
SAMPLES_WANTED = 60
# How long foreground work alone presses on a monitor, so that background work is served only as it ages.
BACKGROUND_MAX_WAIT_MS = 1000
SHORTEST_CROWD = 12
ANSWER_PATIENCE = 60
PROBE_PATIENCE = 60
END_PATIENCE = 30
SETTLING = 2  # watches that are taken back are gone soon after


class Client:
    """A contention_worker, and what it says of itself; its standard error goes to the file."""

    def __init__(self, worker, settings, log):
        self.process = subprocess.Popen([worker, *settings], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)

    def tell(self, order):
        with contextlib.suppress(BrokenPipeError):  # an end shows in the answer
            self.process.stdin.write(order.encode() + b"\n")
            self.process.stdin.flush()

    def answer(self):
        """Its state; nothing if it has ended or takes too long."""
        if not select.select([self.process.stdout], [], [], ANSWER_PATIENCE)[0]:
            return None
        words = self.process.stdout.readline().split()
        return {key: int(value) for key, value in (word.decode().split("=") for word in words)} or None

    def use(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            resident = next((line.split()[1] for line in status if line.startswith("VmRSS:")), None)
        if resident is None:
            raise RuntimeError("a client has ended")
        return {"memory_kib": int(resident), "descriptors": len(os.listdir(f"/proc/{self.process.pid}/fd"))}

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(END_PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Contention(contextlib.ExitStack):
    def __init__(self, options):
        super().__init__()
        self.options = options
        self.length = options.seconds
        self.samples = []

    def begin(self):
        self.directory = self.enter_context(tempfile.TemporaryDirectory())
        self.push(self.keep_logs)
        self.servers = ZooKeepers(
            self, options=["tickTime=2000", "maxClientCnxns=60"],
            properties=["zookeeper.forceSync=yes", "znode.container.checkIntervalMs=60000"], first_sessions=False)
        self.clients = [Client(self.options.worker, [
            f"zookeeper.servers={self.servers.addresses()}/contention",
            f"zookeeper.session.timeout={SESSION_TIMEOUT_MS}",
            f"zookeeper.background.max.wait={BACKGROUND_MAX_WAIT_MS}",
            f"zookeeper.lock.watch={'predecessor' if i % 2 else 'parent'}"
        ], self.enter_context(open(self.options.directory / f"client-{i + 1}.log", "wb"))) for i in range(CLIENTS)]
        for client in self.clients:
            self.callback(client.end)
        self.sessions = [state and state["session"] for state in self.ask_all("state")]

    def keep_logs(self, failure, *_):
        """Of the servers, whose directories go."""
        if failure:
            for log in Path(self.directory).glob("zookeeper*/log"):
                shutil.copy(log, self.options.directory / f"{log.parent.name}.log")

    def addCleanup(self, function):  # noqa: N802 - as a test's, for the servers
        self.callback(function)

    def path(self, name):  # of what belongs to the servers
        return f"{self.directory}/{name}"

    def ask_all(self, order):
        """First they are told, so that they do it at the same time."""
        for client in self.clients:
            client.tell(order)
        return [client.answer() for client in self.clients]

    def run(self):
        self.begin()
        self.ask_all("work")
        self.contend()
        self.ask_all("rest")
        self.ask_all("crowd")
        threading.Event().wait(max(SHORTEST_CROWD, self.length / 20))
        end = self.rest()
        self.restart(end)
        return Verdict(self.samples, end)

    def contend(self):
        begun = time.monotonic()
        interval = max(self.length / SAMPLES_WANTED, 0.5)
        elections = self.length // LONGEST_BETWEEN_ELECTIONS + 1
        between = self.length / (elections + 1)
        events = sorted([(begun + i * between, self.elect) for i in range(1, elections + 1)] +
                        [(begun + i * interval, lambda: self.sample(time.monotonic() - begun))
                         for i in range(1, int(self.length / interval) + 1)], key=lambda event: event[0])
        for when, event in events:
            threading.Event().wait(max(0, when - time.monotonic()))
            event()

    def elect(self):
        """Every client that was connected there connects again."""
        servers = range(len(self.servers.hosts))
        leader = wait_until(lambda: [i for i in servers if self.servers.mode(i) == "leader"], "a leader is elected", 60)
        self.servers.restart(*leader)
        print("a leader was restarted", file=sys.stderr, flush=True)

    def watches_and_nodes(self):
        """All servers together; nothing while one does not serve."""
        counts = [dict(line.split("\t", 1) for line in self.servers.ask(i, b"mntr").splitlines() if "\t" in line)
                  for i in range(len(self.servers.hosts))]
        if not all("zk_watch_count" in each for each in counts):
            return None
        return sum(int(each["zk_watch_count"]) for each in counts), max(int(each["zk_znode_count"]) for each in counts)

    def sample(self, seconds):
        counted = self.watches_and_nodes()
        if not counted:
            return
        states = self.ask_all("state")
        if not all(states):
            raise RuntimeError("a client has ended")
        clients = [state | client.use() for state, client in zip(states, self.clients)]
        self.samples.append({"seconds": seconds, "watches": counted[0], "nodes": counted[1], "clients": clients})
        uses = " ".join("{sections},{requests},{memory_kib},{descriptors}".format(**each) for each in clients)
        print(f"{seconds:.0f} s: {counted[0]} watches, {counted[1]} nodes; by client: sections, requests, KiB, "
              f"descriptors: {uses}", file=sys.stderr, flush=True)

    def rest(self):
        states = self.ask_all("rest")
        threading.Event().wait(SETTLING)
        counted = self.watches_and_nodes()
        if not counted:
            raise RuntimeError("a server does not serve")
        nothing = dict.fromkeys(("contenders", "disconnections", "aged", "longest_wait_ms"), 0)
        clients = [{key: (state or nothing)[key] for key in nothing} for state in states]
        return {"idle_watches": counted[0], "idle_nodes": counted[1], "clients": clients}

    def restart(self, end):
        """What has piled up on the side of the clients shows now: they register all their watches anew."""
        self.servers.restart(*range(len(self.servers.hosts)))
        deadline = time.monotonic() + PROBE_PATIENCE
        while True:
            states = self.ask_all("probe")
            if all(state and state["probed"] for state in states) or time.monotonic() > deadline:
                break
        for client, state, session in zip(end["clients"], states, self.sessions):
            client["answered"] = state is not None
            client["locks_again"] = client["answered"] and state["probed"] == 1
            client["same_session"] = client["answered"] and state["session"] == session and state["expired"] == 0
            client["disconnections"] = state["disconnections"] - client["disconnections"] if state else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("worker", metavar="WORKER")
    parser.add_argument("--seconds", type=int, default=1800)
    parser.add_argument("--directory", type=Path, required=True)
    options = parser.parse_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    with Contention(options) as contention:
        verdict = contention.run()
    print(json.dumps(verdict.summary()))
    for violation in verdict.violations:
        print("violation:", violation, file=sys.stderr)
    return 1 if verdict.violations else 0


if __name__ == "__main__":
    sys.exit(main())
