"""Fencing after ZooKeeper was set up anew, and the index restored from a snapshot: versions are above all tokens."""

import pytest

from cluster import Holder, bulk, needs, own_server, snapshots, valid, wait_until

pytestmark = needs("fencing")
REFENCE = "/_plugins/_forelock/_refence/"
server = own_server()


@pytest.fixture(scope="module")
def pair(server):
    with snapshots(server, "--set", "forelock.zookeeper.session.timeout=2000") as cluster:
        yield cluster


def write(cluster, path, node=0, body=None, method="PUT", **headers):
    body = None if method == "DELETE" else body or {"n": 1}
    return cluster.request(method, path, body, node, X_Forelock_Report="true", **headers)


def written(cluster, path, node=0, **more):
    """Its version and its lock's token."""
    answer = write(cluster, path, node, **more)
    assert answer.status in (200, 201), answer.text
    return answer.json["_version"], int(answer.headers["x-forelock-token"])


def refused(answer):
    assert (answer.status, answer.code) == (409, "token_too_low"), answer.text
    valid(answer.json, "refused_write")
    assert "_plugins/_forelock/_refence" in answer.json["error"]["reason"]


def refence(cluster, index, node=0):
    answer = cluster.request("POST", REFENCE + index, node=node)
    assert answer.status == 200, answer.text
    return valid(answer.json, "refenced")


def identities(cluster):
    return {cluster.stats(node)["zookeeper"]["identity"] for node in (0, 1)}


def is_well(cluster):
    return all(cluster.stats(node)["health"]["status"] == "green" for node in (0, 1))


def test_writes_go_on_after_a_restore_beside_a_new_zookeeper(pair, server):
    pair.create("archive", number_of_shards=3,
                **{"routing.allocation.require._name": "node1", "forelock.monitor": "id", "forelock.fencing": True})
    highest = 0
    for n in range(60):
        for node in (0, 1):
            highest = max(highest, written(pair, f"/archive/_doc/P{n % 7}", node)[0])
    assert refence(pair, "archive")["refenced"] is False, "its tokens are above its versions"
    assert written(pair, "/archive/_doc/P1", 1)[0] > highest
    highest = max(written(pair, f"/archive/_doc/P{n}")[0] for n in range(7))
    stale = Holder(server.address, "P2", "--on-lost", "warn")
    before = identities(pair)
    assert len(before) == 1 and pair.request("PUT", "/_snapshot/kept/1?wait_for_completion=true").status == 200
    assert pair.request("DELETE", "/archive").status == 200

    assert server.command("wipe") == "ok"
    wait_until(lambda: not identities(pair) & before and is_well(pair), "both nodes are in the new one", patience=90)
    assert pair.request("POST", "/_snapshot/kept/1/_restore?wait_for_completion=true").status == 200
    was = pair.request("GET", "/archive/_doc/P1").json
    for node in (0, 1):
        for path, more in (("_doc/P1", {}), ("_doc/P1", {"method": "DELETE"}),
                           ("_update/P1", {"method": "POST", "body": {"doc": {"n": 2}}})):
            refused(write(pair, "/archive/" + path, node, **more))
        lines = bulk({"index": {"_id": "P3"}}, {"n": 2}, {"index": {"_id": f"new{node}"}}, {"n": 2},
                     {"create": {"_id": "P4"}}, {"n": 2})
        answer = pair.request("POST", "/archive/_bulk", lines, node)
        items = [next(iter(item.values())) for item in answer.json["items"]]
        assert [item["status"] for item in items] == [409, 201, 409]
        assert items[0]["error"]["forelock_code"] == "token_too_low"
        assert items[2]["error"]["type"] == "version_conflict_engine_exception", "the document exists"
    assert pair.request("GET", "/archive/_doc/P1").json == was, "nothing was written"

    done = refence(pair, "archive", 1)
    assert done["refenced"] is True and done["highest_version"] == str(highest)
    assert {done["namespace"]} == identities(pair)
    assert "the index [archive] was refenced" in pair.log(1)
    last = highest
    for node in (0, 1, 0):
        version, token = written(pair, "/archive/_doc/P1", node)
        assert version == highest + token > last
        last = version
    assert written(pair, "/archive/_update/P1", 1, method="POST", body={"doc": {"n": 5}})[0] > last
    with Holder(server.address, "P2") as holder:
        assert str(written(pair, "/archive/_doc/P2", X_Forelock_Held=holder.held)[0] - highest) in holder.held
        late = write(pair, "/archive/_doc/P2", X_Forelock_Held=stale.held, body={"n": 9})
        assert (late.status, late.code) == (409, "not_held"), late.text
    # What the engine gets of a holder of before, which stood still at the worst moment: its token as it is.
    pair.node_setting(enabled=False)
    late = pair.request("PUT", f"/archive/_doc/P2?version={highest}&version_type=external_gte", {"n": 9})
    pair.node_setting(enabled=None)
    assert (late.status, late.json["error"]["type"]) == (409, "version_conflict_engine_exception")
    assert pair.request("GET", "/archive/_doc/P2").json["_source"] == {"n": 1}
    again = refence(pair, "archive")
    assert again["refenced"] is False and int(again["highest_version"]) > highest
    stale.child.kill()
    stale.child.wait(30)


def test_it_is_for_an_index_with_fencing(pair):
    pair.create("unfenced")
    answer = pair.request("POST", REFENCE + "unfenced")
    assert answer.status == 400 and "index.forelock.fencing" in answer.text
    assert pair.request("POST", REFENCE + "missing").status == 404
    answer = pair.request("PUT", "/unfenced/_settings", {"index.forelock.fence": "mine"})
    assert answer.status == 400 and "_refence" in answer.text
