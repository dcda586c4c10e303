#!/usr/bin/env python3
"""Load on the articles of a throw-away cluster, and what its clients see (scripts/demo.sh --opensearch).

    load.py URL [--without URL] [--seconds N] [--rounds N] [--watch]

People save articles while bulk jobs rewrite all of them: on a node without the plugin, if one is named; on the one with
it into an index that is not guarded, into one that is but without priorities, with both. URL names one node; the index
"articles" is made anew. Standard library alone.
"""

import argparse
import functools
import http.client
import json
import random
import statistics
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

    @functools.cached_property
    def has_plugin(self):
        return any(one["component"] == "forelock" for one in self.request("GET", "/_cat/plugins?format=json")[1])

    def make(self, guarded):
        self.request("DELETE", "/articles")
        settings = {"number_of_shards": 1, "number_of_replicas": 0, "index.translog.durability": "async"}
        if self.has_plugin:
            settings["index.forelock.enabled"] = guarded
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


def background(node):
    """How many writes got their locks in the background, and how long all of them waited, in ms."""
    if not node.has_plugin:
        return 0, 0
    _, answer = node.request("GET", "/_plugins/_forelock/stats")
    counts = next(iter(answer["nodes"].values()))["background"]
    return counts["granted"], counts["wait_ms_total"]


def contend(guarding, without, seconds, rounds, watch):
    modes = {"without the plugin": (without, False, None)} if without else {}
    modes |= {"index not guarded": (guarding, False, None), "guarded, one priority": (guarding, True, "foreground"),
              "guarded, bulk in the background": (guarding, True, "background")}
    totals = {mode: [] for mode in modes}
    under_lock = []
    for _ in range(rounds):
        for mode, (node, guarded, priority) in modes.items():
            node.make(guarded)
            if watch:
                print(mode, flush=True)
            before = background(node)
            with Watch(node, watch and guarded):
                saves, bulks = contended(node, seconds, priority)
            totals[mode].append((saves, bulks))
            granted, waited = (y - x for x, y in zip(before, background(node)))
            if granted:
                under_lock.append(statistics.fmean(bulks.values) - waited / granted)
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
    print(f"a bulk in the background, once it has all its locks: {statistics.median(under_lock or [0]):.0f} ms "
          "(median of the rounds' means)")


def merged(samples):
    result = Sample()
    for sample in samples:
        result.values += sample.values
        result.documents += sample.documents
        for failure, count in sample.failures.items():
            result.failures[failure] = result.failures.get(failure, 0) + count
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--without", metavar="URL", help="a node without the plugin")
    parser.add_argument("--watch", action="store_true", help="show what is locked, once a second")
    options = parser.parse_args()
    without = Node(options.without) if options.without else None
    contend(Node(options.url), without, options.seconds, options.rounds, options.watch)


if __name__ == "__main__":
    main()
