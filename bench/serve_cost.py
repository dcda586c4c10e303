#!/usr/bin/env python3
"""What `forelock serve` costs at very many monitors, waiters and streams: memory, processor, requests to ZooKeeper.

Usage: PYTHONPATH=build/release/python/src forelock dev -- bench/serve_cost.py [--command forelock]
       [--monitors 100000] [--waiters 10000] [--streams 500] [--seconds 20]

All monitors are held, by sets of a thousand; the waiters wait at the first of each. Then, in turns for so many seconds:
nothing reads the page; the streams do; they do while locks are taken and given back beside them, a few in a second and
then as many as go. Beside it the requests that one `forelock ls` makes. Requests: what the server has received, and, of
those, what serve itself has sent (its metrics); the rest is the load's own.
"""

import argparse
import asyncio
import concurrent.futures
import http.client
import json
import os
import selectors
import socket
import subprocess
import threading
import time

import forelock

PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")


def requests(server):
    """That the server has received since its start."""
    host, port = server.split("/")[0].rsplit(":", 1)
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(b"srvr")
        text = connection.makefile().read()
    return int(next(line for line in text.splitlines() if line.startswith("Received")).split()[1])


class Process:
    def __init__(self, pid):
        self._pid = pid

    def megabytes(self):
        with open(f"/proc/{self._pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * PAGE / 1e6

    def seconds(self):
        with open(f"/proc/{self._pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


def hold(client, count):
    """Monitors held by sets of a thousand; the sets, and their first monitors."""
    sets = []
    for begin in range(0, count, 1000):
        names = [f"monitor-{i:06}" for i in range(begin, min(begin + 1000, count))]
        sets.append(forelock.LockSet(client, names, lock_info="serve_cost", timeout=300))
        sets[-1].acquire()
    return sets


def queue(client, sets, count, done):
    """So many waiters, of one thread each hundred: they are not waited for."""
    async def wait_all():
        locks = [forelock.aio.Lock(client, sets[i % len(sets)].monitors[0], priority="background", timeout=3600)
                 for i in range(count)]
        waits = [asyncio.ensure_future(lock.acquire()) for lock in locks]
        await asyncio.to_thread(done.wait)
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)

    thread = threading.Thread(target=lambda: asyncio.run(wait_all()), daemon=True)
    thread.start()
    return thread


def open_stream(address):
    connection = socket.create_connection(address)
    connection.sendall(f"GET /api/events HTTP/1.1\r\nHost: {address[0]}:{address[1]}\r\n\r\n".encode())
    return connection


def is_ready(address):
    connection = http.client.HTTPConnection(*address)
    connection.request("GET", "/readyz")
    status = connection.getresponse().status
    connection.close()
    return status == 200


def drain(streams, done):
    """Reads what comes, so that no stream is behind."""
    selector = selectors.DefaultSelector()
    for stream in streams:
        stream.setblocking(False)
        selector.register(stream, selectors.EVENT_READ)
    while not done.is_set():
        for key, _ in selector.select(0.2):
            try:
                key.fileobj.recv(1 << 20)
            except BlockingIOError:
                pass


def looked(address):
    """Requests of serve by its own count, and how many monitors it watches and samples."""
    connection = http.client.HTTPConnection(*address)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("forelock_look_"))
    return (float(values["forelock_look_requests_total"]), values.get('forelock_look_monitors{how="watch"}'),
            values.get('forelock_look_monitors{how="sample"}'))


def measure(what, serve, server, seconds, address, beside=None):
    cycles = 0
    processor, received, begin = serve.seconds(), requests(server), time.monotonic()
    sent = looked(address)[0]
    while time.monotonic() < begin + seconds:
        if beside is None:
            threading.Event().wait(begin + seconds - time.monotonic())
        else:
            cycles += beside()
    took = time.monotonic() - begin
    received = requests(server) - received
    now, watched, sampled = looked(address)
    print(f"{what}: {serve.megabytes():.0f} MB, {100 * (serve.seconds() - processor) / took:.1f} % of a processor, "
          f"{(now - sent) / took:.1f} requests a second of serve, of {received / took:.0f} at ZooKeeper, "
          f"{watched} watched, {sampled} sampled" + (f"; {cycles / took:.0f} sections a second" if beside else ""),
          flush=True)


def sections(lock):
    for _ in range(100):
        with lock:
            pass
    return 100


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default="forelock")
    parser.add_argument("--monitors", type=int, default=100_000)
    parser.add_argument("--waiters", type=int, default=10_000)
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    server = os.environ["FORELOCK_ZOOKEEPER"]
    done = threading.Event()
    with forelock.Client(os.environ["FORELOCK_CONFIG"], settings={"zookeeper.session.timeout": "60000"}) as client:
        sets = hold(client, options.monitors)
        waiting = queue(client, sets, options.waiters, done)
        begin = time.monotonic()
        child = subprocess.Popen([options.command, "serve", "--listen", "127.0.0.1:0", "-o", "json"],
                                 stdout=subprocess.PIPE, text=True)
        address = ("127.0.0.1", int(json.loads(child.stdout.readline())["url"].split(":")[2].strip("/")))
        serve = Process(child.pid)
        while not is_ready(address):
            threading.Event().wait(0.1)
        print(f"ready after {time.monotonic() - begin:.1f} s")
        threading.Event().wait(10)
        measure("no stream", serve, server, options.seconds, address)
        streams = [open_stream(address) for _ in range(options.streams)]
        reading = threading.Thread(target=drain, args=(streams, done), daemon=True)
        reading.start()
        threading.Event().wait(10)
        measure(f"{options.streams} streams", serve, server, options.seconds, address)
        locks = [forelock.BlockingLock(client, f"busy-{i}") for i in range(64)]

        def few():
            with locks[0]:
                done.wait(0.1)
            return 1

        def many():
            """A section at each of 64 monitors, all at once."""
            with concurrent.futures.ThreadPoolExecutor(len(locks)) as pool:
                return sum(pool.map(sections, locks))

        measure(f"{options.streams} streams, beside some sections", serve, server, options.seconds, address, few)
        measure(f"{options.streams} streams, beside many", serve, server, options.seconds, address, many)
        before, begin = requests(server), time.monotonic()
        patient = ["--set", "zookeeper.session.timeout=60000"]
        subprocess.run([options.command, "ls", *patient], stdout=subprocess.DEVNULL, check=True)
        print(f"one ls: {requests(server) - before} requests, {time.monotonic() - begin:.2f} s")
        child.terminate()
        child.wait()
        done.set()
        waiting.join()


main()
