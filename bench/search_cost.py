#!/usr/bin/env python3
"""
What the plugins for OpenSearch and Elasticsearch cost on this machine, both engines in turns.

    bench/search_cost.py [--build FOLDER] [--engine NAME]... [--part NAME]... [--rounds N] [--seconds N]
                         [--opensearch V] [--elasticsearch V] [--heap SIZE] [--durability request|async]

About 22 minutes on two processors that do nothing else. The parts:

cost     Starts a ZooKeeper that waits for its disk, and of each engine a node without the plugin and one with it; then
         lets each load take its turn on all nodes, round by round, so that whatever else the machine does meets all of
         them: writes that are not guarded, guarded single writes, those under a lock that their client holds
         (X-Forelock-Held), bulks of 500 new documents with the monitors `document` and `bucket:64`. Prints the median
         of each load, and the median of its rounds' factors over the node without the plugin. One client; locks do not
         linger. An answer waits for the disk, as it does by default (--durability async: it does not).
eight    Eight people save one article with refresh=wait_for, guarded and at once; unguarded and one after the other.
contend  Two people save articles while four clients rewrite all 200 in bulks: without the plugin, unguarded, guarded
         with one priority, guarded with the bulks in the background. The p99 of the saves is to be one bulk that has
         its locks, and a hand-over.
shared   Eight people save articles that have nothing to do with each other: without the plugin, unguarded, with a lock
         for each, then with fewer and fewer buckets; beside it the chance that one of the seven others has the lock
         that a save needs, if all are always under way.
again    One client writes one article, and the same 500 in bulks, again and again: without the plugin, guarded, and on
         a node whose locks linger for a minute.
place    One client saves 100 articles again and again, on three nodes whose locks linger for 5 s: through the node of
         the primary, through another one, through any of them. What locks on the node of the primary could save at most
         is the difference between the last two.

FOLDER is a build with the plugins' native library, the command and the test support (default: build/ci).
"""

import argparse
import contextlib
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts" / "opensearch"))
from load import Node, bulk_body, contend, failures_of  # noqa: E402

# Of each load its name, its index, how many documents a request has, whether its client holds the lock, and the aim.
LOADS = [("single, not guarded", "off", 1, False, 1.02), ("single, guarded", "document", 1, False, 1.2),
         ("single, X-Forelock-Held", "document", 1, True, 1.1), ("bulk of 500, not guarded", "off", 500, False, 1.02),
         ("bulk of 500, bucket:64", "bucket:64", 500, False, 1.15),
         ("bulk of 500, document", "document", 500, False, 2)]
AGAIN = [("one article again", "document", 1, False, None), ("the same 500 again", "document", 500, False, None)]
PARTS = ["cost", "eight", "contend", "shared", "again", "place"]
# What the nodes of an engine have that are compared.
KINDS = {"plain": ["--plain"], "ours": [], "lingers": ["--set", "forelock.zookeeper.lock.linger=60000"]}
PLACED = 100
PEOPLE = 8
HELD = "held"  # the document that is written under a lock of its client


class Zookeeper:
    """It waits for its disk."""

    def __init__(self, build):
        self.child = subprocess.Popen([build / "tests" / "support" / "forelock_server_host", "disk"],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.address = self.child.stdout.readline().strip()

    def close(self):
        self.child.stdin.close()
        self.child.wait(30)


@contextlib.contextmanager
def lock(build, zookeeper, monitor):
    """What the header says of a lock that is held meanwhile."""
    child = subprocess.Popen([build / "bin" / "forelock", "--zookeeper", zookeeper, "run", "-m", monitor, "--", "sh",
                              "-c", 'echo "$FORELOCK_HELD"; read forever'],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield child.stdout.readline().strip()
    finally:
        child.communicate("\n", timeout=30)


class Client(Node):
    """One client of a node; its indices are named as the monitor rule that they have."""

    def make(self, rule, durability="request"):
        index = self.index(rule)
        self.request("DELETE", "/" + index)
        lines = [f'"index.number_of_shards": 1, "index.number_of_replicas": 0, '
                 f'"index.translog.durability": "{durability}"']
        if self.has_plugin:
            lines.append(f'"index.forelock.enabled": {"false" if rule == "off" else "true"}')
            if rule != "off":
                lines.append(f'"index.forelock.monitor": "{rule}"')
        status, answer = self.request("PUT", "/" + index, '{"settings": {' + ", ".join(lines) + "}}")
        if status != 200:
            sys.exit(f"the index cannot be made: {answer}")

    @staticmethod
    def index(rule):
        return rule.replace(":", "-")

    def write(self, rule, size, first, held):
        index = self.index(rule)
        if size > 1:
            return self.request("POST", f"/{index}/_bulk", bulk_body(range(first, first + size), 1))
        document = HELD if held is not None else first
        headers = {"X-Forelock-Held": held} if held else {}
        return self.request("PUT", f"/{index}/_doc/{document}", '{"n": 1}', headers=headers)

    def request(self, method, path, body=None, priority=None, headers=None):
        if not headers:
            return super().request(method, path, body, priority)
        connection = self.local.connection
        connection.request(method, path, body, {"Content-Type": "application/json", **headers})
        response = connection.getresponse()
        return response.status, json.loads(response.read())


def one_turn(client, load, seconds, held, numbers):
    """The median of a turn, in ms."""
    _, rule, size, _, _ = load
    took = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        first = next(numbers) * size
        begun = time.monotonic()
        status, answer = client.write(rule, size, first, held)
        took.append(1000 * (time.monotonic() - begun))
        failed = failures_of(status, answer)
        if failed:
            sys.exit(f"{load[0]}: {failed[0]}")
    return statistics.median(took)


def measure(engine, nodes, build, zookeeper, load, seconds, results, numbers, keep):
    plain, ours = nodes
    _, rule, _, is_held, _ = load
    with contextlib.ExitStack() as stack:
        held = stack.enter_context(lock(build, zookeeper, f"{Client.index(rule)}/{HELD}")) if is_held else None
        turns = [(plain, "" if is_held else None), (ours, held)]
        medians = [one_turn(client, load, seconds, lock_held, numbers) for client, lock_held in turns]
    if keep:
        results.setdefault((load[0], engine), []).append(medians)


def save_and_see(client, rule, number):
    path = f"/{client.index(rule)}/_doc/seen?refresh=wait_for"
    status, answer = client.request("PUT", path, json.dumps({"n": number}))
    if status not in (200, 201):
        sys.exit(f"a save fails: {answer}")


def eight(engine, client, rounds):
    """Seconds: one after the other and unguarded, at once and guarded."""
    took = []
    for rule in ("off", "document"):
        client.make(rule)
    for number in range(rounds):
        begun = time.monotonic()
        for n in range(PEOPLE):
            save_and_see(client, "off", n)
        middle = time.monotonic()
        people = [threading.Thread(target=save_and_see, args=(client, "document", number)) for _ in range(PEOPLE)]
        for one in people:
            one.start()
        for one in people:
            one.join()
        took.append((middle - begun, time.monotonic() - middle))
    in_turn, together = (statistics.median(one[i] for one in took) for i in (0, 1))
    print(f"{engine:>15}: {PEOPLE} saves with refresh=wait_for: {in_turn:.2f} s one after the other and unguarded, "
          f"{together:.2f} s at once and guarded: {together / in_turn:.2f} x, aim 1.5", flush=True)


def save_new(client, rule, end, numbers, took):
    while time.monotonic() < end:
        begun = time.monotonic()
        status, answer = client.write(rule, 1, next(numbers), None)
        took.append(1000 * (time.monotonic() - begun))
        if status != 201:
            sys.exit(f"a save fails: {answer}")


def shared(engine, plain, ours, rounds, seconds):
    rules = ["document", "bucket:1024", "bucket:64", "bucket:8", "bucket:1"]
    ways = {"no plugin": (plain, "off"), "not guarded": (ours, "off"), **{rule: (ours, rule) for rule in rules}}
    numbers, took = itertools.count(), {way: [] for way in ways}
    for client, rule in ways.values():
        client.make(rule)
    for number in range(-1, rounds):  # the first one warms up
        for way, (client, rule) in ways.items():
            mine = []
            arguments = (client, rule, time.monotonic() + seconds, numbers, mine)
            people = [threading.Thread(target=save_new, args=arguments) for _ in range(PEOPLE)]
            for one in people:
                one.start()
            for one in people:
                one.join()
            if number >= 0:
                took[way] += mine
    print(f"\n{engine:15} {PEOPLE} people save unrelated articles, {rounds} rounds of {seconds:g} s\n"
          f"{'':15}{'chance':>8}{'saves/s':>9}{'p50 ms':>8}{'p99 ms':>8}")
    for way, values in took.items():
        buckets = int(way.partition(":")[2] or 0)
        chance = 1 - (1 - 1 / buckets) ** (PEOPLE - 1) if buckets else 0
        hundredths = statistics.quantiles(values, n=100)
        print(f"{way:15}{chance:8.3f}{len(values) / rounds / seconds:9.0f}{hundredths[49]:8.2f}{hundredths[98]:8.2f}",
              flush=True)


def again(engine, nodes, durability, rounds, seconds):
    for client in nodes:
        client.make("document", durability)
    print(f"\n{engine:15} p50 in ms{'no plugin':>12}{'guarded':>9}{'x':>7}{'lingers':>9}{'x':>7}")
    for load in AGAIN:
        took = [[one_turn(client, load, seconds, None, itertools.repeat(0)) for client in nodes]
                for _ in range(-1, rounds)][1:]  # the first one warms up
        plain, guarded, lingers = (statistics.median(one) for one in zip(*took))
        factors = [statistics.median(one[n] / one[0] for one in took) for n in (1, 2)]
        print(f"{load[0]:25}{plain:12.2f}{guarded:9.2f}{factors[0]:7.2f}{lingers:9.2f}{factors[1]:7.2f}", flush=True)


def place(engine, version, folder, options, rounds, seconds, stack):
    script = str(ROOT / "scripts" / f"{engine}.sh")
    directory = ["--dir", str(folder / f"{engine}-three"), "--version", version]
    stack.callback(subprocess.run, [script, "stop", *directory], check=False)
    lingers = ["--set", "forelock.zookeeper.lock.linger=5000"]
    command = [script, "start", *directory, *options, *lingers, "--nodes", "3"]
    started = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    nodes = [Client(url) for url in started.stdout.split()]
    settings = {"index.number_of_shards": 1, "index.number_of_replicas": 0, "index.translog.durability": "async",
                "index.forelock.enabled": True, "index.routing.allocation.require._name": "node1"}
    status, answer = nodes[0].request("PUT", "/placed", json.dumps({"settings": settings}))
    if status != 200:
        sys.exit(f"the index cannot be made: {answer}")
    choice = random.Random(1)
    ways = {"the primary's node": nodes[:1], "another one": nodes[1:2], "any": nodes}
    took = {way: [] for way in ways}
    for number in range(-1, rounds):
        for way, among in ways.items():
            mine = []
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                begun = time.monotonic()
                path = f"/placed/_doc/{choice.randrange(PLACED)}"
                status, answer = choice.choice(among).request("PUT", path, '{"n": 1}')
                mine.append(1000 * (time.monotonic() - begun))
                if status not in (200, 201):
                    sys.exit(f"a save fails: {answer}")
            if number >= 0:
                took[way].append(statistics.median(mine))
    print(f"{engine:>15}: a save of an article again, locks linger, p50 in ms through "
          + ", ".join(f"{way}: {statistics.median(one):.2f}" for way, one in took.items()), flush=True)


def start(engine, version, folder, options, kinds, stack):
    """A client for a node of each kind."""
    script = str(ROOT / "scripts" / f"{engine}.sh")
    urls = []
    for name in kinds:
        place = ["--dir", str(folder / f"{engine}-{name}"), "--version", version]
        stack.callback(subprocess.run, [script, "stop", *place], check=False)
        command = [script, "start", *place, *options, *KINDS[name]]
        started = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        urls.append(started.stdout.split()[0])
    return [Client(url) for url in urls]


def cost(nodes, build, zookeeper, options):
    results, numbers = {}, itertools.count()
    for number in range(-1, options.rounds):  # the first one warms up
        for load in LOADS:
            for engine in nodes if number % 2 else reversed(list(nodes)):
                for client in nodes[engine]:
                    if number == -1:
                        client.make(load[1], options.durability)
                measure(engine, nodes[engine], build, zookeeper, load, options.seconds, results, numbers, number >= 0)
    print(f"medians of {options.rounds} rounds of {options.seconds:g} s; x: the median of each round's own factor\n")
    print(f"{'':26}{'':>15}{'no plugin, ms':>15}{'plugin, ms':>12}{'x':>7}{'aim':>7}")
    for (name, engine), rounds in results.items():
        aim = next(load[4] for load in LOADS if load[0] == name)
        print(f"{name:26}{engine:>15}{statistics.median(plain for plain, _ in rounds):15.2f}"
              f"{statistics.median(ours for _, ours in rounds):12.2f}"
              f"{statistics.median(ours / plain for plain, ours in rounds):7.2f}{aim:7}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "ci")
    parser.add_argument("--engine", action="append", choices=["opensearch", "elasticsearch"])
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--opensearch", default="2.19.1")
    parser.add_argument("--elasticsearch", default="8.19.0")
    parser.add_argument("--heap", default="512m")
    parser.add_argument("--durability", default="request", choices=["request", "async"])
    options = parser.parse_args()
    build = options.build.resolve()
    parts = options.part or PARTS
    began = time.monotonic()
    print(f"load average before: {os.getloadavg()[0]:.1f}, on {os.cpu_count()} processors", flush=True)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="forelock-cost-")))
        folder.chmod(0o755)
        zookeeper = Zookeeper(build)
        stack.callback(zookeeper.close)
        common = ["--from", str(build), "--heap", options.heap, "--zookeeper", zookeeper.address]
        kinds = ["plain", "ours", "lingers"] if "again" in parts else ["plain", "ours"]
        nodes = {engine: start(engine, getattr(options, engine), folder, common, kinds, stack)
                 for engine in options.engine or ["opensearch", "elasticsearch"] if parts != ["place"]}
        if "cost" in parts:
            cost({engine: pair[:2] for engine, pair in nodes.items()}, build, zookeeper.address, options)
        for engine in nodes if "eight" in parts else ():
            eight(engine, nodes[engine][1], min(options.rounds, 3))
        for engine in nodes if "contend" in parts else ():
            print(f"\n{engine}:", flush=True)
            plain, ours = (Node(client.url.geturl()) for client in nodes[engine][:2])
            contend(ours, plain, 2 * options.seconds, 2, False)
        for engine in nodes if "shared" in parts else ():
            shared(engine, *nodes[engine][:2], options.rounds, options.seconds)
        for engine in nodes if "again" in parts else ():
            again(engine, nodes[engine], options.durability, options.rounds, options.seconds)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="forelock-cost-")))
        folder.chmod(0o755)
        zookeeper = Zookeeper(build)
        stack.callback(zookeeper.close)
        common = ["--from", str(build), "--heap", "256m", "--zookeeper", zookeeper.address]
        for engine in (options.engine or ["opensearch", "elasticsearch"]) if "place" in parts else ():
            place(engine, getattr(options, engine), folder, common, min(options.rounds, 3), options.seconds, stack)
    print(f"\n{time.monotonic() - began:.0f} s; load average after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
