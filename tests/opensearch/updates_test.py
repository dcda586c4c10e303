"""
Read, think, write: clients of four kinds add to numbers of documents, under locks that they hold themselves, while
everything breaks. No confirmed update is lost. A node that stood still may read what is old, whoever holds the lock: so
each write says what was read (if_seq_no).

By hand FORELOCK_LONG=20 makes 20,000 of it.
"""

import collections
import itertools
import json
import os
import random
import subprocess
import tempfile
import threading
import urllib.parse
from pathlib import Path

import pytest

from cluster import BUILD, ENGINE, HAS, Cluster, Later, Server, clean_environment, signal, wait_until
from cluster_test import QUICK_DETECTION, relocate_primary
from plugins import build, build_ours, of_tests

LONG = int(os.environ.get("FORELOCK_LONG", "1"))
UPDATES = 1000 * LONG
OF_A_KIND = 8
DOCUMENTS = 20
LEASES = "/_plugins/_forelock/leases"
# Elasticsearch does not let a client choose the primary; any copy that is read has what was confirmed.
PRIMARY = "?preference=_primary" if ENGINE == "opensearch" else ""
# What a person writes: "FOUND STATUS" of index URL, document, key.
ADD = """
cd "$4"
curl -sS -f -m 3 -o "$3" "$1/_doc/$2$5" || { echo -1 0; exit; }
found=$(jq "._source.$3 // 0" "$3")
as_read=$(jq -r '"if_seq_no=\\(._seq_no)&if_primary_term=\\(._primary_term)"' "$3")
jq "._source | .$3 = $((found + 1))" "$3" >"$3.new"
echo "$found $(curl -sS -m 9 -o "$3.answer" -w '%{http_code}' -X PUT -H "X-Forelock-Held: $FORELOCK_HELD" \
  -H "Content-Type: application/json" -d @"$3.new" "$1/_doc/$2?$as_read")"
"""


@pytest.fixture(scope="module")
def server():
    one = Server("ensemble")
    yield one
    one.close()


@pytest.fixture(scope="module")
def cluster(server, tmp_path_factory):
    build_ours()
    folder = tmp_path_factory.mktemp("plugins")
    counting = build(folder, "counting", [of_tests(folder, "Counting.java")], "counting.Counting",
                     "counting.Counting$Extension")
    one = Cluster(server.address, "--nodes", "3", "--heap", "256m", "--set", "forelock.zookeeper.session.timeout=4000",
                  *QUICK_DETECTION, *counting)
    assert one.urls, one.result.stderr
    yield one
    one.close()


def parsed(text):
    found, status = text.split()
    return int(found), int(status)


class Java:
    """One program with a client of its own, for several clients."""

    def __init__(self, zookeeper):
        source = Path(__file__).with_name("Adding.java")
        self.child = subprocess.Popen(
            ["java", "-Xmx128m", "-cp", f"{BUILD}/opensearch/java/forelock-0.1.0.jar",
             f"-Dforelock.native.library={BUILD}/java/native/libforelock_jni.so", str(source), zookeeper, PRIMARY],
            env=clean_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.numbers = itertools.count()
        self.lock = threading.Lock()
        self.waiting = {}
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.child.stdout:
            number, _, result = line.partition(" ")
            answered, results = self.waiting[number]
            results.append(result)
            answered.set()

    def add(self, url, document, key):
        number = str(next(self.numbers))
        answered, results = self.waiting[number] = threading.Event(), []
        with self.lock:
            self.child.stdin.write(f"{number} {url} {document} {key}\n")
            self.child.stdin.flush()
        assert answered.wait(90), "the program does not answer"
        return parsed(results[0])

    def close(self):
        self.child.stdin.close()
        self.child.wait(90)


class Updates:
    """What the clients do, and what they know of it."""

    def __init__(self, cluster, server, index, java, folder):
        self.cluster, self.server, self.index, self.java, self.folder = cluster, server, index, java, folder
        self.nodes = [0, 1]
        self.faults_to_come = True
        self.done = collections.Counter()  # confirmed, by kind
        self.unknown = collections.Counter()
        self.low = collections.Counter()  # by document and client: so many are there for certain
        self.high = collections.Counter()  # and so many at most

    def by_java(self, node, document, key):
        return self.java.add(f"{self.cluster.urls[node]}/{self.index}", document, key)

    def by_command(self, node, document, key):
        added = subprocess.run(
            [os.environ["FORELOCK_BINARY"], "--zookeeper", self.server.address, "run", "-m", document, "--timeout",
             "20s", "--", "sh", "-ec", ADD, "add", f"{self.cluster.urls[node]}/{self.index}", document, key,
             self.folder, PRIMARY], env=clean_environment(), capture_output=True, text=True, check=False, timeout=90)
        return parsed(added.stdout) if len(added.stdout.split()) == 2 else (None, 0)

    def by_lease(self, node, document, key):
        request = self.cluster.request
        lease = request("POST", LEASES, {"monitors": [document], "keep": "15s", "timeout": "10s"}, node, 15)
        if lease.status != 200:
            return -1, 0
        try:
            found = request("GET", f"/{self.index}/_doc/{document}{PRIMARY}", None, node, 3)
            if found.status != 200:
                return -1, 0
            counts = found.json["_source"]
            before = counts.get(key, 0)
            as_read = f"if_seq_no={found.json['_seq_no']}&if_primary_term={found.json['_primary_term']}"
            try:
                answer = request("PUT", f"/{self.index}/_doc/{document}?{as_read}", {**counts, key: before + 1},
                                 node, 9, X_Forelock_Held=lease.json["held"])
            except OSError:
                return before, 0
            return before, answer.status
        finally:
            try:
                request("DELETE", f"{LEASES}/{urllib.parse.quote(lease.json['id'])}", None, node, 5)
            except OSError:
                pass  # it ends by itself

    def by_plugin(self, node, document, key):
        return parsed(self.cluster.request("POST", f"/_counting/{self.index}/{document}/{key}", None, node, 30).text)

    def client(self, kind, number):
        add = getattr(self, "by_" + kind)
        key = f"{kind}{number}"
        choice = random.Random(key)
        while self.total() < UPDATES or self.faults_to_come or not self.done[key]:
            document = str(choice.randrange(DOCUMENTS))
            place = document, key
            try:
                found, status = add(choice.choice(self.nodes), document, key)
            except (OSError, ValueError, subprocess.TimeoutExpired):
                found, status = None, 0  # it may have come to the write
            if found is None:
                self.high[place] += 1
                self.unknown[kind] += 1
                continue
            if found < 0:
                continue
            if status in (200, 201):
                assert self.low[place] <= found <= self.high[place], f"{key} in {document}: {found} was there, not " \
                    f"{self.low[place]} to {self.high[place]}; {dict(self.done)}"
                self.low[place] = found + 1
                self.done[key] += 1
            else:  # what was read may be old
                self.unknown[kind] += 1
            self.high[place] = max(self.high[place], found + 1)

    def total(self):
        return sum(list(self.done.values()))


def test_no_update_is_lost_that_reads_thinks_and_writes(cluster, server):
    index = "counted"
    answer = cluster.request("PUT", "/" + index, {
        "settings": {"number_of_shards": 1, "number_of_replicas": 1, "forelock.monitor": "id",
                     "forelock.fencing": "fencing" in HAS, "forelock.enabled": True},
        "mappings": {"enabled": False}})
    assert answer.status == 200, answer.text
    for document in range(DOCUMENTS):
        wait_until(lambda d=document: cluster.request("PUT", f"/{index}/_doc/{d}", {}).status in (200, 201), "made")
    java = Java(server.address)
    with tempfile.TemporaryDirectory() as folder:
        updates = Updates(cluster, server, index, java, folder)
        clients = [Later(lambda kind=kind, n=n: updates.client(kind, n))
                   for kind in ("java", "command", "lease", "plugin") for n in range(OF_A_KIND)]
        break_everything(cluster, server, index, updates, clients)
        updates.faults_to_come = False
        for client in clients:
            client.get(3600)
    java.close()
    cluster.request("GET", f"/_cluster/health/{index}?wait_for_status=green&timeout=60s")
    for document in range(DOCUMENTS):
        counts = cluster.request("GET", f"/{index}/_source/{document}").json
        for (place, key), low in updates.low.items():
            if place == str(document):
                assert low <= counts.get(key, 0) <= updates.high[place, key], (place, key)
    kinds = collections.Counter()
    for key, done in updates.done.items():
        kinds[key.rstrip("0123456789")] += done
    print(f"{updates.total()} updates, by kind {dict(kinds)}; not known at first: {dict(updates.unknown)}")
    assert len(updates.done) == 4 * OF_A_KIND


def break_everything(cluster, server, index, updates, clients):
    def progress(share):
        def is_done():
            for client in clients:
                if client.problem:
                    raise client.problem
            return updates.total() >= UPDATES * share

        wait_until(is_done, f"{share:.0%} are done", patience=3600)

    progress(0.1)
    assert server.command("kill") == "ok", "ZooKeeper's leader"
    progress(0.2)
    assert server.command("revive") == "ok"
    expired = cluster.stats(0)["zookeeper"]
    assert server.command("expire " + str(int(expired["session"], 16))) == "ok"
    wait_until(lambda: cluster.stats(0)["zookeeper"]["sessions_expired"] > expired["sessions_expired"],
               "its session is ended", patience=60)
    progress(0.3)
    relocate_primary(cluster, index)
    progress(0.4)
    cluster.signal(signal.SIGKILL, node=2)
    wait_until(lambda: not cluster.runs(2), "the third node is gone")
    progress(0.5)
    assert cluster.script("revive").returncode == 0
    progress(0.6)
    before = cluster.stats(1)["zookeeper"]
    updates.nodes = [0]
    cluster.signal(signal.SIGSTOP, node=1)
    try:
        wait_until(lambda: cluster.request("GET", "/_cluster/health").json.get("number_of_nodes") == 2,
                   "the others go on without the second node", patience=60)
        wait_until(lambda: server.command("session " + str(int(before["session"], 16))) == "ended",
                   "its session ends", patience=60)
        progress(0.7)
    finally:
        cluster.signal(signal.SIGCONT, node=1)
    wait_until(lambda: cluster.request("GET", "/_cluster/health").json.get("number_of_nodes") == 3,
               "it has come back", patience=60)
    wait_until(lambda: cluster.stats(1)["zookeeper"]["sessions_expired"] > before["sessions_expired"],
               "it notices that it slept past its session", patience=60)
    updates.nodes = [0, 1]
    progress(0.9)
