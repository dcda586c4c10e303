"""Writes under a lock that their client holds itself, from before it reads until after it has written."""

import os
import subprocess
from pathlib import Path

import pytest

from cluster import BUILD, HAS, ROOT, Holder, Later, bulk, clean_environment, needs, valid, wait_until

LONG = int(os.environ.get("FORELOCK_LONG", "1"))
BINARY = os.environ["FORELOCK_BINARY"]
# What a person writes: the token goes from the command to the request.
ADD = """
n=$(curl -sS "$1" | jq ._source.n)
curl -sS --fail-with-body -X PUT -H "X-Forelock-Held: $FORELOCK_HELD" -H "Content-Type: application/json" \
  -d "{\\"n\\":$((n + 1))}" "$1"
"""


def write(node, path, held=None, body=None, method="PUT", **headers):
    if held is not None:
        headers["X_Forelock_Held"] = held
    return node.request(method, path, body or {"n": 1}, X_Forelock_Report="true", **headers)


def refused(answer, code="not_held", status=409):
    assert (answer.status, answer.code) == (status, code), answer.text
    valid(answer.json, "refused_write")
    return answer.json["error"]["reason"]


def invalid(answer, *words):
    assert answer.status == 400 and all(word in answer.text for word in words), answer.text


def token_of(holder):
    return holder.held.rpartition("=")[2]


@pytest.fixture(scope="module")
def articles(node):
    node.create("own", **{"forelock.monitor": "id", "forelock.fencing": "fencing" in HAS})
    return node


def is_fenced(node, path, holder):
    """Whether its version is the token, where there is fencing."""
    return "fencing" not in HAS or str(node.request("GET", path).json["_version"]) == token_of(holder)


def test_the_holder_writes_under_its_own_lock(articles, server):
    with Holder(server.address, "P1") as holder:
        assert holder.held.startswith("P1=")
        granted = articles.stats()["zookeeper"]["locks_granted"]
        for send in (lambda: write(articles, "/own/_doc/P1", holder.held),
                     lambda: write(articles, "/own/_doc/P1", token_of(holder)),
                     lambda: write(articles, "/own/_update/P1", holder.held, {"doc": {"n": 2}}, method="POST"),
                     lambda: write(articles, "/own/_doc/P1", X_Opaque_Id="shop;X-Forelock-Held=" + holder.held),
                     lambda: write(articles, "/own/_bulk", holder.held, bulk({"index": {"_id": "P1"}}, {"n": 3}))):
            answer = send()
            assert answer.status in (200, 201) and '"error"' not in answer.text, answer.text
            assert answer.headers["x-forelock-token"] == token_of(holder)
            assert is_fenced(articles, "/own/_doc/P1", holder)
        assert articles.stats()["zookeeper"]["locks_granted"] == granted, "the node takes no lock"
        refused(write(articles, "/own/_doc/P1?timeout=300ms"), "lock_timeout", 429)
    assert write(articles, "/own/_doc/P1").status == 200, "others follow"
    assert articles.stats()["unguarded_writes"] == 0


@needs("jobs")
def test_what_a_job_does_is_under_the_lock_too(articles, server):
    with Holder(server.address, "Q1") as holder:
        assert write(articles, "/own/_doc/Q1?refresh=true", holder.held).status == 201
        query = {"query": {"ids": {"values": ["Q1"]}}, "script": {"source": "ctx._source.n = 5"}}
        answer = write(articles, "/own/_update_by_query", holder.held, query, "POST")
        assert (answer.status, answer.json["updated"]) == (200, 1), answer.text
        assert is_fenced(articles, "/own/_doc/Q1", holder)


def test_another_token_is_refused(articles, server):
    with Holder(server.address, "R1") as first:
        assert write(articles, "/own/_doc/R1", first.held).status == 201
    wait_until(lambda: write(articles, "/own/_doc/R1", first.held).status == 409, "the node is told")
    reason = refused(write(articles, "/own/_doc/R1", first.held))
    assert "nobody holds it" in reason and "read the document anew" in reason
    with Holder(server.address, "R1") as second, Holder(server.address, "R2") as other:
        for held in (first.held, token_of(other), str(2**62)):
            for path, method in (("/own/_doc/R1", "PUT"), ("/own/_update/R1", "POST")):
                answer = write(articles, path, held, {"doc": {"n": 9}}, method)
                assert "Save Content" in refused(answer) and token_of(second) in answer.text
        assert "names R2" in refused(write(articles, "/own/_doc/R1", other.held))
        assert articles.request("GET", "/own/_doc/R1").json["_source"] == {"n": 1}
        assert write(articles, "/own/_doc/R1", second.held, {"n": 2}).status == 200
    stats = articles.stats()
    assert stats["foreground"]["not_held"] >= 7 and stats["held"]["foreground"] == {"requests": 0, "bytes": 0}


def test_a_lock_that_is_taken_away(articles, server):
    with Holder(server.address, "T1", "--on-lost", "warn") as first:
        assert write(articles, "/own/_doc/T1", first.held).status == 201
        holder = articles.request("GET", "/_plugins/_forelock/locks/T1").json["holder"]
        released = subprocess.run(
            [BINARY, "--zookeeper", server.address, "release", "T1", "--reason", "test", "--holder",
             f"{holder['node'] or holder['session']}@{holder['token']}"],
            env=clean_environment(), capture_output=True, text=True, check=False)
        assert released.returncode == 0, released.stderr
        with Holder(server.address, "T1") as second:
            wait_until(lambda: write(articles, "/own/_doc/T1", first.held, {"n": 2}).status == 409, "the node is told")
            assert write(articles, "/own/_doc/T1", second.held, {"n": 3}).status == 200
        refused(write(articles, "/own/_doc/T1", first.held, {"n": 4}))
    assert articles.request("GET", "/own/_doc/T1").json["_source"] == {"n": 3}


def test_a_bulk_under_several_locks(articles, server):
    with Holder(server.address, "S 1") as one, Holder(server.address, "S,2") as two, Holder(server.address, "S3"):
        both = one.held + ", " + two.held
        lines = bulk({"index": {"_id": "S 1"}}, {"n": 1}, {"index": {"_id": "S,2"}}, {"n": 2},
                     {"index": {"_id": "S3"}}, {"n": 3}, {"index": {}}, {"n": 4})
        items = [item["index"] for item in write(articles, "/own/_bulk", both, lines, "POST").json["items"]]
        assert [item["status"] for item in items] == [201, 201, 409, 201], items
        assert items[2]["error"]["forelock_code"] == "not_held" and items[2]["error"]["forelock_monitor"] == "S3"
        for path, holder in (("/own/_doc/S%201", one), ("/own/_doc/S%2C2", two)):
            assert is_fenced(articles, path, holder), "each has the token of its own lock"
            assert write(articles, path, holder.held).status == 200
        answer = write(articles, "/own/_bulk", token_of(one), lines, "POST")
        assert {item["index"]["status"] for item in answer.json["items"]} == {400}
        assert "3 monitors" in answer.text
    set_of_two = Holder(server.address, "S 1", "-m", "S,2")
    with set_of_two:
        lines = bulk({"index": {"_id": "S 1"}}, {"n": 5}, {"delete": {"_id": "S,2"}})
        answer = write(articles, "/own/_bulk", set_of_two.held, lines, "POST")
        assert answer.json["errors"] is False, answer.text


def test_what_cannot_be_checked_is_not_written(articles):
    invalid(write(articles, "/own/_doc/U1", "P1"), "X-Forelock-Held", "entry 1", "monitor=token")
    invalid(write(articles, "/own/_doc/U1", "P1=5, P2"), "entry 2", "'P2'")
    assert articles.request("GET", "/own/_doc/U1").status == 404


def test_an_index_that_is_not_guarded_refuses_it(node, server):
    node.create("own-plain", **{"forelock.enabled": False})
    with Holder(server.address, "P1") as holder:
        refused(write(node, "/own-plain/_doc/P1", holder.held), "not_guarded")
    assert node.request("GET", "/own-plain/_doc/P1").status == 404


def test_without_zookeeper_it_is_not_known(articles, server):
    with Holder(server.address, "V1") as holder:
        articles.node_setting(on_unavailable="allow")
        server.command("stall")
        try:
            wait_until(lambda: not articles.stats()["zookeeper"]["connected"], "it is gone")
            refused(write(articles, "/own/_doc/V1", holder.held), "connection_loss", 503)
        finally:
            server.command("flow")
            articles.node_setting(on_unavailable=None)
        wait_until(lambda: articles.stats()["zookeeper"]["connected"], "it is back")


def test_no_update_is_lost_that_reads_and_writes_under_a_lock(articles, server):
    documents, by_command, by_java = 3, 8 * LONG, 60 * LONG
    url = articles.urls[0]
    articles.create("sums", **{"forelock.monitor": "id", "forelock.fencing": "fencing" in HAS})
    for document in range(documents):
        assert write(articles, f"/sums/_doc/{document}", body={"n": 0}).status == 201
    source = Path(__file__).with_name("ReadModifyWrite.java")
    java = ["java", "-cp", f"{BUILD}/opensearch/java/forelock-0.1.0.jar",
            f"-Dforelock.native.library={BUILD}/java/native/libforelock_jni.so", str(source), server.address,
            url + "/sums", str(documents), str(by_java)]

    def run(command):
        return subprocess.run(command, env=clean_environment(), capture_output=True, text=True, check=False,
                              timeout=300, cwd=ROOT)

    def add_by_command(client):
        for i in range(by_command):
            document = str((client + i) % documents)
            done = run([BINARY, "--zookeeper", server.address, "run", "-m", document, "--timeout", "60s", "--",
                        "sh", "-ec", ADD, "add", f"{url}/sums/_doc/{document}"])
            assert done.returncode == 0, done.stdout + done.stderr
        return by_command

    clients = [Later(lambda c=client: add_by_command(c)) for client in range(3)] + \
        [Later(lambda: run(java)) for _ in range(2)]
    results = [client.get(300) for client in clients]
    for result in results[3:]:
        assert result.returncode == 0, result.stderr
    sums = [articles.request("GET", f"/sums/_doc/{document}").json["_source"]["n"] for document in range(documents)]
    assert sum(sums) == 3 * by_command + 2 * by_java, sums
