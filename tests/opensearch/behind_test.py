"""
A node that stood still until the others had gone on without it, and does not know that for a moment. Its locks are new
ones, but what it reads as the primary that it was is old: the search engine must find that out at the write.
"""

import pytest

from cluster import Cluster, Holder, Later, Ledger, Server, signal, wait_until
from cluster_test import QUICK_DETECTION

DOCUMENTS = 20


@pytest.fixture(scope="module")
def server():
    one = Server("ensemble")
    yield one
    one.close()


@pytest.fixture(scope="module")
def cluster(server):
    one = Cluster(server.address, "--nodes", "3", "--heap", "256m", "--set", "forelock.zookeeper.session.timeout=4000",
                  "--set", "forelock.foreground.timeout=120s", *QUICK_DETECTION)
    assert one.urls, one.result.stderr
    yield one
    one.close()


def placed(cluster, index, primary, copy):
    cluster.create(index, **{"routing.allocation.require._name": primary})
    ledger = Ledger(cluster, index, DOCUMENTS, nodes=[0])
    ledger.make_documents()
    settings = {"index.routing.allocation.require._name": None, "index.number_of_replicas": 1,
                "index.routing.allocation.include._name": f"{primary},{copy}"}
    assert cluster.request("PUT", f"/{index}/_settings", settings).status == 200
    answer = cluster.request("GET", f"/_cluster/health/{index}?wait_for_status=green&timeout=60s")
    assert not answer.json["timed_out"], answer.text
    return ledger


def nodes(cluster):
    return cluster.request("GET", "/_cluster/health").json.get("number_of_nodes")


@pytest.mark.parametrize("primary", ["node1", "node2"])
def test_what_it_reads_is_old_and_nothing_is_lost(cluster, server, primary):
    """The second node stands still while it holds updates back, whose documents are changed meanwhile."""
    ledger = placed(cluster, "behind-" + primary, primary, "node3")
    before = cluster.stats(1)["zookeeper"]
    monitors = [f"behind-{primary}/{document}" for document in range(DOCUMENTS)]
    options = [word for monitor in monitors[1:] for word in ("-m", monitor)]
    with Holder(server.address, monitors[0], *options, "--on-lost", "warn") as holder:
        waiting = [Later(lambda d=d: ledger.append(d, 1000 + d, 1)) for d in range(DOCUMENTS)]
        wait_until(lambda: cluster.held(1) == DOCUMENTS, "all wait")
        cluster.signal(signal.SIGSTOP, node=1)
        try:
            wait_until(lambda: nodes(cluster) == 2, "the others go on without it", patience=60)
            session = "session " + str(int(before["session"], 16))
            wait_until(lambda: server.command(session) == "ended", "its session ends", patience=60)
            holder.let_go()
            changes = [Later(lambda d=d: ledger.append(d, 1 + d, 0)) for d in range(DOCUMENTS)]
            assert [change.get() for change in changes] == ["200"] * DOCUMENTS
        finally:
            cluster.signal(signal.SIGCONT, node=1)
    answers = [one.get(120) for one in waiting]
    wait_until(lambda: nodes(cluster) == 3, "it is back", patience=60)
    cluster.request("GET", f"/_cluster/health/{ledger.index}?wait_for_status=green&timeout=60s")
    print(f"the primary was on {primary}: {answers}")
    for document, answer in enumerate(answers):
        ledger.done[document].add(1 + document)
        if answer == "200":
            ledger.done[document].add(1000 + document)
        elif answer != "unknown":
            ledger.refused[document].add(1000 + document)
    ledger.check()
    if primary != "node2":
        assert Ledger.CONFLICT not in answers, "it has read at the present primary"
