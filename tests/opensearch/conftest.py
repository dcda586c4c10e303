"""One server and one node for all tests; each has indices of its own, and the last ones end the node."""

import pytest

from cluster import HAS, Cluster, Server


@pytest.fixture(scope="session")
def server():
    one = Server()
    yield one
    one.close()


@pytest.fixture(scope="session")
def node(server):
    options = ["--set", "forelock.zookeeper.session.timeout=4000"]
    if "connections" in HAS:
        options += ["--set", "forelock.cancel_on_disconnect=true"]
    if "queue" in HAS:
        options += ["--set", "forelock.queue.mode=parameter", "--set", "forelock.queue.retries=1"]
    cluster = Cluster(server.address, *options)
    assert cluster.urls, cluster.result.stderr
    yield cluster
    cluster.close()
