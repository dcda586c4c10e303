#!/usr/bin/env python3
"""Load on the articles of a throw-away cluster, and what its clients see (scripts/demo.sh --opensearch).

    load.py contend URL [--seconds N] [--rounds N] [--watch]
        people save articles while bulk jobs rewrite all of them: without the plugin, with the plugin but without
        priorities, with both
    load.py cost URL [--seconds N] [--rounds N]
        what the plugin costs where nothing is contended: single writes and bulks of 500, on and off in turns

URL names one node with the plugin; the index "articles" is made anew. Standard library alone.
"""

import argparse
import http.client
import json
import random
import sys
import threading
import time
from urllib.parse import urlsplit

ARTICLES = 200
BULK_CLIENTS = 4
PEOPLE = 2


class Node:
    """A node's HTTP interface; a connection for each thread."""

    def __init__(self, url):
        self.url = urlsplit(url)
        self.local = threading.local()

    def request(self, method, path, body=None, priority=None):
        if not hasattr(self.local, "connection"):
            self.local.connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=120)
        headers = {"Content-Type": "application/x-ndjson" if path.endswith("_bulk") else "application/json"}
        if priority:
            headers["X-Forelock-Priority"] = priority
        self.local.connection.request(method, path, body, headers)
        response = self.local.connection.getresponse()
        return response.status, json.loads(response.read())

    def make(self, guarded):
        self.request("DELETE", "/articles")
        settings = {"number_of_shards": 1, "number_of_replicas": 0, "index.forelock.enabled": guarded,
                    "index.translog.durability": "async"}
        status, answer = self.request("PUT", "/articles", json.dumps({"settings": settings}))
        if status != 200:
            sys.exit(f"the index cannot be made: {answer}")
        self.request("POST", "/articles/_bulk", bulk_body(range(ARTICLES), 0))


def bulk_body(documents, value):
    text = "lorem ipsum dolor sit amet " * 8
    return "".join(json.dumps(line) + "\n" for one in documents
                   for line in ({"index": {"_id": str(one)}}, {"n": value, "text": text}))


class Sample:
    """Latencies in milliseconds, and what failed."""

    def __init__(self):
        self.lock = threading.Lock()
        self.values = []
        self.documents = 0
        self.failures = {}

    def add(self, milliseconds, documents, failures):
        with self.lock:
            self.values.append(milliseconds)
            self.documents += documents
            for failure in failures:
                self.failures[failure] = self.failures.get(failure, 0) + 1

    def share(self, share):
        values = sorted(self.values)
        return values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


def failures_of(status, answer):
    if "items" in answer:
        items = [next(iter(item.values())) for item in answer["items"]]
        return [item["error"].get("forelock_code", item["error"]["type"]) for item in items if "error" in item]
    return [] if status < 300 else [answer["error"].get("forelock_code", answer["error"]["type"])]


def timed(sample, node, documents, *arguments, **options):
    begun = time.monotonic()
    status, answer = node.request(*arguments, **options)
    failures = failures_of(status, answer)
    sample.add(1000 * (time.monotonic() - begun), documents - len(failures), failures)


def run(workers, seconds):
    """Each worker is called again and again until the time is over."""
    end = time.monotonic() + seconds

    def repeat(worker):
        while time.monotonic() < end:
            worker()

    threads = [threading.Thread(target=repeat, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Watch:
    """Shows what is locked, once a second."""

    def __init__(self, node, wanted):
        self.node = node
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run)
        if wanted:
            self.thread.start()

    def run(self):
        path = "/_cat/forelock?format=json&h=monitor,priority,foreground,background,info&s=foreground:desc,monitor"
        while not self.ended.wait(1):
            status, rows = self.node.request("GET", path)
            if status != 200:
                continue
            waiting = [sum(int(row[kind]) for row in rows) for kind in ("foreground", "background")]
            first = "; ".join(f"{row['monitor']} by {row['info']}" for row in rows[:2])
            print(f"    {len(rows):4} locked, waiting: {waiting[0]} foreground, {waiting[1]} background   {first}",
                  flush=True)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.ended.set()
        if self.thread.is_alive():
            self.thread.join()


def contended(node, seconds, bulk_priority):
    """Bulk clients rewrite all articles in an order of their own, as fast as they can; people save single ones."""
    saves, bulks = Sample(), Sample()

    def bulk():
        documents = random.sample(range(ARTICLES), ARTICLES)
        timed(bulks, node, ARTICLES, "POST", "/articles/_bulk", bulk_body(documents, 1), priority=bulk_priority)

    def save():
        body = json.dumps({"n": 2, "text": "saved"})
        timed(saves, node, 1, "PUT", f"/articles/_doc/{random.randrange(ARTICLES)}", body, priority="foreground")

    run([bulk] * BULK_CLIENTS + [save] * PEOPLE, seconds)
    return saves, bulks


def contend(node, seconds, rounds, watch):
    modes = {"without the plugin": (False, None), "with it, one priority": (True, "foreground"),
             "with it, bulk in the background": (True, "background")}
    totals = {mode: [] for mode in modes}
    for _ in range(rounds):
        for mode, (guarded, priority) in modes.items():
            node.make(guarded)
            if watch:
                print(mode, flush=True)
            with Watch(node, watch and guarded):
                totals[mode].append(contended(node, seconds, priority))
    print(f"{'':34}{'saves':>7}{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}{'failed':>8}"
          f"{'bulks':>8}{'p50 ms':>9}{'docs/s':>9}{'failed':>8}")
    for mode, results in totals.items():
        saves, bulks = merged(saves for saves, _ in results), merged(bulks for _, bulks in results)
        print(f"{mode:34}{len(saves.values):7}{saves.share(.5):9.1f}{saves.share(.99):9.1f}{saves.share(1):9.1f}"
              f"{sum(saves.failures.values()):8}{len(bulks.values):8}{bulks.share(.5):9.1f}"
              f"{bulks.documents / (seconds * rounds):9.0f}{sum(bulks.failures.values()):8}")
        for name, sample in (("saves", saves), ("bulk items", bulks)):
            for failure, count in sample.failures.items():
                print(f"    {name}: {count} × {failure}")


def merged(samples):
    result = Sample()
    for sample in samples:
        result.values += sample.values
        result.documents += sample.documents
        for failure, count in sample.failures.items():
            result.failures[failure] = result.failures.get(failure, 0) + count
    return result


def cost(node, seconds, rounds):
    totals = {}
    counter = iter(range(10 ** 9))
    for round_number in range(-1, rounds):  # the first one warms up
        for guarded in (False, True):
            node.make(guarded)
            for kind, clients, size in (("single write, 1 client", 1, 1), ("single write, 8 clients", 8, 1),
                                        ("bulk of 500, 1 client", 1, 500)):
                sample = Sample()

                def work(size=size, sample=sample):
                    first = next(counter) * size % 100000
                    if size == 1:
                        timed(sample, node, 1, "PUT", f"/articles/_doc/c{first}", '{"n": 1}')
                    else:
                        body = bulk_body(range(first, first + size), 1)
                        timed(sample, node, size, "POST", "/articles/_bulk", body)

                run([work] * clients, seconds)
                if round_number >= 0:
                    totals.setdefault((kind, guarded), []).append(sample)
    print(f"{'':26}{'plugin':>7}{'p50 ms':>9}{'p99 ms':>9}{'docs/s':>9}{'failed':>8}")
    for (kind, guarded), samples in totals.items():
        one = merged(samples)
        print(f"{kind:26}{'on' if guarded else 'off':>7}{one.share(.5):9.2f}{one.share(.99):9.2f}"
              f"{one.documents / (seconds * rounds):9.0f}{sum(one.failures.values()):8}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["contend", "cost"])
    parser.add_argument("url")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--watch", action="store_true", help="contend: show what is locked, once a second")
    options = parser.parse_args()
    node = Node(options.url)
    if options.what == "contend":
        contend(node, options.seconds, options.rounds, options.watch)
    else:
        cost(node, options.seconds, options.rounds)


if __name__ == "__main__":
    main()
