"""Plugins of others that take locks in the session of the node: the example of the documentation, and a bad one."""

import pytest

from cluster import HAS, Cluster, Holder, Later, needs, wait_until
from plugins import build, build_example, build_ours, of_tests

CLIENTS = 8
SAVES = 10
ATTEMPTS = 20


@pytest.fixture(scope="module")
def node(server, tmp_path_factory):
    build_ours()
    folder = tmp_path_factory.mktemp("plugins")
    articles = build_example(folder)
    bad = build(folder, "waiting", [of_tests(folder, "Waiting.java")], "waiting.Waiting", "waiting.Waiting$Extension")
    carrying = build(folder, "carrying", [of_tests(folder, "Carrying.java")], "carrying.Carrying")
    engines = []
    if "fencing" in HAS:  # of ours there is an engine on no other search engine
        engines = build(folder, "engines", [of_tests(folder, "Engines.java")], "engines.Engines")
    cluster = Cluster(server.address, "--nodes", "2", "--heap", "400m", *articles, *bad, *carrying, *engines)
    assert cluster.urls, cluster.result.stderr
    yield cluster
    cluster.close()


def create(node, index):
    node.create(index, **{"forelock.monitor": "id", "routing.allocation.require._name": "node2",
                          "forelock.fencing": "fencing" in HAS})
    # A new field is made by the cluster's manager: beside a load that takes longer than a look for the lock counts.
    fields = {"saves": "integer", "propagations": "integer", "changed_by": "keyword"}
    mapping = {"properties": {name: {"type": kind} for name, kind in fields.items()}}
    assert node.request("PUT", f"/{index}/_mapping", mapping).status == 200


def certain(node, index, what, ids, through=0):
    """Again where nothing was written: a look for the lock counts for a second, beside a load that may be too short."""
    for _ in range(ATTEMPTS):
        answer = node.request("POST", f"/_articles/{index}/{what}/{ids}", node=through)
        if "lock was not certain" not in answer.text:
            return answer
    raise AssertionError(f"no lock was certain in {ATTEMPTS} attempts: {answer.text}")


def act(*arguments):
    return Later(lambda: certain(*arguments))


def queue(node, monitor):
    """The names of the nodes that wait, in their order."""
    return [waiter["node"] for waiter in node.request("GET", f"/_plugins/_forelock/locks/{monitor}").json["queue"]]


def article(node, index, identifier):
    return node.request("GET", f"/{index}/_doc/{identifier}").json["_source"]


def test_it_reads_and_writes_under_one_lock(node, server):
    create(node, "articles")

    def save():
        for _ in range(SAVES):
            answer = certain(node, "articles", "save", "P1")
            assert answer.status == 200, answer.text

    for client in [Later(save) for _ in range(CLIENTS)]:
        client.get(120)
    assert article(node, "articles", "P1")["saves"] == CLIENTS * SAVES, "none is lost"
    version = node.request("GET", "/articles/_doc/P1").json["_version"]
    assert (version > CLIENTS * SAVES) == ("fencing" in HAS), "the other node has got the locks' tokens"
    assert [node.stats(one)["unguarded_writes"] for one in (0, 1)] == [0, 0]
    with Holder(server.address, "P1") as holder:
        later = act(node, "articles", "save", "P1")
        wait_until(lambda: queue(node, "P1"), "it waits for others")
        assert node.request("PUT", "/articles/_doc/other", {"saves": 0}).status == 201, "and keeps no thread"
        holder.let_go()
        assert later.get().status == 200
    wait_until(lambda: node.request("GET", "/_plugins/_forelock/locks").json["monitors"] == [], "all is given back")


@pytest.mark.parametrize(("what", "prefix"), [("save", "A-"), ("propagate", "B-")])
def test_two_change_one_article(node, server, what, prefix):
    """The first and the second scenario: one class, one after the other as they came."""
    create(node, "scenario-" + what)
    with Holder(server.address, "P5") as holder:
        changes = []
        for through in (0, 1):
            changes.append(act(node, "scenario-" + what, what, "P5", through))
            wait_until(lambda: len(queue(node, "P5")) == len(changes), "it waits")
        waiting = queue(node, "P5")
        assert all(name.startswith(prefix) for name in waiting) and waiting == sorted(waiting)
        holder.let_go()
    assert [(change.status, change.text) for change in map(Later.get, changes)] == [(200, "changed")] * 2
    assert article(node, "scenario-" + what, "P5")[{"save": "saves", "propagate": "propagations"}[what]] == 2


def test_a_save_goes_before_propagation_that_waits(node, server):
    """The third scenario; the propagation is of several articles."""
    create(node, "conflict")
    with Holder(server.address, "P6", "--priority", "background") as holder:
        later = act(node, "conflict", "propagate", "P6,P7", 1)
        wait_until(lambda: queue(node, "P6"), "the propagation waits")
        save = act(node, "conflict", "save", "P6")
        wait_until(lambda: len(queue(node, "P6")) == 2, "and the save")
        assert [name[:2] for name in queue(node, "P6")] == ["A-", "B-"]
        holder.let_go()
    assert [one.get().status for one in (save, later)] == [200, 200]
    assert article(node, "conflict", "P6") == {"saves": 1, "propagations": 1, "changed_by": "Bulk Propagation"}
    assert article(node, "conflict", "P7") == {"propagations": 1, "changed_by": "Bulk Propagation"}


def test_it_neither_keeps_a_thread_of_the_node_nor_ends_its_session(node):
    refused = node.request("POST", "/_waiting/lock").text
    assert refused.startswith("INVALID_ARGUMENT: ") and "[transport_worker]" in refused, refused
    assert "borrowed" in node.request("POST", "/_waiting/close").text
    assert node.request("POST", "/_articles/articles/save/P2").status == 200, "the session is there"


def test_one_that_carries_the_jar_itself_has_a_session_beside_ours(node, server):
    node.create("beside", **{"forelock.monitor": "id"})
    held = node.request("POST", f"/_carrying/lock?servers={server.address}&monitor=P3")
    assert held.status == 200 and held.text.startswith("P3="), held.text
    kept = node.request("PUT", "/beside/_doc/P3?timeout=300ms", {"n": 1})
    assert (kept.status, kept.code) == (429, "lock_timeout"), kept.text
    assert node.request("PUT", "/beside/_doc/P3", {"n": 1}, X_Forelock_Held=held.text).status == 201
    assert node.request("POST", "/_articles/articles/save/P4").status == 200, "and the node's own session works"
    assert node.request("POST", "/_carrying/unlock").text == "given back"
    assert node.request("PUT", "/beside/_doc/P3", {"n": 2}).status == 200


@needs("fencing")
def test_an_index_without_fencing_may_have_the_engine_of_another_plugin(node, server):
    node.create("engines-plain", **{"forelock.enabled": False})
    assert node.request("PUT", "/engines-plain/_doc/P9", {"n": 1}).status == 201
    node.create("engines-guarded", **{"forelock.monitor": "id"})
    with Holder(server.address, "P9"):
        kept = node.request("PUT", "/engines-guarded/_doc/P9?timeout=300ms", {"n": 1})
        assert (kept.status, kept.code) == (429, "lock_timeout"), kept.text
    assert node.request("PUT", "/engines-guarded/_doc/P9", {"n": 1}).status == 201
