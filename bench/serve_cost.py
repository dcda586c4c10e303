#!/usr/bin/env python3
"""What `forelock serve` costs at very many monitors, waiters, streams and sections, against `ls` once a second.

Usage: bench/serve_cost.py --programs build/release [--monitors 100000] [--waiters 10000] [--streams 500] [--rate 5000]
       [--seconds 20] [--output FILE]

All monitors are held, by sets of twenty; the waiters wait at the first of each. In turns for so many seconds: the
sections alone, at as many a second as are asked for, if so many are to be had; then serve while nothing reads the
page, with streams, with some sections beside them, with all of them; and in its place `ls` once a second, without and
with the sections. Requests are those that ZooKeeper has received, those of the sections too.
"""

import argparse
import http.client
import json
import os
import selectors
import socket
import subprocess
import threading
import time

PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")
FEW = 10  # sections a second


class Process:
    def __init__(self, pid):
        self._pid = pid

    def megabytes(self):
        with open(f"/proc/{self._pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * PAGE / 1e6

    def seconds(self):
        """Of a processor."""
        with open(f"/proc/{self._pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


class Load:
    """bench_serve_load: the server, and all that holds and waits."""

    def __init__(self, program, monitors, waiters):
        self.child = subprocess.Popen([program, f"--monitors={monitors}", f"--waiters={waiters}"], text=True,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        begun = json.loads(self.child.stdout.readline())
        self.zookeeper, self.server = begun["zookeeper"], Process(begun["server_pid"])
        self.ready_s = json.loads(self.child.stdout.readline())["ready_s"]

    def sections(self, rate):
        """From now on so many a second; how many have been done so far."""
        self.child.stdin.write(f"{rate}\n")
        self.child.stdin.flush()
        return int(self.child.stdout.readline())

    def requests(self):
        """That the server has received since its start."""
        host, port = self.zookeeper.split("/")[0].rsplit(":", 1)
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(b"srvr")
            text = connection.makefile().read()
        return int(next(line for line in text.splitlines() if line.startswith("Received")).split()[1])

    def close(self):
        self.child.stdin.close()
        self.child.wait()


class Serve:
    def __init__(self, command, zookeeper):
        begun = time.monotonic()
        self.child = subprocess.Popen([command, "--zookeeper", zookeeper, "--set", "zookeeper.session.timeout=40000",
                                       "serve", "--listen", "127.0.0.1:0", "-o", "json"],
                                      stdout=subprocess.PIPE, text=True)
        self.address = ("127.0.0.1", int(json.loads(self.child.stdout.readline())["url"].split(":")[2].strip("/")))
        self.process = Process(self.child.pid)
        while self.get("/readyz")[0] != 200:
            threading.Event().wait(0.1)
        self.ready_s = time.monotonic() - begun
        self.streams, self.done, self.received = [], threading.Event(), 0

    def get(self, path):
        connection = http.client.HTTPConnection(*self.address)
        connection.request("GET", path)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, text

    def looked(self):
        """Its own requests, how many monitors it watches and samples, and what it says of their age."""
        values = dict(line.rsplit(" ", 1) for line in self.get("/metrics")[1].splitlines() if line[0] != "#")
        return {"requests": float(values["forelock_look_requests_total"]), "live": values["forelock_picture_live"],
                "watched": values.get('forelock_look_monitors{how="watch"}'),
                "sampled": values.get('forelock_look_monitors{how="sample"}')}

    def open_streams(self, count):
        for _ in range(count):
            connection = socket.create_connection(self.address)
            connection.sendall(f"GET /api/events HTTP/1.1\r\nHost: {self.address[0]}\r\n\r\n".encode())
            connection.setblocking(False)
            self.streams.append(connection)
        threading.Thread(target=self.drain, daemon=True).start()

    def drain(self):
        """Reads what comes, so that no stream is behind."""
        selector = selectors.DefaultSelector()
        for stream in self.streams:
            selector.register(stream, selectors.EVENT_READ)
        while not self.done.is_set():
            for key, _ in selector.select(0.2):
                try:
                    self.received += len(key.fileobj.recv(1 << 20))
                except BlockingIOError:
                    pass

    def close(self):
        self.done.set()
        self.child.terminate()
        self.child.wait()


class Ls:
    """`forelock ls` once a second, or as often as it ends."""

    def __init__(self, command, zookeeper):
        self.command = [command, "--zookeeper", zookeeper, "--set", "zookeeper.session.timeout=40000", "ls", "-q"]
        self.stop, self.runs, self.seconds, self.peak = threading.Event(), 0, 0.0, 0
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.stop.is_set():
            begun = time.monotonic()
            child = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = status
            self.seconds += usage.ru_utime + usage.ru_stime
            self.peak = max(self.peak, usage.ru_maxrss / 1000)
            self.runs += 1
            self.stop.wait(begun + 1 - time.monotonic())

    def close(self):
        self.stop.set()
        self.thread.join()


class Measuring:
    def __init__(self, load, seconds):
        self.load, self.seconds, self.rows = load, seconds, []

    def measure(self, what, rate, reader=None):
        """`reader`: a Serve, an Ls, or nothing."""
        self.load.sections(rate)
        threading.Event().wait(min(5, self.seconds / 2))  # until what was before is over
        serve, ls = (reader if isinstance(reader, kind) else None for kind in (Serve, Ls))
        before = self.numbers(rate, serve, ls)
        threading.Event().wait(self.seconds)
        after = self.numbers(rate, serve, ls)
        took = after["at"] - before["at"]
        row = {name: (after[name] - before[name]) / took for name in before if name != "at"}
        row = {"what": what, **row}
        if serve:
            looked = serve.looked()
            row |= {"megabytes": serve.process.megabytes(), "live": looked["live"], "watched": looked["watched"],
                    "sampled": looked["sampled"]}
        if ls:
            row |= {"megabytes": ls.peak, "seconds_each": 1 / row["ls"] if row["ls"] else None}
        self.rows.append(row)
        print(", ".join(f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}"
                        for name, value in row.items()), flush=True)

    def numbers(self, rate, serve, ls):
        numbers = {"sections": self.load.sections(rate), "server_cpu": self.load.server.seconds(),
                   "server_requests": self.load.requests(), "at": time.monotonic()}
        if serve:
            numbers |= {"cpu": serve.process.seconds(), "requests": serve.looked()["requests"],
                        "stream_bytes": serve.received}
        if ls:
            numbers |= {"cpu": ls.seconds, "ls": ls.runs}
        return numbers


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default="build/release")
    parser.add_argument("--monitors", type=int, default=100_000)
    parser.add_argument("--waiters", type=int, default=10_000)
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--rate", type=int, default=5000)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--output")
    options = parser.parse_args()
    command = os.path.join(options.programs, "bin/forelock")
    load = Load(os.path.join(options.programs, "bench/bench_serve_load"), options.monitors, options.waiters)
    print(f"{options.monitors} monitors are held and {options.waiters} contenders wait after {load.ready_s:.0f} s",
          flush=True)
    measuring = Measuring(load, options.seconds)
    measuring.measure("sections alone", options.rate)
    load.sections(0)
    serve = Serve(command, load.zookeeper)
    print(f"serve is ready after {serve.ready_s:.1f} s", flush=True)
    measuring.measure("serve", 0, serve)
    serve.open_streams(options.streams)
    measuring.measure(f"serve, {options.streams} streams", 0, serve)
    measuring.measure(f"serve, streams, {FEW} sections a second", FEW, serve)
    measuring.measure(f"serve, streams, {options.rate} sections a second", options.rate, serve)
    load.sections(0)
    ready = serve.ready_s
    serve.close()
    for rate in (0, options.rate):
        ls = Ls(command, load.zookeeper)
        measuring.measure("ls once a second" + (f", {rate} sections a second" if rate else ""), rate, ls)
        ls.close()
    load.sections(0)
    load.close()
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            json.dump({"monitors": options.monitors, "waiters": options.waiters, "streams": options.streams,
                       "holding_s": load.ready_s, "serve_ready_s": ready, "rows": measuring.rows}, file, indent=1)
            file.write("\n")


main()
