"""A node that is set up otherwise than the others: its locks are elsewhere, or it guards nothing."""

from pathlib import Path

import pytest

from cluster import Cluster, bulk, own_server, signal, wait_until

server = own_server()


@pytest.fixture(scope="module")
def cluster(server):
    one = Cluster(server.address, "--nodes", "3", "--heap", "256m")
    assert one.urls, one.result.stderr
    yield one
    one.close()


def identity(cluster, node):
    return cluster.stats(node)["zookeeper"]["identity"]


def give(cluster, node, before, after):
    """Starts the node again, with something else in its settings."""
    file = cluster.settings_file(node)
    text = file.read_text()
    assert text.count(before) == 1
    file.write_text(text.replace(before, after))
    process = Path("/proc", Path(cluster.home, f"node{node + 1}", "node.pid").read_text().strip())
    cluster.signal(signal.SIGTERM, node)
    wait_until(lambda: not process.exists(), "it has ended", patience=60)
    revived = cluster.script("revive")
    assert revived.returncode == 0, revived.stderr


def test_a_node_in_another_namespace_refuses(cluster, server):
    cluster.create("articles", **{"routing.allocation.require._name": "node1"})
    wait_until(lambda: len({identity(cluster, node) for node in range(3)} - {""}) == 1, "all know the same")
    assert [cluster.stats(node)["health"]["status"] for node in range(3)] == ["green"] * 3

    give(cluster, 2, server.address, server.address + "/elsewhere")
    wait_until(lambda: all(cluster.stats(node)["health"]["status"] == "red" for node in range(3)), "all have noticed")
    for node in range(3):
        (problem,) = cluster.stats(node)["health"]["problems"]
        assert "[node1, node2]" in problem and "[node3]" in problem
    for node in (0, 1):
        assert cluster.request("PUT", "/articles/_doc/1", {"n": node}, node=node).status in (200, 201)
    for method, path, body in (("PUT", "/articles/_doc/1", {"n": 9}), ("DELETE", "/articles/_doc/1", None),
                               ("POST", "/articles/_update/1", {"doc": {"n": 9}}),
                               ("POST", "/_plugins/_forelock/leases", {"monitors": ["P1"]})):
        answer = cluster.request(method, path, body, node=2)
        assert (answer.status, answer.code) == (503, "other_zookeeper"), answer.text
    answer = cluster.request("POST", "/articles/_bulk", bulk({"index": {"_id": "1"}}, {"n": 9}), node=2)
    (item,) = answer.json["items"]
    assert (item["index"]["status"], item["index"]["error"]["forelock_code"]) == (503, "other_zookeeper"), answer.text
    assert cluster.request("GET", "/articles/_doc/1").json["_source"] == {"n": 1}

    give(cluster, 2, server.address + "/elsewhere", server.address)
    wait_until(lambda: all(cluster.stats(node)["health"]["status"] == "green" for node in range(3)), "it is put right")
    assert cluster.request("PUT", "/articles/_doc/1", {"n": 2}, node=2).status == 200


def test_strict_primaries_refuse_what_a_node_sends_that_guards_nothing(cluster):
    cluster.create("strict", **{"routing.allocation.require._name": "node1"})
    cluster.create("fields", **{"routing.allocation.require._name": "node1", "forelock.monitor": "field:article"})
    give(cluster, 2, "node.name: node3", "node.name: node3\nforelock.enabled: false")
    assert cluster.request("PUT", "/strict/_doc/1", {"n": 1}, node=2).status == 201
    assert cluster.request("POST", "/strict/_doc", {"n": 1}, node=2).status == 201
    assert cluster.stats(0)["unguarded_writes"] == 1, "nothing else can mean a new document"
    assert cluster.request("POST", "/fields/_doc", {"article": "P1"}, node=2).status == 201
    assert cluster.stats(0)["unguarded_writes"] == 2, "but what it belongs to"
    cluster.node_setting(strict=True)
    answer = cluster.request("POST", "/fields/_doc", {"article": "P1"}, node=2)
    assert (answer.status, answer.code) == (409, "unlocked"), answer.text
    for method, path, body in (("PUT", "/strict/_doc/1", {"n": 9}), ("DELETE", "/strict/_doc/1", None)):
        answer = cluster.request(method, path, body, node=2)
        assert (answer.status, answer.code) == (409, "unlocked"), answer.text
    lines = bulk({"index": {"_id": "2"}}, {"n": 9}, {"index": {"_id": "3"}}, {"n": 9})
    items = cluster.request("POST", "/strict/_bulk", lines, node=2).json["items"]
    assert [item["index"]["error"]["forelock_code"] for item in items] == ["unlocked"] * 2
    assert cluster.request("POST", "/strict/_doc", {"n": 2}, node=2).status == 201, "nothing else can mean it"
    assert cluster.request("PUT", "/strict/_doc/1", {"n": 3}, node=1).status == 200
    assert cluster.request("GET", "/strict/_doc/1").json["_source"] == {"n": 3}
    cluster.node_setting(strict=None)
    assert cluster.request("PUT", "/strict/_doc/1", {"n": 4}, node=2).status == 200
