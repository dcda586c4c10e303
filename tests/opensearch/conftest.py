"""One server and one node for all tests; each has indices of its own, and the last ones end the node."""

import pytest

from cluster import Cluster, Server


@pytest.fixture(scope="session")
def server():
    one = Server()
    yield one
    one.close()


@pytest.fixture(scope="session")
def node(server):
    cluster = Cluster(server.address, "--set", "forelock.zookeeper.session.timeout=4000",
                      "--set", "forelock.cancel_on_disconnect=true", "--set", "forelock.queue.mode=parameter",
                      "--set", "forelock.queue.retries=1")
    assert cluster.urls, cluster.result.stderr
    yield cluster
    cluster.close()
