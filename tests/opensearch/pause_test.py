"""A node that stood still for longer than its session lived: its locks are others' by then."""

from cluster import Later, bulk, needs, signal, wait_until

DOCUMENTS = 200
SLOW = {"source": "String s = ''; for (int i = 0; i < 6000; ++i) { s += i } ctx._source.n = s.length()"}


@needs("scripts", "fencing")  # whose engine looks at each document
def test_what_is_left_of_a_bulk_is_refused(node, server):
    node.create("paused", **{"forelock.fencing": True})
    node.node_setting(on_unavailable="allow")  # for those that have no lock yet; these have lost theirs
    before = node.stats()
    lines = [line for i in range(DOCUMENTS) for line in (
        {"update": {"_id": str(i)}}, {"script": SLOW, "upsert": {}, "scripted_upsert": True})]
    later = Later(lambda: node.request("POST", "/paused/_bulk", bulk(*lines), timeout=120))

    def written():
        return node.request("GET", "/paused/_stats/indexing").json["_all"]["primaries"]["indexing"]["index_total"]

    wait_until(written, "the primary has begun")
    node.signal(signal.SIGSTOP)
    try:
        wait_until(lambda: server.ephemeral_nodes() == 0, "the server has ended the node's session", patience=60)
    finally:
        node.signal(signal.SIGCONT)
    items = [item["update"] for item in later.get(120).json["items"]]
    done = [item for item in items if item["status"] == 201]
    refused = [item for item in items if item["status"] == 409]
    assert len(done) + len(refused) == DOCUMENTS
    assert done and refused, f"{len(done)} done"
    assert {item["error"]["forelock_code"] for item in refused} == {"lock_unhealthy"}
    assert node.stats()["refused_on_primary"] == before["refused_on_primary"] + len(refused)
    node.request("POST", "/paused/_refresh")
    assert node.request("GET", "/paused/_count").json["count"] == len(done)
    wait_until(lambda: node.stats()["zookeeper"]["connected"], "it has another session")
    assert node.request("PUT", "/paused/_doc/1", {"n": 1}).status in (200, 201)
    for priority in ("foreground", "background"):  # the bulk is background work
        assert node.stats()[priority]["allowed"] == before[priority]["allowed"]
    node.node_setting(on_unavailable=None)
