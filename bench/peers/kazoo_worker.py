#!/usr/bin/env python3
"""kazoo's lock as a worker of the comparison: kazoo_worker.py SERVERS. Jobs: see bench/compare/job.h."""

import itertools
import json
import random
import sys
import threading
import time

from kazoo.client import KazooClient


def run(client, job):
    """Threads that lock and unlock as the job says."""
    results, failures = [], []
    numbers = itertools.count()
    begin = time.monotonic()
    end = begin + job["seconds"] if job.get("seconds") else float("inf")
    sections = job.get("sections") or float("inf")

    def work(index):
        own = []
        monitor = job["monitors"][index % len(job["monitors"])]
        lock = None if job.get("fresh") else client.Lock("/" + monitor, "bench")
        try:
            while (number := next(numbers)) < sections and time.monotonic() < end:
                if job.get("pause_us"):
                    time.sleep(random.expovariate(1e6 / job["pause_us"]))
                if job.get("fresh"):
                    lock = client.Lock(f"/{monitor}-{number}", "bench")
                asked = time.monotonic()
                lock.acquire()
                held = time.monotonic()
                if job.get("hold_us"):
                    time.sleep(job["hold_us"] / 1e6)
                done = time.monotonic()
                lock.release()
                own.append((held - asked, held - asked + time.monotonic() - done))
        except Exception as problem:  # reported by the main thread
            failures.append(problem)
        results.extend(own)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(job.get("threads", 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return {
        "sections": len(results),
        "seconds": time.monotonic() - begin,
        "wait_us": [wait * 1e6 for wait, _ in results[:20000]],
        "cycle_us": [cycle * 1e6 for _, cycle in results[:20000]],
    }


def main():
    client = KazooClient(hosts=sys.argv[1], timeout=40)
    client.start()
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        print(json.dumps(run(client, json.loads(line))), flush=True)
    client.stop()


if __name__ == "__main__":
    main()
