"""
What an operator does to one node after the other while guarded writes go on: a later version of the plugin, a node that
comes back without the plugin, and the removal of it all.
"""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from cluster import Cluster, Later, Ledger, own_server, signal, wait_until
from plugins import next_version
from removal_test import removal_commands

DOCUMENTS = 8
CLIENTS = 8
SOME = 60  # writes between two nodes
server = own_server()


@pytest.fixture(scope="module")
def cluster(server):
    # A primary moves when its node is restarted, and at no other time: then an update may read at the former one.
    one = Cluster(server.address, "--nodes", "3", "--heap", "256m", "--set", "forelock.foreground.timeout=30s",
                  "--set", "cluster.routing.rebalance.enable=none")
    assert one.urls, one.result.stderr
    yield one
    one.close()


class Home:
    """The programs and plugins of one node alone."""

    def __init__(self, cluster, node):
        self.path = Path(cluster.home, f"node{node + 1}", "home")
        if not self.path.exists():
            subprocess.run(["cp", "-rl", f"{cluster.home}/home", str(self.path)], check=True)

    def upgrade(self, folder):
        next_version(folder, self.path)

    def remove_plugin(self):
        shutil.rmtree(self.path / "plugins" / "forelock")


def can_go(cluster, node):
    """Whether each shard has a copy on another node: what only this one has is red while it is away."""
    shards = cluster.request("GET", "/_cat/shards?format=json").json
    elsewhere = {(shard["index"], shard["shard"]) for shard in shards
                 if shard["state"] == "STARTED" and shard["node"] != f"node{node + 1}"}
    return elsewhere == {(shard["index"], shard["shard"]) for shard in shards}


def restart(cluster, node, change):
    """The node ends in good order, something is done to it, and it comes back."""
    # What a node could not take that had no plugin is tried again.
    assert cluster.request("POST", "/_cluster/reroute?retry_failed=true").status == 200
    wait_until(lambda: can_go(cluster, node), "others have what it has", patience=180)
    process = Path("/proc", Path(cluster.home, f"node{node + 1}", "node.pid").read_text().strip())
    cluster.signal(signal.SIGTERM, node)
    wait_until(lambda: not process.exists(), "it has ended", patience=60)
    change()
    revived = cluster.script("revive")
    assert revived.returncode == 0, revived.stderr
    cluster.request("GET", "/_cluster/health?wait_for_status=green&timeout=60s")


def versions(cluster):
    rows = cluster.request("GET", "/_cat/plugins?format=json").json
    return {row["name"]: row["version"] for row in rows if row["component"] == "forelock"}


def writes_through(cluster, index, nodes):
    def is_written(node):
        path = f"/{index}/_doc/through{node}"
        return cluster.request("PUT", path, {"n": 1}, node=node, X_Forelock_Required="true").status in (200, 201)

    for node in nodes:
        wait_until(lambda node=node: is_written(node), "a write through each node")


class Going:
    """Clients whose updates go on meanwhile."""

    def __init__(self, cluster, index):
        self.cluster = cluster
        cluster.create(index, **{"routing.allocation.require._name": "node3", "forelock.enabled": False})
        self.ledger = Ledger(cluster, index, DOCUMENTS, nodes=[0, 1, 2])
        self.ledger.make_documents()
        settings = {"index.routing.allocation.require._name": None, "index.number_of_replicas": 1,
                    "index.forelock.enabled": True}
        assert cluster.request("PUT", f"/{index}/_settings", settings).json["acknowledged"]
        health = f"/_cluster/health/{index}?wait_for_status=green&wait_for_no_relocating_shards=true&timeout=60s"
        assert not cluster.request("GET", health).json["timed_out"]
        self.ledger.faults_to_come = True
        self.clients = [Later(lambda seed=seed: self.ledger.client(seed, 0)) for seed in range(CLIENTS)]

    def some(self):
        goal = self.ledger.writes() + SOME
        wait_until(lambda: self.ledger.writes() >= goal, "writes go on", patience=120)

    def end(self):
        self.ledger.faults_to_come = False
        for client in self.clients:
            client.get(120)
        self.ledger.check()
        print(dict(self.ledger.answers))


def primary(cluster, index):
    shards = cluster.request("GET", f"/_cat/shards/{index}?format=json").json
    return next(shard["node"] for shard in shards if shard["prirep"] == "p")


def test_a_rolling_upgrade_goes_on_guarding(cluster, tmp_path):
    going = Going(cluster, "upgraded")
    assert set(versions(cluster).values()) == {"0.1.0"}
    for node in (0, 1, 2):
        going.some()
        going.ledger.nodes = [other for other in (0, 1, 2) if other != node]
        going.ledger.moving = primary(cluster, "upgraded") == f"node{node + 1}"
        restart(cluster, node, lambda node=node: Home(cluster, node).upgrade(tmp_path))
        going.ledger.moving = False
        going.ledger.nodes = [0, 1, 2]
        expected = {f"node{n + 1}": "0.2.0" if n <= node else "0.1.0" for n in range(3)}
        assert versions(cluster) == expected
        wait_until(lambda node=node: cluster.stats(node)["zookeeper"]["connected"], "it has its session")
        writes_through(cluster, "upgraded", (0, 1, 2))
        going.some()
        assert [cluster.stats(n)["unguarded_writes"] for n in range(3)] == [0, 0, 0]
    going.end()


def test_a_node_without_the_plugin_and_strict_primaries(cluster, server, tmp_path):
    going = Going(cluster, "kept")
    going.ledger.nodes = [1, 2]
    cluster.node_setting(strict=True)
    file, home = cluster.settings_file(0), Home(cluster, 0)
    text = file.read_text()

    def without():
        home.remove_plugin()
        file.write_text("".join(line for line in text.splitlines(True) if "forelock." not in line))

    restart(cluster, 0, without)
    assert "node1" not in versions(cluster)
    going.some()
    for method, path, body in (("PUT", "/kept/_doc/0", {"numbers": []}), ("DELETE", "/kept/_doc/0", None)):
        answer = cluster.request(method, path, body, node=0)
        assert (answer.status, answer.code) == (409, "unlocked"), answer.text
    going.some()

    def again():
        shutil.rmtree(home.path)
        Home(cluster, 0).upgrade(tmp_path)
        file.write_text(text)

    restart(cluster, 0, again)
    wait_until(lambda: cluster.stats(0)["zookeeper"]["connected"], "it has its session")
    going.ledger.nodes = [0, 1, 2]
    writes_through(cluster, "kept", (0, 1, 2))
    assert cluster.stats(0)["health"]["status"] == "green", cluster.stats(0)["health"]
    going.some()
    cluster.node_setting(strict=None)
    going.end()


def test_the_plugin_is_removed_from_one_node_after_the_other(cluster):
    """By the commands of the guide. Each client has a document of its own: nothing excludes them any more."""
    cluster.create("left", number_of_replicas=1)
    written, ends = {}, []

    def write(seed):
        n = 0
        while not ends:
            n += 1
            try:
                status = cluster.request("PUT", f"/left/_doc/{seed}", {"n": n}, node=n % 3).status
            except OSError:
                continue  # a node that is just being restarted
            if status in (200, 201):
                written[seed] = n

    clients = [Later(lambda seed=seed: write(seed)) for seed in range(CLIENTS)]
    wait_until(lambda: len(written) == CLIENTS, "all write")
    for method, path, body in removal_commands()[:2]:
        answer = cluster.request(method, path, json.loads(body))
        assert answer.status == 200, answer.text
    for node in (0, 1, 2):
        file, home = cluster.settings_file(node), Home(cluster, node)

        def remove(file=file, home=home):
            home.remove_plugin()
            file.write_text("".join(line for line in file.read_text().splitlines(True) if "forelock." not in line))

        restart(cluster, node, remove)
        before = dict(written)
        wait_until(lambda before=before: all(written[seed] > before[seed] for seed in before), "all write on")
    ends.append(True)
    for client in clients:
        client.get(120)
    assert versions(cluster) == {}
    for seed, n in written.items():
        assert cluster.request("GET", f"/left/_doc/{seed}").json["_source"]["n"] >= n
    answer = cluster.request("PUT", "/_cluster/settings", {"persistent": {"cluster.max_shards_per_node": 900}})
    assert answer.status == 200, answer.text
    assert "forelock" not in cluster.request("GET", "/_all/_settings?expand_wildcards=all").text
