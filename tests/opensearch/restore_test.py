"""
A snapshot that is restored over its index while guarded writes go on; where there is fencing, beside a ZooKeeper that
was set up anew, whose tokens are below all versions.
"""

import pytest

from cluster import HAS, Later, Ledger, own_server, snapshots, wait_until

DOCUMENTS = 10
CLIENTS = 6
SOME = 60
server = own_server()


@pytest.fixture(scope="module")
def pair(server):
    with snapshots(server, "--heap", "256m", "--set", "forelock.zookeeper.session.timeout=4000",
                   "--set", "forelock.foreground.timeout=30s") as cluster:
        yield cluster


def identities(cluster):
    return {cluster.stats(node)["zookeeper"]["identity"] for node in (0, 1)}


def is_well(cluster):
    return all(cluster.stats(node)["health"]["status"] == "green" for node in (0, 1))


def raise_versions(cluster, index):
    """Far above the tokens of any ZooKeeper of a test, and fencing goes on from there."""
    cluster.node_setting(enabled=False)
    for document in range(DOCUMENTS):
        path = f"/{index}/_doc/{document}?version={2 ** 40}&version_type=external_gte"
        assert cluster.request("PUT", path, {"numbers": []}).status == 200
    cluster.node_setting(enabled=None)
    refence(cluster, index)


def refence(cluster, index):
    done = cluster.request("POST", f"/_plugins/_forelock/_refence/{index}", node=1)
    assert done.status == 200 and done.json["refenced"] is True, done.text


class Going:
    """Clients whose updates go on, and what of them is to be there in the end."""

    def __init__(self, ledger):
        self.ledger = ledger
        ledger.faults_to_come = True
        self.clients = [Later(lambda seed=seed: ledger.client(seed, 0)) for seed in range(CLIENTS)]

    def some(self, patience=120):
        goal = self.ledger.writes() + SOME
        wait_until(lambda: self.ledger.writes() >= goal, "writes go on", patience=patience)

    def is_told(self, answer):
        seen = self.ledger.answers[answer]
        wait_until(lambda: self.ledger.answers[answer] > seen + SOME, f"clients are told {answer}", patience=60)

    def confirmed(self):
        with self.ledger.lock:
            return [set(done) for done in self.ledger.done], next(self.ledger.numbers)

    def end(self, before, last):
        """before: what was confirmed when the snapshot began; last: the last number before it was restored."""
        self.ledger.faults_to_come = False
        for client in self.clients:
            client.get(120)
        for document, done in enumerate(self.ledger.done):
            self.ledger.done[document] = before[document] | {number for number in done if number > last}
        print(dict(self.ledger.answers))
        self.ledger.check()


def test_guarded_writes_go_on_after_a_restore(pair, server):
    pair.create("archive", **{"routing.allocation.require._name": "node1", "forelock.fencing": "fencing" in HAS})
    ledger = Ledger(pair, "archive", DOCUMENTS, nodes=[0, 1])
    ledger.make_documents()
    if "fencing" in HAS:
        raise_versions(pair, "archive")
    going = Going(ledger)
    going.some()
    before, _ = going.confirmed()
    assert pair.request("PUT", "/_snapshot/kept/1?wait_for_completion=true").status == 200
    going.some()
    if "fencing" in HAS:
        # Other programs' ZooKeeper is the nodes' too: this one has forgotten all numbers.
        known = identities(pair)
        assert server.command("wipe") == "ok"
        wait_until(lambda: not identities(pair) & known and is_well(pair), "both nodes are in the new one", patience=90)
        going.is_told("token_too_low")
    assert pair.request("POST", "/archive/_close").status == 200
    _, last = going.confirmed()
    restored = pair.request("POST", "/_snapshot/kept/1/_restore?wait_for_completion=true", {"indices": "archive"})
    assert restored.status == 200 and restored.json["snapshot"]["shards"]["failed"] == 0, restored.text
    if "fencing" in HAS:
        going.is_told("token_too_low")
        refence(pair, "archive")
    going.some()
    going.end(before, last)
