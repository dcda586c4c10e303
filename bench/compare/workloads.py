"""What is measured: one function for each group of workloads. Jobs: bench/compare/job.h and crowd.h."""

import contextlib
import json
import statistics
import subprocess
import sys

from crowds import waiters
from rounds import median_cycle, quantile, sections_per_second
from workers import stores as other_stores

MANY = (64, 1000)


class Bench:
    """The programs, the rounds, and which locks take part."""

    def __init__(self, programs, rounds, only):
        self.programs = programs
        self.rounds = rounds
        self.only = only
        self.server_version = ""

    def chosen(self, *kinds):
        peers = ("forelock-java", "curator", "go-zookeeper", "kazoo", "etcd", "redis")
        kinds = [kind for kind in kinds if self.programs.peers or kind not in peers]
        return [kind for kind in kinds if not self.only or kind in self.only]

    def of_zookeeper(self, *besides):
        return self.chosen("raw", *besides, "forelock", "forelock-c", "forelock-java", "curator",
                           "go-zookeeper", "kazoo")

    @contextlib.contextmanager
    def server(self, kinds, *options):
        """A server with a worker for each kind."""
        with self.programs.servers(*options) as server:
            self.server_version = server.hello["version"]
            address = server.hello["address"]
            with self.programs.workers({kind: address for kind in kinds}) as workers:
                yield server, workers


def cycles(bench, group, suffix, server, workers, trip_us=0, fresh=True):
    """Lock and unlock of a free monitor, by one thread."""
    rounds = bench.rounds
    seconds = rounds.seconds(0.3, counted=server is not None)
    name = rounds.fresh_name("same")
    rounds.measure(group, "same monitor" + suffix, "µs a cycle", workers,
                   lambda _: {"monitors": [name], "seconds": seconds}, median_cycle, server=server, trip_us=trip_us)
    if fresh:
        rounds.measure(group, "fresh monitors" + suffix, "µs a cycle", workers,
                       lambda name: {"monitors": [name], "seconds": seconds, "fresh": True}, median_cycle,
                       server=server, trip_us=trip_us)
        ours = {kind: workers[kind] for kind in ("raw", "forelock") if kind in workers}
        rounds.measure(group, "release not waited for" + suffix, "µs a cycle", ours,
                       lambda _: {"monitors": [name], "seconds": seconds, "release_async": True}, median_cycle,
                       server=server, trip_us=trip_us)


def uncontended(bench):
    with bench.server(bench.of_zookeeper("create-delete")) as (server, workers):
        cycles(bench, "uncontended", "", server, workers)


def contended(bench):
    """8 threads of one process, then 4 processes; the floor does the same sections without any waiting."""
    rounds = bench.rounds
    with bench.server(bench.of_zookeeper()) as (server, workers):
        name = rounds.fresh_name("shared")
        rounds.measure("contended", "8 threads, one monitor", "sections/s", workers,
                       lambda _: {"monitors": [name], "threads": 8, "seconds": rounds.seconds(0.5, counted=True)},
                       sections_per_second, "higher", server)
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(bench.programs.servers())
        kinds = bench.of_zookeeper() + bench.chosen("forelock-predecessor")
        address = server.hello["address"]
        teams = {kind: [stack.enter_context(bench.programs.worker(kind, address))
                        for _ in range(1 if kind == "raw" else 4)] for kind in kinds}
        rates, requests = [], []
        for number in range(-1, rounds.count):
            of_round, counted = {kind: 0.0 for kind in kinds}, {kind: 0.0 for kind in kinds}
            for kind, team in rounds.shuffled(teams.items()):
                job = {"monitors": [rounds.fresh_name("team")], "seconds": rounds.seconds(1.0)}
                before = server.answer({})
                for worker in team:
                    worker.ask(job)
                answers = [worker.read() for worker in team]
                sections = max(1, sum(answer["sections"] for answer in answers))
                of_round[kind] = sections / max(answer["seconds"] for answer in answers)
                counted[kind] = (server.answer({})["received"] - before["received"]) / sections
            if number >= 0:
                rates.append(of_round)
                requests.append(counted)
        rounds.record("contended", "4 processes, one monitor", "sections/s", rates, "higher")
        rounds.record("contended", "4 processes, one monitor: requests", "a section", requests, counted=True)


def independent(bench):
    rounds = bench.rounds
    for count in MANY:
        kinds = [kind for kind in bench.of_zookeeper("create-delete") if count == MANY[0] or kind != "kazoo"]
        with bench.server(kinds) as (server, workers):
            names = [rounds.fresh_name(f"many{count}-") for _ in range(count)]
            rounds.measure("independent", f"{count} monitors at once", "sections/s", workers,
                           lambda _: {"monitors": names, "threads": count, "async": True,
                                      "seconds": rounds.seconds(0.7)},
                           sections_per_second, "higher", server, warm=4)
        with bench.server(bench.chosen("create-delete", "forelock", "forelock-c")) as (server, workers):
            rounds.measure("independent", f"{count} fresh monitors at once", "sections/s", workers,
                           lambda name, count=count: {"monitors": [f"{name}-{i}" for i in range(count)],
                                                      "async": True, "fresh": True, "seconds": rounds.seconds(0.7)},
                           sections_per_second, "higher", server, warm=4)


def passing(bench, threads=16, pause_us=12600):
    """A minute in which some thousand documents a second are written that nobody writes again: what is left of them at
    the server after each quarter, and within a minute after the last."""
    if not bench.chosen("forelock"):
        return
    part = max(5.0, 15 * bench.rounds.scale)  # so that monitors of the first part have had the time to go
    with bench.server(["forelock"]) as (server, workers):
        before = server.answer({})["nodes"]
        nodes, sections = {}, 0
        for quarter in range(1, 5):
            answer = workers["forelock"].answer(
                {"monitors": [bench.rounds.fresh_name("passing")], "fresh": True, "threads": threads,
                 "pause_us": pause_us, "seconds": part})
            sections += answer["sections"]
            nodes[f"after {quarter * part:g} s"] = server.answer({})["nodes"] - before
        nodes["within another minute"] = server.answer({"nodes": before})["nodes"] - before
    bench.rounds.record("passing", f"{threads} threads, each document once: rate", "locks/s",
                        [{"forelock": sections / (4 * part)}], "higher")
    for when, count in nodes.items():
        bench.rounds.record("passing", f"nodes left, {when}", "nodes", [{"forelock": count}], counted=True)


def sets(bench, size=500):
    """The locks of many documents for one piece of work: as a set, with requests that do not wait for each other, and
    one after the other."""
    rounds = bench.rounds
    if not bench.chosen("forelock"):
        return
    sections = 3
    with bench.server(["forelock"]) as (server, workers):
        worker = workers["forelock"]
        for what, fresh in (("known", False), ("fresh", True)):
            times, requests = [], []
            name = rounds.fresh_name("set")
            for number in range(rounds.count + 1):
                of_round = {}, {}
                for way in rounds.shuffled(("one by one", "pipelined", "set")):
                    prefix = rounds.fresh_name("set") if fresh else name
                    before = server.answer({})
                    answer = worker.answer({"monitors": [f"{prefix}-{i}" for i in range(size)], "together": way,
                                            "sections": sections, "fresh": fresh})
                    after = server.answer({})
                    of_round[0][way] = median_cycle(answer) / 1000
                    of_round[1][way] = (after["received"] - before["received"]) / sections
                if number > 0:  # the first round makes known what is to be known
                    times.append(of_round[0])
                    requests.append(of_round[1])
            rounds.record("sets", f"{size} {what} documents", "ms", times)
            rounds.record("sets", f"{size} {what} documents: requests", "a section", requests, counted=True)
    overlapping(bench)


def overlapping(bench, among=1000):
    """Two processes that take sets of 100 out of 1,000 monitors, so that nearly each meets one of the other's. An ideal
    single queue would serve them without a gap: as fast as one process alone takes such sets."""
    rounds = bench.rounds
    with bench.server([]) as (server, _), contextlib.ExitStack() as stack:
        team = [stack.enter_context(bench.programs.worker("forelock", server.hello["address"])) for _ in range(2)]
        name = rounds.fresh_name("overlap")
        job = {"monitors": [f"{name}-{i}" for i in range(among)], "together": "tenth",
               "seconds": rounds.seconds(2.0)}
        rates, longest = [], []
        for number in range(rounds.count + 1):
            alone = sections_per_second(team[number % 2].answer(job))
            for worker in team:
                worker.ask(job)
            answers = [worker.read() for worker in team]
            if number > 0:
                both = sum(answer["sections"] for answer in answers) / max(answer["seconds"] for answer in answers)
                rates.append({"one process": alone, "two processes": both})
                longest.append({"two processes": max(max(answer["wait_us"]) for answer in answers) / 1000})
        rounds.record("sets", f"overlapping sets of {among // 10} out of {among}", "sections/s", rates, "higher")
        rounds.record("sets", f"overlapping sets of {among // 10} out of {among}: longest wait", "ms", longest)


def lingering(bench):
    """A lock that stays with its process between its sections."""
    rounds = bench.rounds
    with bench.server(bench.chosen("forelock", "forelock-linger")) as (_, workers):
        name = rounds.fresh_name("linger")
        rounds.measure("lingering", "same monitor, lock and unlock", "µs a cycle", workers,
                       lambda _: {"monitors": [name], "seconds": rounds.seconds(0.3)}, median_cycle)


def priority(bench, backlog=100, hold_ms=5):
    """Foreground arrivals behind queued background waiters that hold; the peers know no priority. Next to it, in the
    same round, what one hold and one hand-over take: two processes that hold by turns."""
    rounds = bench.rounds
    kinds = bench.chosen("forelock", "curator", "go-zookeeper")
    parts = {"median": [], "p99": []}
    longest = {"forelock": 5.0}
    with contextlib.ExitStack() as stack:
        address = stack.enter_context(bench.programs.servers()).hello["address"]
        pairs = {kind: [stack.enter_context(bench.programs.worker(kind, address)) for _ in range(2)] for kind in kinds}
        for _ in range(rounds.count):
            of_round = {part: {} for part in parts}
            for kind, (bulk, interactive) in pairs.items():
                if kind == "forelock":
                    turn = {"monitors": [rounds.fresh_name("turns")], "seconds": max(0.5, 1.0 * rounds.scale),
                            "hold_us": hold_ms * 1000, "priority": "background"}
                    bulk.ask(turn)
                    answers = [interactive.answer(turn), bulk.read()]
                    by_turns = 1000 * max(a["seconds"] for a in answers) / sum(a["sections"] for a in answers)
                    for part in parts:
                        of_round[part]["hold + hand-over"] = by_turns
                name = rounds.fresh_name("urgent")
                seconds = max(2.0, longest.get(kind, 4.0) * rounds.scale)
                bulk.ask({"monitors": [name], "threads": backlog, "seconds": seconds, "hold_us": hold_ms * 1000,
                          "priority": "background"})
                waits = interactive.answer({"monitors": [name], "seconds": seconds, "pause_us": 30000})["wait_us"]
                bulk.read()
                waits = [wait / 1000 for wait in waits] or [seconds * 1000]
                of_round["median"][kind] = statistics.median(waits)
                of_round["p99"][kind] = quantile(waits, 0.99)
            for part, values in of_round.items():
                parts[part].append(values)
    for part, values in parts.items():
        rounds.record("priority", f"foreground wait behind {backlog}, {part}", "ms", values)


def distance(bench):
    """Through proxies that delay every byte; the round trips are counted on the way."""
    rounds = bench.rounds
    for delay_us in (500, 5000):
        with bench.server(bench.of_zookeeper(), f"--delay-us={delay_us}") as (server, workers):
            suffix = f", {2 * delay_us / 1000:g} ms away"
            cycles(bench, "distance", suffix, server, workers, trip_us=2 * delay_us)
            name = rounds.fresh_name("shared")
            threads = {kind: worker for kind, worker in workers.items() if kind != "kazoo"}
            rounds.measure("distance", "8 threads, one monitor" + suffix, "sections/s", threads,
                           lambda _: {"monitors": [name], "threads": 8, "seconds": rounds.seconds(0.5, counted=True)},
                           sections_per_second, "higher", server, trip_us=2 * delay_us)


def ensemble(bench):
    """Three servers on this machine."""
    with bench.server(bench.of_zookeeper("create-delete"), "--servers=3") as (_, workers):
        cycles(bench, "ensemble", ", three servers", None, workers, fresh=False)


def tls(bench):
    """The same work at both ports of one server, with TLS and without."""
    rounds = bench.rounds
    with bench.programs.servers("--tls=on") as server, contextlib.ExitStack() as stack:
        hello = server.hello
        bench.server_version = hello["version"]
        workers = {"plain": stack.enter_context(bench.programs.worker("forelock", hello["address"])),
                   "tls": stack.enter_context(bench.programs.worker("forelock", hello["secure"], *hello["settings"]))}
        names = [rounds.fresh_name("secure") for _ in range(MANY[0])]
        rounds.measure("tls", "same monitor, TLS", "µs a cycle", workers,
                       lambda _: {"monitors": names[:1], "seconds": rounds.seconds(0.3)}, median_cycle, warm=4)
        rounds.measure("tls", f"{MANY[0]} monitors at once, TLS", "sections/s", workers,
                       lambda _: {"monitors": names, "threads": MANY[0], "async": True, "seconds": rounds.seconds(0.3)},
                       sections_per_second, "higher", warm=4)
        rounds.measure("tls", "connecting, TLS", "µs a client", workers,
                       lambda _: {"monitors": [], "connect": True, "seconds": rounds.seconds(0.3)}, median_cycle)


def stores(bench):
    """etcd and Redis, each next to Forelock and the bare C client in the same rounds."""
    rounds = bench.rounds
    if not bench.programs.peers:
        return
    with bench.programs.servers() as zookeeper, other_stores() as ports:
        near = {kind: int(zookeeper.hello["direct"].rsplit(":", 1)[1]) for kind in bench.chosen("raw", "forelock")}
        near.update({kind: ports[kind] for kind in bench.chosen("etcd", "redis")})
        for delay_us in (0, 500):
            with contextlib.ExitStack() as stack:
                proxies = {kind: stack.enter_context(bench.programs.proxy(port, delay_us))
                           for kind, port in near.items()}
                workers = stack.enter_context(
                    bench.programs.workers({kind: proxy.hello["address"] for kind, proxy in proxies.items()}))
                suffix = ", other stores" + (f", {2 * delay_us / 1000:g} ms away" if delay_us else "")
                name = rounds.fresh_name("same")
                rounds.measure("stores", "same monitor" + suffix, "µs a cycle", workers,
                               lambda _: {"monitors": [name], "seconds": rounds.seconds(0.3)}, median_cycle)
                if not delay_us:
                    name = rounds.fresh_name("shared")
                    rounds.measure("stores", "8 threads, one monitor, other stores", "sections/s", workers,
                                   lambda _: {"monitors": [name], "threads": 8, "seconds": rounds.seconds(1.0)},
                                   sections_per_second, "higher")


def dlq(bench):
    """Dead letters through outbox and Kafka; a program of its own, in rounds of its own."""
    filled = max(2000, int(20_000 * bench.rounds.scale))
    run = subprocess.run(
        [f"{bench.programs.programs}/bench_dlq", f"--rounds={bench.rounds.count}", f"--filled={filled}",
         "--table=off"], stdout=subprocess.PIPE, check=True)
    measured = json.loads(run.stdout)
    values = {each["name"]: {"median": each["median_per_second"], "lowest": each["lowest_per_second"],
                             "highest": each["highest_per_second"],
                             **({"to_floor": each["ratio"], "floor": each["floor"]} if "ratio" in each else {})}
              for each in measured["variants"]}
    bench.rounds.results.append({"group": "dlq", "workload": "dead letters, 64 threads", "unit": "letters/s",
                                 "better": "higher", "rounds": bench.rounds.count, "values": values})


def micro(bench):
    """The parts alone, without a server: processor time of one call."""
    run = subprocess.run(
        [f"{bench.programs.programs}/bench_micro", "--benchmark_format=json", f"--benchmark_repetitions="
         f"{bench.rounds.count}", "--benchmark_min_time=0.02", "--benchmark_enable_random_interleaving=true"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    times = {}
    for each in json.loads(run.stdout)["benchmarks"]:
        if each["run_type"] == "iteration":
            times.setdefault(each["run_name"], []).append(each["cpu_time"])
    for name, of_name in times.items():
        bench.rounds.record("micro", name, "ns", [{"forelock": time} for time in of_name], counted=True)


GROUPS = {each.__name__: each for each in (
    uncontended, contended, independent, passing, sets, lingering, priority, waiters, distance, ensemble, stores, dlq,
    micro, tls)}


def run(bench, names):
    for name in names:
        print(f"\n{name}", file=sys.stderr, flush=True)
        GROUPS[name](bench)
