"""A node that leaves in good order while another one writes under its locks."""

import pytest

from cluster import Cluster, Later, bulk, needs, own_server, signal, wait_until
from pause_test import SLOW

DOCUMENTS = 200
TAKEN = range(20, DOCUMENTS, 20)
server = own_server()


@pytest.fixture(scope="module")
def cluster(server):
    """The first node manages the cluster, whoever leaves; a session lives for longer than a test."""
    one = Cluster(server.address, "--nodes", "2", "--heap", "256m", "--set",
                  "forelock.zookeeper.session.timeout=8000", "--set", "forelock.foreground.timeout=60s")
    assert one.urls, one.result.stderr
    yield one
    one.close()


@needs("scripts")
def test_locks_outlive_the_node_for_as_long_as_a_primary_may_go_on(cluster):
    cluster.create("left", **{"routing.allocation.require._name": "node1"})
    lines = [line for i in range(DOCUMENTS) for line in (
        {"update": {"_id": str(i)}}, {"script": SLOW, "upsert": {}, "scripted_upsert": True})]
    Later(lambda: cluster.request("POST", "/left/_bulk", bulk(*lines), node=1, timeout=120))

    def written():
        return cluster.request("GET", "/left/_stats/indexing").json["_all"]["primaries"]["indexing"]["index_total"]

    wait_until(written, "the primary has begun")
    later = [Later(lambda i=i: cluster.request("PUT", f"/left/_doc/{i}", {"later": i})) for i in TAKEN]
    wait_until(lambda: cluster.held() == len(TAKEN), "others wait for the same documents")
    cluster.signal(signal.SIGTERM, node=1)
    assert {one.get(120).status for one in later} <= {200, 201}
    tasks = "/_tasks?actions=indices:data/write/bulk*"
    wait_until(lambda: not any(node["tasks"] for node in cluster.request("GET", tasks).json["nodes"].values()),
               "the primary has come to its end")
    found = {i: cluster.request("GET", f"/left/_doc/{i}").json["_source"] for i in TAKEN}
    assert found == {i: {"later": i} for i in TAKEN}, "what was written under the later lock stays"
    wait_until(lambda: not cluster.runs(1), "the node has ended")
