"""Leases: a lock that a client without the library holds from one request to the next, on two nodes."""

import json

import pytest

from cluster import Cluster, Holder, Later, signal, valid, wait_until

LEASES = "/_plugins/_forelock/leases"


@pytest.fixture(scope="module")
def pair(server):
    cluster = Cluster(server.address, "--nodes", "2", "--set", "forelock.zookeeper.session.timeout=4000")
    assert cluster.urls, cluster.result.stderr
    cluster.create("leased", **{"forelock.monitor": "id"})
    yield cluster
    cluster.close()


def take(cluster, monitor, node=0, **fields):
    return cluster.request("POST", LEASES, {"monitors": [monitor], "keep": "30s", "timeout": "30s", **fields}, node)


def taken(cluster, monitor, node=0, **fields):
    answer = take(cluster, monitor, node, **fields)
    assert answer.status == 200, answer.text
    return valid(answer.json, "lease")


def refused(answer, status, code):
    assert (answer.status, answer.code) == (status, code), answer.text
    assert ("retry-after" in answer.headers) == (status == 429)
    return answer.json["error"]["reason"]


def write(cluster, document, held, node=0):
    return cluster.request("PUT", f"/leased/_doc/{document}", {"n": 1}, node, X_Forelock_Held=held)


def passes(cluster, document, held, node=0):
    """On a busy machine it may take longer than a look for the lock counts: then it is refused, and sent again."""
    answers = []

    def is_written():
        answers.append(write(cluster, document, held, node))
        return answers[-1].status in (200, 201)

    wait_until(is_written, "its client writes under it")
    assert {answer.code for answer in answers[:-1]} <= {"lock_unhealthy", "outcome_unknown"}


def listed(cluster):
    answer = valid(cluster.request("GET", LEASES).json, "leases")
    assert answer["failures"] == []
    return {lease["id"]: lease for node in answer["nodes"].values() for lease in node["leases"]}


def waiting(cluster, monitor):
    answer = cluster.request("GET", f"/_plugins/_forelock/locks/{monitor}")
    return len(answer.json["queue"]) if answer.status == 200 else 0


def test_a_lease_is_kept_and_given_back_through_another_node(pair, server):
    lease = taken(pair, "A1", info="Save Content", keep="20s")
    assert lease["held"] == "A1=" + lease["tokens"]["A1"] and lease["keep_ms"] == 20_000
    owner = pair.request("GET", "/_plugins/_forelock/locks/A1", node=1).json["holder"]["owner"]
    assert owner["lockInfo"] == "Save Content"
    assert listed(pair)[lease["id"]]["tokens"] == {"A1": lease["tokens"]["A1"]}
    for node in (0, 1):
        passes(pair, "A1", lease["held"], node)
        kept = pair.request("PUT", f"{LEASES}/{lease['id']}", node=node)
        assert (kept.status, kept.json) == (200, {"id": lease["id"], "kept": True, "keep_ms": 20_000}), kept.text
    refused(pair.request("PUT", "/leased/_doc/A1?timeout=300ms", {"n": 2}), 429, "lock_timeout")
    refused(take(pair, "A1", node=1, timeout="300ms"), 429, "lock_timeout")
    released = pair.request("DELETE", f"{LEASES}/{lease['id']}", node=1)
    assert (released.status, released.json) == (200, {"id": lease["id"], "released": True}), released.text
    assert lease["id"] not in listed(pair)
    with Holder(server.address, "A1"):
        wait_until(lambda: write(pair, "A1", lease["held"]).status == 409, "the node is told")
        refused(write(pair, "A1", lease["held"]), 409, "not_held")
    for method in ("PUT", "DELETE"):
        for node in (0, 1):
            refused(pair.request(method, f"{LEASES}/{lease['id']}", node=node), 404, "no_such_lease")


def test_several_monitors_are_one_lease(pair):
    lease = pair.request("POST", LEASES, {"monitors": ["B2", "B1"], "keep": "30s"}).json
    assert sorted(lease["tokens"]) == ["B1", "B2"]
    passes(pair, "B1", lease["held"])
    passes(pair, "B2", lease["held"])
    assert pair.request("DELETE", f"{LEASES}/{lease['id']}").status == 200
    assert pair.request("PUT", "/leased/_doc/B2", {"n": 2}).status == 200, "others follow"


def test_a_lease_that_nobody_keeps_ends(pair):
    lease = taken(pair, "C1", keep="200ms")
    follower = taken(pair, "C1", node=1)
    assert int(follower["tokens"]["C1"]) > int(lease["tokens"]["C1"])
    refused(pair.request("PUT", f"{LEASES}/{lease['id']}", node=1), 404, "no_such_lease")
    wait_until(lambda: write(pair, "C1", lease["held"]).status == 409, "the node is told")
    assert pair.request("DELETE", f"{LEASES}/{follower['id']}").status == 200


def test_there_are_no_more_than_the_setting_permits(pair):
    pair.node_setting(leases__max=1)
    try:
        lease = taken(pair, "D1")
        reason = refused(take(pair, "D2"), 429, "too_many_leases")
        assert "forelock.leases.max" in reason
        other = taken(pair, "D2", node=1)
        for one in (lease, other):
            assert pair.request("DELETE", f"{LEASES}/{one['id']}").status == 200
        again = taken(pair, "D2")
        assert pair.request("DELETE", f"{LEASES}/{again['id']}").status == 200
    finally:
        pair.node_setting(leases__max=None)
    for body in ({"monitors": []}, {"monitors": ["D1"], "keep": "1h"}, {"monitors": ["D1"], "keeps": "1s"}):
        assert pair.request("POST", LEASES, body).status == 400


def test_a_client_that_goes_leaves_the_queue(pair, server):
    with Holder(server.address, "E1"):
        connection = pair.connect(0, 60)
        connection.request("POST", LEASES, json.dumps({"monitors": ["E1"], "timeout": "1m"}),
                           {"Content-Type": "application/json"})
        wait_until(lambda: waiting(pair, "E1") == 1, "it waits")
        connection.close()
        wait_until(lambda: waiting(pair, "E1") == 0, "it has left")
        wait_until(lambda: pair.held() == 0, "nothing is held for it")


def test_a_wait_can_be_cancelled(pair, server):
    with Holder(server.address, "F1"):
        later = Later(lambda: take(pair, "F1", timeout="1m"))
        wait_until(lambda: waiting(pair, "F1") == 1, "it waits")
        assert pair.request("POST", "/_plugins/_forelock/_cancel?monitor=F1", node=1).json["cancelled"] == 1
        refused(later.get(), 409, "cancelled")


def test_a_node_that_ends_gives_its_leases_back(pair, server):
    lease = taken(pair, "G1", node=1)
    with Holder(server.address, "G2"):
        later = Later(lambda: take(pair, "G2", node=1, timeout="1m"))
        wait_until(lambda: waiting(pair, "G2") == 1, "another one waits")
        pair.signal(signal.SIGTERM, node=1)
        refused(later.get(), 503, "closed")
    with Holder(server.address, "G1"):
        wait_until(lambda: not pair.runs(1), "the node has ended")
    wait_until(lambda: pair.request("PUT", f"{LEASES}/{lease['id']}").status == 404, "the other node knows it, too")
