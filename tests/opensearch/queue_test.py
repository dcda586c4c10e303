"""Items of background bulks that run out of retries, and their replay by the command."""

import base64
import json
import os
import subprocess

import jsonschema
import pytest

from cluster import ROOT, Holder, Later, bulk, clean_environment, wait_until

WRITE_SCHEMA = json.loads((ROOT / "docs" / "opensearch-write.schema.json").read_text())
REFUSAL_SCHEMA = json.loads((ROOT / "docs" / "opensearch.schema.json").read_text())["$defs"]["refusal"]


class Letters:
    """The node's outbox, seen by the command, which belongs to the node's user."""

    def __init__(self, node):
        self.node = node
        self.outbox = os.path.join(node.home, "node1", "data", "nodes", "0", "forelock", "outbox.db")

    def run(self, *arguments, **environment):
        other = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}
        return subprocess.run(
            [os.environ["FORELOCK_BINARY"], "--zookeeper", self.node.zookeeper, "--set",
             "dlq.outbox.path=" + self.outbox, "dlq", *arguments],
            env=clean_environment(HOME=self.node.home, **environment), capture_output=True, text=True, timeout=120,
            check=False, **other)

    def list(self):
        result = self.run("list", "-o", "json")
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)["letters"]

    def payload(self, identity):
        record = json.loads(self.run("show", identity, "-o", "json").stdout)
        return json.loads(base64.b64decode(record["payload"]["data"]))

    def replay(self, *options):
        return self.run("replay", "--to-opensearch", self.node.urls[0], "--execute", *options)


@pytest.fixture
def letters(node):
    """An empty queue, and short waits in the background."""
    node.node_setting(background__timeout="700ms")
    one = Letters(node)
    yield one
    node.node_setting(background__timeout=None)
    one.run("purge", "--all", "--yes")


def send(node, index, *lines, **headers):
    answer = node.request("POST", f"/{index}/_bulk?forelock_queue=true&refresh=true", bulk(*lines), timeout=120,
                          **{"X_Forelock_Priority": "background", **headers})
    assert answer.status == 200, answer.text
    return [next(iter(item.values())) for item in answer.json["items"]]


def fill(node, index, *identifiers):
    node.create(index)
    for identifier in identifiers:
        assert node.request("PUT", f"/{index}/_doc/{identifier}", {"n": 0}).status == 201


def source(node, index, identifier):
    answer = node.request("GET", f"/{index}/_doc/{identifier}")
    return answer.json["_source"] if answer.status == 200 else None


def test_what_runs_out_of_retries_is_queued_and_replayed(node, server, letters):
    fill(node, "queued", 1, 4)
    before = node.stats()
    with Holder(server.address, "queued/1"), Holder(server.address, "queued/4"):
        items = send(node, "queued", {"index": {"_id": "0"}}, {"n": 1}, {"index": {"_id": "1"}}, {"n": 1},
                     {"create": {"_id": "2"}}, {"n": 2}, {"update": {"_id": "1"}}, {"doc": {"m": 3}},
                     {"delete": {"_id": "4"}}, {"index": {}}, {"n": 5})
        assert [item["status"] for item in items] == [201, 202, 201, 202, 202, 201], items
        errors = [item["error"] for item in items if item["status"] == 202]
        for error in errors:
            jsonschema.validate(error, REFUSAL_SCHEMA)
        assert [error["forelock_monitor"] for error in errors] == ["queued/1", "queued/1", "queued/4"]
        found = letters.list()
        assert [letter["id"] for letter in found] == [error["forelock_dead_letter"] for error in errors]
        assert {(letter["type"], letter["reason"], letter["attempts"], letter["max_attempts"]) for letter in found} \
            == {("opensearch_write", "lock_timeout", 2, 2)}
        payloads = [letters.payload(letter["id"]) for letter in found]
        for payload in payloads:
            jsonschema.validate(payload, WRITE_SCHEMA)
        assert [payload["op"] for payload in payloads] == ["index", "update", "delete"]
        assert source(node, "queued", 1) == {"n": 0}, "not written yet"
        result = letters.replay("--lock-timeout", "300")
        assert result.returncode == 75, result.stderr
        assert "409 lock_timeout" in result.stderr and "Save Content" in result.stderr, result.stderr
        assert [letter["tries"] for letter in letters.list()] == [0, 0, 0]
    result = letters.replay("-o", "json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["replayed"] == 3
    assert source(node, "queued", 1) == {"n": 1, "m": 3}, "in their order"
    assert source(node, "queued", 4) is None
    assert letters.list() == []
    after = node.stats()
    assert after["items_dead_lettered"] == before["items_dead_lettered"] + 3
    assert after["unguarded_writes"] == before["unguarded_writes"]


def test_what_gets_its_lock_meanwhile_is_written(node, server, letters):
    fill(node, "meanwhile", 1)
    node.node_setting(background__timeout="4s")
    with Holder(server.address, "meanwhile/1") as holder:
        later = Later(lambda: send(node, "meanwhile", {"index": {"_id": "0"}}, {"n": 1}, {"index": {"_id": "1"}},
                                   {"n": 1}, {"update": {"_id": "1"}}, {"doc": {"m": 2}}))
        wait_until(lambda: source(node, "meanwhile", 0), "the other document does not wait for the second attempt")
        assert node.held() <= 1
        holder.let_go()
        assert [item["status"] for item in later.get(120)] == [201, 200, 200]
    assert source(node, "meanwhile", 1) == {"n": 1, "m": 2}
    assert letters.list() == []
    assert node.stats()["unguarded_writes"] == 0


def test_what_opensearch_refuses_stays_in_the_queue(node, server, letters):
    fill(node, "stale", 1)
    known = node.request("GET", "/stale/_doc/1").json
    version = {"if_seq_no": known["_seq_no"], "if_primary_term": known["_primary_term"]}
    with Holder(server.address, "stale/1"):
        items = send(node, "stale", {"index": {"_id": "1", **version}}, {"n": 9}, {"index": {"_id": "1"}}, {"n": 7})
        assert [item["status"] for item in items] == [202, 202]
    assert node.request("PUT", "/stale/_doc/1", {"n": 2}).status == 200
    result = letters.replay()
    assert result.returncode == 1, result.stderr
    assert "409 version_conflict_engine_exception" in result.stderr, result.stderr
    assert [letter["tries"] for letter in letters.list()] == [1, 0], "the later one waits behind it"
    assert source(node, "stale", 1) == {"n": 2}


def test_a_replay_writes_under_locks_alone(node, server, letters):
    fill(node, "unlocked", 1)
    with Holder(server.address, "unlocked/1"):
        assert [item["status"] for item in send(node, "unlocked", {"delete": {"_id": "1"}})] == [202]
    assert node.request("PUT", "/unlocked/_settings", {"index.forelock.enabled": False}).status == 200
    result = letters.replay()
    assert result.returncode == 75, result.stderr
    assert "409 not_guarded" in result.stderr, result.stderr
    for send_one in (lambda: node.request("PUT", "/unlocked/_doc/1", {"n": 1}, X_Forelock_Required="true"),
                     lambda: node.request("POST", "/unlocked/_update/1", {"doc": {"n": 1}},
                                          X_Forelock_Required="true")):
        answer = send_one()
        assert (answer.status, answer.code) == (409, "not_guarded"), answer.text
    assert source(node, "unlocked", 1) == {"n": 0}
    assert len(letters.list()) == 1


def test_only_bulks_in_the_background_are_queued(node, server, letters):
    fill(node, "others", 1)
    node.request("POST", "/others/_refresh")
    with Holder(server.address, "others/1"):
        answer = node.request("POST", "/others/_bulk?forelock_queue=true", bulk({"delete": {"_id": "1"}}))
        assert answer.json["items"][0]["delete"]["status"] == 409, "it is in the foreground"
        answer = node.request("POST", "/others/_update_by_query", timeout=120, X_Forelock_Queue="true")
        assert [failure["status"] for failure in answer.json["failures"]] == [409], answer.text
    answer = node.request("POST", "/others/_bulk?forelock_queue=perhaps", bulk({"delete": {"_id": "1"}}))
    assert answer.status == 400 and "write true or false" in answer.text
    assert node.request("GET", "/others/_search?forelock_queue=true").status == 400
    assert letters.list() == []
