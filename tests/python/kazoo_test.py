"""Beside kazoo: what a plain client sees of a lock, and kazoo's own recipe on the same node."""

import json
import queue

import pytest
from conftest import PATIENCE

import forelock
from forelock import BlockingLock, LossReason

kazoo_client = pytest.importorskip("kazoo.client")


@pytest.fixture
def plain(servers, client):  # the client makes the namespace
    with forelock.lock(client, "made"):
        pass
    plain = kazoo_client.KazooClient(hosts=servers)
    plain.start(timeout=PATIENCE)
    yield plain
    plain.stop()
    plain.close()


def test_a_plain_client_sees_the_owner_and_may_remove_it(client, plain):
    lock = BlockingLock(client, "P1", lock_info="Save Content")
    lost = queue.SimpleQueue()
    lock.on_lost(lost.put)
    lock.acquire()
    data, _ = plain.get("/P1/privateLock")
    assert "Save Content" in json.dumps(json.loads(data))
    plain.delete("/P1", recursive=True)
    assert lost.get(timeout=PATIENCE) == LossReason.REMOVED


def test_its_recipe_on_the_same_node_neither_disturbs_nor_is_disturbed(client, plain):
    with forelock.lock(client, "P1"):
        with plain.Lock("/P1", "kazoo"):
            assert len(plain.Lock("/P1").contenders()) == 1  # nodes of ours are none of its
            seen = forelock.Inspector(client).show("P1")
            assert seen.holder.owner is not None and seen.waiting == 0
    with plain.Lock("/P1", "kazoo"):
        with forelock.lock(client, "P1", timeout=PATIENCE) as held:
            assert held.healthy()
