"""Items of background bulks that run out of retries, and their replay by the command."""

import base64
import http.client
import json
import os
import subprocess
from urllib.parse import urlsplit

import jsonschema
import pytest

from cluster import ROOT, Holder, Later, bulk, clean_environment, needs, wait_until

pytestmark = needs("queue")
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
        assert "429 lock_timeout" in result.stderr and "Save Content" in result.stderr, result.stderr
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


def test_what_needs_no_lock_is_written_without_zookeeper(node, server, letters):
    fill(node, "lockless", 1)
    before = node.stats()["unguarded_writes"]
    server.command("stall")
    try:
        wait_until(lambda: not node.stats()["zookeeper"]["connected"], "the outage is noticed")
        items = send(node, "lockless", {"index": {"_id": "1"}}, {"n": 1}, {"index": {}}, {"n": 2})
    finally:
        server.command("flow")
    assert [item["status"] for item in items] == [202, 201], items
    assert items[0]["error"]["forelock_code"] == "queued"
    assert node.request("GET", "/lockless/_count").json["count"] == 2
    assert node.stats()["unguarded_writes"] == before
    assert [letter["reason"] for letter in letters.list()] == ["connection_loss"]
    wait_until(lambda: node.stats()["zookeeper"]["connected"], "it is back")


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
        assert answer.json["items"][0]["delete"]["status"] == 429, "it is in the foreground"
    with Holder(server.address, "others/1") as holder:
        before = node.stats()["background"]["timed_out"]
        job = Later(lambda: node.request("POST", "/others/_update_by_query", timeout=120, X_Forelock_Queue="true"))
        wait_until(lambda: node.stats()["background"]["timed_out"] > before, "it did not get the lock")
        holder.let_go()
        answer = job.get(120).json
        assert (answer["updated"], answer["failures"]) == (1, []), "it goes on"
    answer = node.request("POST", "/others/_bulk?forelock_queue=perhaps", bulk({"delete": {"_id": "1"}}))
    assert answer.status == 400 and "write true or false" in answer.text
    assert node.request("GET", "/others/_search?forelock_queue=true").status == 400
    assert letters.list() == []


def test_documents_without_an_id_are_tried_again(node, server, letters):
    node.create("made", **{"forelock.monitor": "routing"})
    node.node_setting(background__timeout="4s")
    with Holder(server.address, "R1") as holder:
        later = Later(lambda: send(node, "made", {"index": {"routing": "R1"}}, {"n": 1},
                                   {"index": {"routing": "R1", "_id": "1"}}, {"n": 2},
                                   {"create": {"routing": "R1"}}, {"n": 3}, {"index": {"routing": "R2"}}, {"n": 4}))
        wait_until(lambda: node.request("GET", "/made/_count").json["count"], "the other one does not wait")
        holder.let_go()
        assert [item["status"] for item in later.get(120)] == [201, 201, 201, 201]
    assert node.request("GET", "/made/_count").json["count"] == 4
    assert letters.list() == []


def test_what_is_no_text_is_answered(node, server, letters):
    fill(node, "cut", 1)
    with Holder(server.address, "cut/1"):
        connection = http.client.HTTPConnection(urlsplit(node.urls[0]).netloc, timeout=60)
        connection.request("POST", "/cut/_bulk?forelock_queue=true", b'{"index":{"_id":"1"}}\n{"n":1}\xf4\n',
                           {"Content-Type": "application/x-ndjson", "X-Forelock-Priority": "background"})
        item = json.loads(connection.getresponse().read())["items"][0]["index"]
        connection.close()
        assert (item["status"], item["error"]["forelock_code"]) == (409, "lock_timeout"), item
        assert "not UTF-8" in item["error"]["reason"]
    assert letters.list() == []
    assert node.held() == 0


def test_single_documents_are_not_queued(node, server, letters):
    fill(node, "single", 1)
    background = {"X_Forelock_Queue": "true", "X_Forelock_Priority": "background"}
    with Holder(server.address, "single/1"), Holder(server.address, "unborn/1"):
        for answer in (node.request("PUT", "/single/_doc/1", {"n": 1}, **background),
                       node.request("DELETE", "/single/_doc/1", **background),
                       node.request("POST", "/single/_update/1", {"doc": {"n": 1}}, **background)):
            assert (answer.status, answer.code) == (429, "lock_timeout"), answer.text
    answer = node.request("PUT", "/single/_doc/1", {"n": 1}, X_Forelock_Queue="perhaps")
    assert answer.status == 400 and "write true or false" in answer.text
    assert letters.list() == []


def test_a_write_is_replayed_without_pipelines(node, server, letters):
    fill(node, "piped", 1, 2)
    with Holder(server.address, "piped/1"), Holder(server.address, "piped/2"), Holder(server.address, "piped/3"), \
            Holder(server.address, "piped/4"), Holder(server.address, "piped/5"):
        items = send(node, "piped", {"update": {"_id": "1"}}, {"doc": {"m": 1}, "_source": True},
                     {"update": {"_id": "2", "retry_on_conflict": 2}},
                     {"script": {"source": "ctx._source.n += params.by", "params": {"by": 5}}},
                     {"update": {"_id": "3"}}, {"doc": {"m": 3}, "upsert": {"n": 3}},
                     {"update": {"_id": "4"}}, {"doc": {"m": 4}, "doc_as_upsert": True},
                     {"index": {"_id": "5"}}, {"n": 5})
        assert [item["status"] for item in items] == [202] * 5, items
    # This distribution has no processors; a pipeline that is not there tells that it was to be executed.
    assert node.request("PUT", "/piped/_settings", {"index.default_pipeline": "none"}).status == 200
    answer = node.request("POST", "/piped/_update/1", {"doc": {"n": 9}})
    assert answer.status == 400 and "[none] does not exist" in answer.text, answer.text
    result = letters.replay("-o", "json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["replayed"] == 5
    assert [source(node, "piped", i) for i in range(1, 6)] == [{"n": 0, "m": 1}, {"n": 5}, {"n": 3}, {"m": 4}, {"n": 5}]
    assert letters.list() == []


def test_an_update_that_opensearch_refuses_stays_in_the_queue(node, server, letters):
    fill(node, "refusing", 1)
    known = node.request("GET", "/refusing/_doc/1").json
    version = {"if_seq_no": known["_seq_no"], "if_primary_term": known["_primary_term"]}
    with Holder(server.address, "refusing/1"):
        items = send(node, "refusing", {"update": {"_id": "1", **version}}, {"doc": {"n": 1}})
        assert [item["status"] for item in items] == [202], items
        result = letters.replay("--lock-timeout", "300")
        assert result.returncode == 75 and "429 lock_timeout" in result.stderr, result.stderr
    assert node.request("PUT", "/refusing/_doc/1", {"n": 2}).status == 200
    result = letters.replay()
    assert result.returncode == 1, result.stderr
    assert "409 version_conflict_engine_exception" in result.stderr, result.stderr
    assert [letter["tries"] for letter in letters.list()] == [1]


def test_a_data_streams_documents_are_replayed(node, server, letters):
    template = {"index_patterns": ["events"], "data_stream": {}, "template": {"settings": {
        "number_of_shards": 1, "number_of_replicas": 0, "forelock.enabled": True, "forelock.monitor": "id"}}}
    assert node.request("PUT", "/_index_template/events", template).status == 200
    assert node.request("PUT", "/_data_stream/events").status == 200
    at = "2026-01-01T00:00:00Z"
    for identifier in ("S1", "S2"):
        assert node.request("PUT", f"/events/_doc/{identifier}?op_type=create", {"@timestamp": at}).status == 201
    node.request("POST", "/events/_refresh")
    found = node.request("GET", "/events/_search?seq_no_primary_term=true").json
    hits = {hit["_id"]: hit for hit in found["hits"]["hits"]}
    index = hits["S1"]["_index"]
    version = {"if_seq_no": hits["S1"]["_seq_no"], "if_primary_term": hits["S1"]["_primary_term"]}
    with Holder(server.address, "S1"), Holder(server.address, "S2"), Holder(server.address, "S3"):
        items = send(node, index, {"index": {"_id": "S1", **version}}, {"@timestamp": at, "n": 1},
                     {"delete": {"_id": "S2"}})
        items += send(node, "events", {"create": {"_id": "S3"}}, {"@timestamp": at, "n": 3})
        assert [item["status"] for item in items] == [202, 202, 202], items
    assert node.request("POST", "/events/_rollover").status == 200
    result = letters.replay("-o", "json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["replayed"] == 3
    assert source(node, index, "S1") == {"@timestamp": at, "n": 1}
    assert source(node, index, "S2") is None
    node.request("POST", "/events/_refresh")
    assert {hit["_id"] for hit in node.request("GET", "/events/_search").json["hits"]["hits"]} == {"S1", "S3"}


def late(node, path, identifier):
    """A bulk whose one item is tried again: it was late once."""
    before = node.stats()["background"]
    later = Later(lambda: send(node, path, {"index": {"_id": identifier}}, {"n": 1}))
    wait_until(lambda: node.stats()["background"]["timed_out"] > before["timed_out"], "it is late")
    return later


def test_an_index_that_is_deleted_does_not_come_back(node, server, letters):
    fill(node, "deleted", 1)
    node.node_setting(background__timeout="4s")
    with Holder(server.address, "deleted/1") as holder:
        later = late(node, "deleted", "1")
        assert node.request("DELETE", "/deleted").status == 200
        holder.let_go()
        item, = later.get(120)
    assert (item["status"], item["error"]["type"]) == (404, "index_not_found_exception"), item
    assert node.request("HEAD", "/deleted").status == 404
    assert letters.list() == []


def test_an_alias_that_is_removed_does_not_come_back(node, server, letters):
    fill(node, "behind", 1)
    alias = {"index": "behind", "alias": "front"}
    assert node.request("POST", "/_aliases", {"actions": [{"add": {**alias, "routing": "r"}}]}).status == 200
    node.node_setting(background__timeout="4s")
    with Holder(server.address, "behind/1") as holder:
        later = late(node, "front", "1")
        assert node.request("POST", "/_aliases", {"actions": [{"remove": alias}]}).status == 200
        holder.let_go()
        item, = later.get(120)
    assert item["status"] == 200 and item["_index"] == "behind", item
    assert node.request("HEAD", "/front").status == 404
    answer = node.request("GET", "/behind/_doc/1").json
    assert (answer["_source"], answer["_routing"]) == ({"n": 1}, "r")
    assert node.stats()["unguarded_writes"] == 0


def test_a_replay_makes_no_index(node, server, letters):
    fill(node, "removed", 1)
    with Holder(server.address, "removed/1"):
        assert [item["status"] for item in send(node, "removed", {"index": {"_id": "1"}}, {"n": 1})] == [202]
    assert node.request("DELETE", "/removed").status == 200
    result = letters.replay()
    assert result.returncode == 75, result.stderr
    assert "its index is not there" in result.stderr, result.stderr
    assert node.request("HEAD", "/removed").status == 404
    assert [letter["tries"] for letter in letters.list()] == [0]


def test_the_question_for_the_plugin_is_answered_in_brief(node):
    answer = node.request("GET", "/_plugins/_forelock/stats?filter_path=cluster_name,nodes.*.name").json
    assert [list(one) for one in answer["nodes"].values()] == [["name"]]


def test_a_client_that_goes_ends_its_late_items(node, server, letters):
    fill(node, "left", 1)
    node.node_setting(background__timeout="4s")
    with Holder(server.address, "left/1"):
        connection = http.client.HTTPConnection(urlsplit(node.urls[0]).netloc, timeout=60)
        before = node.stats()["background"]
        connection.request("POST", "/left/_bulk?forelock_queue=true", bulk({"delete": {"_id": "1"}}),
                           {"Content-Type": "application/x-ndjson", "X-Forelock-Priority": "background"})
        wait_until(lambda: node.stats()["background"]["timed_out"] > before["timed_out"], "it is late")
        connection.close()
        wait_until(lambda: node.stats()["background"]["cancelled"] > before["cancelled"], "it is cancelled")
        assert node.held() == 0
    assert letters.list() == []
    assert source(node, "left", 1) == {"n": 0}
