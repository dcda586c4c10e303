#!/usr/bin/env python3
"""Measures Forelock, the bare C client and the peers side by side: compare.py --programs DIR [--peers] [--quick] …

Every lock is a worker process that answers jobs (bench/compare/job.h), so all of them can be measured in turns, in
rounds, on the same server. Writes one JSON file; bench/compare/report.py makes tables and plots of it.
"""

import argparse
import datetime
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Talker:
    """A child process that is asked and answers in lines of JSON."""

    def __init__(self, name, command, environment=None):
        self.name = name
        self.child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})}
        )
        self.hello = self.read()

    def read(self):
        line = self.child.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} has ended with {self.child.wait()}")
        return json.loads(line)

    def ask(self, question):
        self.child.stdin.write(json.dumps(question) + "\n")
        self.child.stdin.flush()

    def answer(self, question):
        self.ask(question)
        return self.read()

    def end(self):
        self.child.stdin.close()
        self.child.wait(timeout=60)


class Bench:
    """The programs that there are, the servers that run, and what was measured."""

    def __init__(self, options):
        self.options = options
        self.results = []
        self.number = 0

    def servers(self, *options):
        program = f"{self.options.programs}/bench_servers"
        return Talker("bench_servers", [program, f"--sync={self.options.sync}", *options])

    def kinds(self, peers=True):
        """The locks of ZooKeeper that can be measured here."""
        kinds = ["raw", "forelock"]
        if peers and self.options.peers:
            kinds += ["curator", "go-zookeeper", "kazoo"]
        return [kind for kind in kinds if not self.options.only or kind in self.options.only]

    def worker(self, kind, address):
        build = self.options.peers
        command = {
            "curator": ["java", "-cp", f"{build}/curator/*", "CuratorWorker", address],
            "go-zookeeper": [f"{build}/go-worker", "zk", address],
            "etcd": [f"{build}/go-worker", "etcd", address],
            "redis": [f"{build}/go-worker", "redis", address],
            "kazoo": ["/usr/bin/python3", str(HERE.parent / "peers" / "kazoo_worker.py"), address],
        }.get(kind, [f"{self.options.programs}/bench_worker", kind, address])
        return Talker(kind, command)

    def fresh_name(self, prefix):
        self.number += 1
        return f"{prefix}{self.number}"

    def record(self, workload, unit, rounds, better, **more):
        """rounds: a list of {kind: value}, one for each round. Ratios are taken within a round."""
        kinds = list(rounds[0])
        values = {}
        for kind in kinds:
            of_kind = [each[kind] for each in rounds]
            values[kind] = {
                "median": statistics.median(of_kind),
                "lowest": min(of_kind),
                "highest": max(of_kind),
            }
            for other in ("raw", "curator", "etcd"):
                if other in kinds and kind != other:
                    values[kind][f"to_{other}"] = statistics.median(each[kind] / each[other] for each in rounds)
        self.results.append({"workload": workload, "unit": unit, "better": better, "values": values, **more})
        line = "  ".join(
            f"{kind} {each['median']:.4g}" + (f" ({each['to_raw']:.2f})" if "to_raw" in each else "")
            for kind, each in values.items()
        )
        print(f"{workload:34} {unit:12} {line}", file=sys.stderr, flush=True)

    def in_rounds(self, workload, unit, workers, job_of, value_of, rounds, better="lower", **more):
        """Each worker does the job in each round, in another order each time. `job_of` is told the worker's kind and a
        name that nobody has used. Kinds must not share monitors: one that another session has used since is not known
        any more, and costs requests that a monitor of one's own does not."""
        measured = []
        for kind, worker in workers.items():
            value_of(worker.answer(job_of(kind, self.fresh_name("warm"))))
        for _ in range(rounds):
            order = list(workers.items())
            random.shuffle(order)
            measured.append({kind: value_of(worker.answer(job_of(kind, self.fresh_name("m"))))
                             for kind, worker in order})
        measured = [{kind: each[kind] for kind in workers} for each in measured]
        self.record(workload, unit, measured, better, **more)


def median_cycle(answer):
    return statistics.median(answer["cycle_us"])


def sections_per_second(answer):
    return answer["sections"] / answer["seconds"]


def quantile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(part * len(values)))]


def uncontended(bench, workers, label, rounds, cycles):
    name = bench.fresh_name("same")
    bench.in_rounds(f"uncontended{label}", "us a cycle", workers,
                    lambda kind, _: {"monitors": [f"{name}-{kind}"], "sections": cycles},
                    median_cycle, rounds)


def one_machine(bench):
    """Everything that one server on this machine shows."""
    rounds, scale = bench.options.rounds, bench.options.scale
    server = bench.servers()
    address = server.hello["address"]
    workers = {kind: bench.worker(kind, address) for kind in bench.kinds()}
    uncontended(bench, workers, "", rounds, int(100 * scale))
    bench.in_rounds("fresh monitors", "us a cycle", workers,
                    lambda _, name: {"monitors": [name], "sections": int(60 * scale), "fresh": True}, median_cycle,
                    rounds)
    asynchronous = {kind: workers[kind] for kind in ("raw", "forelock") if kind in workers}
    if "forelock" in workers:
        name = bench.fresh_name("released")
        bench.in_rounds("asynchronous release", "us a cycle", asynchronous,
                        lambda kind, _: {"monitors": [f"{name}-{kind}"], "sections": int(100 * scale),
                                         "release_async": True}, median_cycle, rounds)
    name = bench.fresh_name("shared")
    bench.in_rounds("8 threads, one monitor", "sections/s", workers,
                    lambda kind, _: {"monitors": [f"{name}-{kind}"], "threads": 8, "sections": int(200 * scale)},
                    sections_per_second, rounds, better="higher")
    for count in (64, 1000):
        name = bench.fresh_name(f"many{count}-")
        some = workers if count == 64 else {k: w for k, w in workers.items() if k != "kazoo"}
        bench.in_rounds(f"{count} monitors at once", "sections/s", some,
                        lambda kind, _, name=name, count=count: {
                            "monitors": [f"{name}-{kind}-{i}" for i in range(count)],
                            "threads": count, "sections": int(max(2000, 2 * count) * scale),
                            "async": True},
                        sections_per_second, rounds, better="higher")
    for worker in workers.values():
        worker.end()
    processes(bench, address)
    priority(bench, address)
    server.end()


def processes(bench, address):
    """4 processes at one monitor."""
    measured = []
    kinds = [kind for kind in bench.kinds() if kind != "raw"]
    teams = {kind: [bench.worker(kind, address) for _ in range(4)] for kind in kinds}
    if "forelock" in teams:
        teams["forelock-predecessor"] = [bench.worker("forelock-predecessor", address) for _ in range(4)]
    for round_number in range(-1, bench.options.rounds):
        of_round = {}
        for kind, team in teams.items():
            name = bench.fresh_name("team")
            for worker in team:
                worker.ask({"monitors": [name], "seconds": 1.0 * bench.options.scale})
            answers = [worker.read() for worker in team]
            of_round[kind] = sum(a["sections"] for a in answers) / max(a["seconds"] for a in answers)
        if round_number >= 0:
            measured.append(of_round)
    bench.record("4 processes, one monitor", "sections/s", measured, "higher")
    for team in teams.values():
        for worker in team:
            worker.end()


def priority(bench, address, backlog=100, hold_ms=5):
    """Foreground arrivals behind queued background waiters that hold for 5 ms; the peers know no priority."""
    kinds = [kind for kind in bench.kinds() if kind not in ("raw", "kazoo")]
    measured = {part: [] for part in ("median", "p99")}
    pairs = {kind: (bench.worker(kind, address), bench.worker(kind, address)) for kind in kinds}
    for _ in range(max(3, bench.options.rounds // 2)):
        of_round = {part: {} for part in measured}
        for kind, (bulk, interactive) in pairs.items():
            name = bench.fresh_name("urgent")
            seconds = (4 if kind == "forelock" else 8) * bench.options.scale
            bulk.ask({"monitors": [name], "threads": backlog, "seconds": seconds, "hold_us": hold_ms * 1000,
                      "priority": "background"})
            waits = interactive.answer({"monitors": [name], "seconds": seconds * 0.9, "pause_us": 30000})["wait_us"]
            bulk.read()
            waits = [wait / 1000 for wait in waits] or [seconds * 1000]
            of_round["median"][kind] = statistics.median(waits)
            of_round["p99"][kind] = quantile(waits, 0.99)
        for part, values in of_round.items():
            measured[part].append(values)
    for part, rounds in measured.items():
        bench.record(f"foreground wait, {part}", "ms", rounds, "lower", hold_ms=hold_ms, backlog=backlog)
    for pair in pairs.values():
        for worker in pair:
            worker.end()


def distance(bench):
    """The same through a network that takes its time."""
    for delay_us in (500, 5000):
        server = bench.servers(f"--delay-us={delay_us}")
        address = server.hello["address"]
        workers = {kind: bench.worker(kind, address) for kind in bench.kinds()}
        cycles = int((50 if delay_us == 500 else 15) * bench.options.scale)
        uncontended(bench, workers, f", {delay_us / 1000:g} ms each way", bench.options.rounds, max(5, cycles))
        for worker in workers.values():
            worker.end()
        server.end()


def ensemble(bench):
    """Three servers on this machine."""
    server = bench.servers("--servers=3")
    workers = {kind: bench.worker(kind, server.hello["address"]) for kind in bench.kinds()}
    uncontended(bench, workers, ", ensemble of three", bench.options.rounds, int(60 * bench.options.scale))
    for worker in workers.values():
        worker.end()
    server.end()


def waiters(bench):
    """Packets for one hand-over, however many wait: counted by the server."""
    for mode in ("forelock", "forelock-predecessor"):
        for count in (10, 100, 1000):
            server = bench.servers()
            crowd = [bench.worker(mode, server.hello["address"]) for _ in range(2)]
            name = bench.fresh_name("crowd")
            sections = max(2 * count, 400)
            for worker in crowd:
                worker.answer({"monitors": [name], "threads": 1, "sections": 5})
            before = server.answer({})
            for worker in crowd:
                worker.ask({"monitors": [name], "threads": count // 2, "sections": sections // 2})
            for worker in crowd:
                worker.read()
            after = server.answer({})
            bench.results.append({
                "workload": f"packets a section, {count} waiters, {mode}", "unit": "packets", "better": "lower",
                "values": {mode: {"median": (after["received"] - before["received"]) / sections}}})
            print(bench.results[-1], file=sys.stderr, flush=True)
            for worker in crowd:
                worker.end()
            server.end()


def other_stores(bench):
    """etcd and Redis, each next to Forelock and the bare C client in the same rounds."""
    zookeeper = bench.servers()
    with tempfile.TemporaryDirectory() as directory:
        stores = {"etcd": start_etcd(directory), "redis": start_redis(directory)}
        try:
            for delay_us in (0, 500):
                far = {kind: Talker("proxy", [f"{bench.options.programs}/bench_servers", f"--proxy={port}",
                                              f"--delay-us={delay_us}"]) for kind, (_, port) in stores.items()}
                near_zookeeper = Talker("proxy", [f"{bench.options.programs}/bench_servers", f"--delay-us={delay_us}",
                                                  f"--proxy={zookeeper.hello['direct'].rsplit(':', 1)[1]}"])
                workers = {kind: bench.worker(kind, near_zookeeper.hello["address"]) for kind in ("raw", "forelock")}
                workers.update({kind: bench.worker(kind, proxy.hello["address"]) for kind, proxy in far.items()})
                label = ", other stores" + (f", {delay_us / 1000:g} ms each way" if delay_us else "")
                cycles = int((30 if delay_us else 60) * bench.options.scale)
                uncontended(bench, workers, label, bench.options.rounds, cycles)
                if not delay_us:
                    name = bench.fresh_name("shared")
                    bench.in_rounds("8 threads, one monitor, other stores", "sections/s", workers,
                                    lambda kind, _: {"monitors": [f"{name}-{kind}"], "threads": 8, "seconds": 2.0},
                                    sections_per_second, 3, better="higher")
                for talker in [*workers.values(), *far.values(), near_zookeeper]:
                    talker.end()
        finally:
            for process, _ in stores.values():
                process.terminate()
                process.wait()
    zookeeper.end()


def free_port():
    import socket
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def start_etcd(directory):
    port, peer = free_port(), free_port()
    process = subprocess.Popen(
        ["etcd", f"--data-dir={directory}/etcd", f"--listen-client-urls=http://127.0.0.1:{port}",
         f"--advertise-client-urls=http://127.0.0.1:{port}", f"--listen-peer-urls=http://127.0.0.1:{peer}",
         f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
         f"--initial-cluster=default=http://127.0.0.1:{peer}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return process, port


def start_redis(directory):
    port = free_port()
    process = subprocess.Popen(
        ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", directory, "--appendonly", "yes",
         "--appendfsync", "always"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return process, port


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", required=True, help="the folder with bench_worker and bench_servers")
    parser.add_argument("--peers", default="", help="the folder with the peers' programs; none without it")
    parser.add_argument("--output", required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--scale", type=float, default=1.0, help="of the size of each job")
    parser.add_argument("--sync", default="on", choices=("on", "off"))
    parser.add_argument("--parts", nargs="*",
                        default=["one_machine", "distance", "ensemble", "waiters", "other_stores"])
    parser.add_argument("--only", nargs="*", default=[], help="these kinds of locks")
    options = parser.parse_args()
    bench = Bench(options)
    for part in options.parts:
        if part == "other_stores" and not options.peers:
            continue
        {"one_machine": one_machine, "distance": distance, "ensemble": ensemble, "waiters": waiters,
         "other_stores": other_stores}[part](bench)
    Path(options.output).write_text(json.dumps({
        "date": datetime.date.today().isoformat(), "machine": platform.platform(), "processors": os.cpu_count(),
        "sync": options.sync, "rounds": options.rounds, "results": bench.results}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
