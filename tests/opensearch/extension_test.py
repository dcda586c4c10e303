"""Plugins of others that take locks in the session of the node: the example of the documentation, and a bad one."""

import pytest

from cluster import HAS, Cluster, Holder, Later, wait_until
from plugins import COMMON, build, build_ours, example, of_tests

CLIENTS = 8
VIEWS = 10


@pytest.fixture(scope="module")
def node(server, tmp_path_factory):
    build_ours()
    folder = tmp_path_factory.mktemp("plugins")
    service = (COMMON / "META-INF" / "services" / "org.forelock.search.ForelockExtension").read_text().strip()
    views = build(folder, "views", example(folder), "example.views.ViewsPlugin", service)
    bad = build(folder, "waiting", [of_tests(folder, "Waiting.java")], "waiting.Waiting", "waiting.Waiting$Extension")
    carrying = build(folder, "carrying", [of_tests(folder, "Carrying.java")], "carrying.Carrying")
    cluster = Cluster(server.address, "--nodes", "2", "--heap", "400m", *views, *bad, *carrying)
    assert cluster.urls, cluster.result.stderr
    yield cluster
    cluster.close()


def test_it_reads_and_writes_under_one_lock(node, server):
    node.create("articles", **{"forelock.monitor": "id", "routing.allocation.require._name": "node2",
                               "forelock.fencing": "fencing" in HAS})

    def view():
        for _ in range(VIEWS):
            answer = node.request("POST", "/_views/articles/P1")
            assert answer.status in (200, 201), answer.text

    for client in [Later(view) for _ in range(CLIENTS)]:
        client.get(120)
    article = node.request("GET", "/articles/_doc/P1").json
    assert article["_source"] == {"views": CLIENTS * VIEWS}, "none is lost"
    assert (article["_version"] > CLIENTS * VIEWS) == ("fencing" in HAS), "the other node has got the locks' tokens"
    assert [node.stats(one)["unguarded_writes"] for one in (0, 1)] == [0, 0]
    with Holder(server.address, "P1") as holder:
        later = Later(lambda: node.request("POST", "/_views/articles/P1"))
        wait_until(lambda: node.request("GET", "/_plugins/_forelock/locks/P1").json["queue"], "it waits for others")
        assert node.request("PUT", "/articles/_doc/other", {"views": 0}).status == 201, "and keeps no thread"
        holder.let_go()
        assert later.get().status == 200
    wait_until(lambda: node.request("GET", "/_plugins/_forelock/locks").json["monitors"] == [], "all is given back")


def test_it_neither_keeps_a_thread_of_the_node_nor_ends_its_session(node):
    refused = node.request("POST", "/_waiting/lock").text
    assert refused.startswith("INVALID_ARGUMENT: ") and "[transport_worker]" in refused, refused
    assert "borrowed" in node.request("POST", "/_waiting/close").text
    assert node.request("POST", "/_views/articles/P2").status == 201, "the session is there"


def test_one_that_carries_the_jar_itself_has_a_session_beside_ours(node, server):
    node.create("beside", **{"forelock.monitor": "id"})
    held = node.request("POST", f"/_carrying/lock?servers={server.address}&monitor=P3")
    assert held.status == 200 and held.text.startswith("P3="), held.text
    kept = node.request("PUT", "/beside/_doc/P3?timeout=300ms", {"n": 1})
    assert (kept.status, kept.code) == (429, "lock_timeout"), kept.text
    assert node.request("PUT", "/beside/_doc/P3", {"n": 1}, X_Forelock_Held=held.text).status == 201
    assert node.request("POST", "/_views/articles/P4").status == 201, "and the node's own session works"
    assert node.request("POST", "/_carrying/unlock").text == "given back"
    assert node.request("PUT", "/beside/_doc/P3", {"n": 2}).status == 200
