"""Locks that linger: two nodes whose locks stay with them while no other program wants them."""

import pytest

from cluster import ENGINE, HAS, Cluster, Holder, Later, Ledger, bulk, signal, valid, wait_until

LINGERING = 100  # at most so many at a time
DOCUMENTS = 4
WRITES = 400
CLIENTS = 8
FENCING = [False, True] if "fencing" in HAS else [False]


@pytest.fixture(scope="module")
def cluster(server):
    one = Cluster(server.address, "--nodes", "2", "--heap", "256m", "--set", "forelock.zookeeper.lock.linger=60000",
                  "--set", f"forelock.zookeeper.lock.linger.max={LINGERING}",
                  "--set", "forelock.zookeeper.session.timeout=10000",
                  "--set", "forelock.zookeeper.monitor.linger=300", "--set", "forelock.foreground.timeout=60s")
    assert one.urls, one.result.stderr
    yield one
    one.close()


def write(cluster, path, body=None, node=0, method="PUT"):
    answer = cluster.request(method, path, body or {"n": 1}, node=node, X_Forelock_Report="true")
    assert answer.status in (200, 201), answer.text
    return answer


def token(answer):
    return int(answer.headers["x-forelock-token"])


def zookeeper(cluster, node=0):
    return cluster.stats(node)["zookeeper"]


def test_monitors_of_buckets_stay_and_those_of_documents_go(cluster):
    def monitors():
        found = cluster.request("GET", "/_plugins/_forelock/locks?all=true").json["monitors"]
        return {one["monitor"] for one in found if one["monitor"].startswith("unused")}

    cluster.create("unused-buckets", **{"forelock.monitor": "bucket:4"})
    cluster.create("unused-documents")
    lines = [line for id in range(40) for line in ({"index": {"_id": str(id)}}, {"n": id})]
    for index in ("unused-buckets", "unused-documents"):
        answer = cluster.request("POST", f"/{index}/_bulk", bulk(*lines))
        assert not answer.json["errors"], answer.text
    names = ["unused!/~0", "unused-named"]
    answer = cluster.request("POST", "/_plugins/_forelock/leases", {"monitors": names})
    assert answer.status == 200, answer.text
    assert monitors() >= set(names)
    assert cluster.request("DELETE", f"/_plugins/_forelock/leases/{answer.json['id']}").status == 200
    wait_until(lambda: monitors() == {f"unused-buckets/~{n}" for n in range(4)}, "the buckets alone are left")


def test_a_node_that_writes_again_asks_no_server(cluster):
    cluster.create("again")
    once = token(write(cluster, "/again/_doc/1"))
    assert zookeeper(cluster)["locks_lingering"] == 0, "most documents are written once"
    first = token(write(cluster, "/again/_doc/1"))
    assert first > once
    wait_until(lambda: zookeeper(cluster)["locks_lingering"] == 1, "it lingers")
    before = zookeeper(cluster)
    assert {token(write(cluster, "/again/_doc/1")) for _ in range(10)} == {first}, "its sections share the token"
    assert token(write(cluster, "/again/_update/1", {"doc": {"n": 2}}, method="POST")) == first
    after = zookeeper(cluster)
    assert after["locks_taken_again"] == before["locks_taken_again"] + 11
    assert after["locks_granted"] == before["locks_granted"]
    monitors = cluster.request("GET", "/_plugins/_forelock/locks").json["monitors"]
    assert [one["monitor"] for one in monitors] == ["again/1"], "to others it is held"
    valid({"monitors": monitors}, "locks")
    assert monitors[0]["holder"]["owner"]["lingerMs"] == 60000
    assert "alertAt" not in monitors[0]["holder"]["owner"]
    row, = cluster.request("GET", "/_cat/forelock?format=json").json
    assert (row["monitor"], row["linger_ms"]) == ("again/1", "60000")
    text = cluster.request("GET", "/_plugins/_forelock/metrics").text
    assert f"forelock_{ENGINE}_locks_lingering 1" in text


def test_a_bulk_takes_its_locks_again(cluster):
    cluster.create("bulks")
    lines = [line for i in range(LINGERING) for line in ({"index": {"_id": str(i)}}, {"n": i})]
    for _ in range(2):
        assert cluster.request("POST", "/bulks/_bulk", bulk(*lines)).json["errors"] is False
    wait_until(lambda: zookeeper(cluster)["locks_lingering"] == LINGERING, "the one of another test is given up")
    before = zookeeper(cluster)
    assert cluster.request("POST", "/bulks/_bulk", bulk(*lines)).json["errors"] is False
    after = zookeeper(cluster)
    assert after["locks_taken_again"] == before["locks_taken_again"] + LINGERING
    more = [line for i in range(3 * LINGERING) for line in ({"index": {"_id": str(i)}}, {"n": i})]
    answer = cluster.request("POST", "/bulks/_bulk", bulk(*more), X_Forelock_Priority="foreground")
    assert answer.json["errors"] is False
    assert zookeeper(cluster)["locks_lingering"] <= LINGERING


def test_others_get_it_at_once(cluster, server):
    cluster.create("wanted")
    write(cluster, "/wanted/_doc/1")
    first = token(write(cluster, "/wanted/_doc/1"))
    with Holder(server.address, "wanted/1") as holder:
        later = Later(lambda: write(cluster, "/wanted/_doc/1"))
        wait_until(lambda: cluster.held() == 1, "it waits")
        holder.let_go()
        second = token(later.get())
    third = token(write(cluster, "/wanted/_doc/1", node=1))
    background = cluster.request("PUT", "/wanted/_doc/1", {"n": 1}, node=1, X_Forelock_Priority="background",
                                 X_Forelock_Report="true")
    assert first < second < third < token(background), "a lock that was handed over has another token"


@pytest.mark.parametrize("fencing", FENCING)
def test_its_record_says_whether_it_may_linger(cluster, server, fencing):
    index = f"records-{fencing}".lower()
    cluster.create(index, **{"forelock.fencing": fencing})
    with Holder(server.address, f"{index}/1") as holder:
        later = Later(lambda: write(cluster, f"/{index}/_doc/1"))
        wait_until(lambda: cluster.held() == 1, "it waits")
        shown = []

        def queued():
            shown[:] = valid(cluster.request("GET", f"/_plugins/_forelock/locks/{index}%2F1").json, "lock")["queue"]
            return shown

        wait_until(queued, "it is in the queue")
        assert ("lingerMs" in shown[0]["owner"]) != fencing
        assert "expectedRuntimeMs" not in shown[0]["owner"], "nothing is known of how long it takes"
        holder.let_go()
        later.get()


@pytest.mark.parametrize("fencing", FENCING)
def test_two_nodes_by_turns(cluster, fencing):
    index = "turns-fenced" if fencing else "turns"
    cluster.create(index, **{"forelock.fencing": fencing, "routing.allocation.require._name": "node1"})
    last = 0
    for turn in range(6):
        for _ in range(3):
            answer = write(cluster, f"/{index}/_doc/1", {"turn": turn}, node=turn % 2)
            tokens = [token(answer)]
            # Its token is the highest of all that it locks, and with fencing the version of each document.
            answer = cluster.request("POST", f"/{index}/_bulk", bulk(
                {"index": {"_id": "1"}}, {"turn": turn}, {"index": {"_id": f"other{turn}"}}, {"turn": turn}),
                node=turn % 2, X_Forelock_Report="true")
            assert answer.json["errors"] is False, answer.text
            tokens.append(token(answer))
            tokens.append(token(write(cluster, f"/{index}/_update/1", {"doc": {"turn": turn + 10}},
                                      node=turn % 2, method="POST")))
            if fencing:
                assert last < tokens[0] < tokens[1] < tokens[2], "an earlier section's write is told from a later one's"
                last = tokens[2]
                assert cluster.request("GET", f"/{index}/_doc/1").json["_version"] == last
        assert cluster.request("GET", f"/{index}/_doc/1").json["_source"] == {"turn": turn + 10}
    assert cluster.stats(0)["refused_on_primary"] == 0


@pytest.mark.parametrize("fencing", FENCING)
def test_no_update_is_lost(cluster, fencing):
    index = "ledger-fenced" if fencing else "ledger"
    cluster.create(index, **{"forelock.fencing": fencing})
    ledger = Ledger(cluster, index, DOCUMENTS, nodes=[0])
    ledger.make_documents()
    before = zookeeper(cluster)["locks_taken_again"]
    clients = [Later(lambda seed=seed: ledger.client(seed, WRITES)) for seed in range(CLIENTS)]
    wait_until(lambda: ledger.writes() >= WRITES / 4, "one node writes alone", patience=120)
    ledger.nodes = [0, 1]
    for client in clients:
        client.get(300)
    assert ledger.check() == 0, ledger.answers
    assert set(ledger.answers) <= {"200", "lock_timeout"}, ledger.answers
    taken = zookeeper(cluster)["locks_taken_again"] - before
    assert (taken == 0) == fencing, f"{taken} sections had no grant of their own"


def test_a_node_that_ends_leaves_no_lock(cluster, server):
    cluster.create("ending", **{"routing.allocation.require._name": "node1"})
    for _ in range(2):
        write(cluster, "/ending/_doc/1", node=1)
    wait_until(lambda: zookeeper(cluster, 1)["locks_lingering"] > 0, "its lock lingers")
    cluster.signal(signal.SIGTERM, node=1)
    wait_until(lambda: not cluster.runs(1), "it has ended")
    assert write(cluster, "/ending/_doc/1").status == 200
    cluster.signal(signal.SIGTERM)
    wait_until(lambda: not cluster.runs() and server.ephemeral_nodes() == 0, "no lock is left")
