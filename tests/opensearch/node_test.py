"""Guarded writes on one node: what they wait for, what they are answered, and what is left."""

import http.client
import json
import re
import time
import zlib
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from cluster import ENGINE, ROOT, Holder, Later, bulk, needs, valid, wait_until


def write(node, index, identifier, body=None, **more):
    return node.request("PUT", f"/{index}/_doc/{identifier}", body or {"n": 1}, **more)


def refused(answer, status, code):
    """The whole body, as the schema has it, of one write that was not let through."""
    assert (answer.status, answer.code) == (status, code), answer.text
    valid(answer.json, "refused_write")
    assert answer.json["status"] == status
    return answer.json["error"]


def locks(node):
    return valid(node.request("GET", "/_plugins/_forelock/locks").json, "locks")["monitors"]


def queue(node, monitor):
    answer = node.request("GET", "/_plugins/_forelock/locks/" + monitor.replace("/", "%2F"))
    return valid(answer.json, "lock")["queue"] if answer.status == 200 else []


def test_each_kind_of_write_takes_the_lock_and_gives_it_back(node):
    node.create("kinds")
    granted = node.stats()["foreground"]["granted"]
    answers = [
        write(node, "kinds", 1, X_Forelock_Report="true"),
        node.request("POST", "/kinds/_update/1", {"doc": {"n": 2}}, X_Forelock_Report="true"),
        node.request("POST", "/kinds/_update/1", {"doc": {"n": 2}}, X_Forelock_Report="true"),  # changes nothing
        node.request("DELETE", "/kinds/_doc/1", X_Forelock_Report="true"),
    ]
    assert [answer.status for answer in answers] == [201, 200, 200, 200]
    tokens = [int(answer.headers["x-forelock-token"]) for answer in answers]
    assert tokens == sorted(set(tokens)), "each has a later grant"
    assert all(int(answer.headers["x-forelock-wait-ms"]) >= 0 for answer in answers)
    assert "x-forelock-token" not in write(node, "kinds", 2).headers
    answer = node.request("POST", "/_bulk", bulk(
        {"index": {"_index": "kinds", "_id": "b"}}, {"n": 1}, {"index": {"_index": "kinds", "_id": "a"}}, {"n": 1},
        {"update": {"_index": "kinds", "_id": "b"}}, {"doc": {"n": 2}}, {"delete": {"_index": "kinds", "_id": "a"}},
        {"index": {"_index": "kinds"}}, {"n": 1}))
    assert [next(iter(item.values()))["status"] for item in answer.json["items"]] == [201, 201, 200, 200, 201]
    assert node.stats()["foreground"]["granted"] == granted + 6, "a shard's part of a bulk counts once"
    assert node.stats()["unguarded_writes"] == 0
    wait_until(lambda: locks(node) == [], "all locks are given back")


def test_a_bulk_over_several_shards_and_indices(node, server):
    node.create("spread", number_of_shards=3)
    node.create("beside")
    node.create("open", **{"forelock.enabled": False})
    places = [(index, str(i)) for i in range(12) for index in ("spread", "beside", "open")]
    before = node.stats()

    def send(*options):
        lines = [line for index, i in places for line in ({"index": {"_index": index, "_id": i}}, {"n": 1})]
        answer = node.request("POST", "/_bulk" + "".join(options), bulk(*lines), X_Forelock_Report="true")
        found = [[int(value) for value in answer.headers["x-forelock-" + name].split(",")]
                 for name in ("token", "wait-ms")]
        return [item["index"]["status"] for item in answer.json["items"]], *found

    statuses, tokens, waits = send()
    assert set(statuses) == {201}
    assert len(tokens) == len(waits) == 4, "each shard's part has its own locks"
    assert node.stats()["foreground"]["granted"] == before["foreground"]["granted"] + 4
    with Holder(server.address, "spread/3"):
        statuses, tokens, waits = send("?timeout=300ms")
        assert [place for place, status in zip(places, statuses) if status != 200] == [("spread", "3")]
        assert len(tokens) == len(waits) == 4
        assert max(waits) >= 300 > min(waits), "the others' documents do not wait"
    assert node.stats()["unguarded_writes"] == before["unguarded_writes"]
    wait_until(lambda: locks(node) == [], "all locks are given back")


@needs("streams")
def test_a_data_streams_document_is_locked_by_its_index(node, server):
    template = {"index_patterns": ["measured"], "data_stream": {}, "template": {"settings": {
        "number_of_shards": 1, "number_of_replicas": 0, "forelock.enabled": True}}}
    assert node.request("PUT", "/_index_template/measured", template).status == 200
    assert node.request("PUT", "/_data_stream/measured").status == 200
    stream, = node.request("GET", "/_data_stream/measured").json["data_streams"]
    index = stream["indices"][0]["index_name"]
    send = "/measured/_create/1?timeout=300ms", {"@timestamp": "2026-01-01T00:00:00Z"}
    with Holder(server.address, index + "/1"):
        error = refused(node.request("PUT", *send), 429, "lock_timeout")
        assert error["forelock_monitor"] == index + "/1"
    assert node.request("PUT", *send).status == 201


def test_other_indices_are_left_alone(node):
    granted = node.stats()["foreground"]["granted"]
    node.create("plain", **{"forelock.enabled": False})
    assert write(node, "plain", 1, X_Forelock_Report="true").status == 201
    assert node.stats()["foreground"]["granted"] == granted
    assert node.request("PUT", "/plain/_settings", {"index.forelock.enabled": True}).status == 200
    assert write(node, "plain", 1).status == 200
    assert node.stats()["foreground"]["granted"] == granted + 1


@needs("jobs")
def test_the_index_of_the_system_is_left_alone(node):
    node.create("worked")
    assert write(node, "worked", "1?refresh=true").status == 201

    def finish():
        task = node.request("POST", "/worked/_update_by_query?wait_for_completion=false").json["task"]
        wait_until(lambda: node.request("GET", f"/.tasks/_doc/{task}").status == 200, "its result is written")

    finish()
    assert node.request("PUT", "/.tasks/_settings", {"index.forelock.enabled": True}).status == 200
    before = node.stats()
    finish()
    assert write(node, ".tasks", "own", {"completed": True}, X_Forelock_Report="true").status == 201
    answer = write(node, ".tasks", "own", {"completed": True}, X_Forelock_Required="true")
    refused(answer, 409, "not_guarded")
    after = node.stats()
    assert after["foreground"] == before["foreground"] and after["unguarded_writes"] == before["unguarded_writes"]
    assert after["background"]["granted"] == before["background"]["granted"] + 1, "the by-query alone"


def test_a_write_waits_for_another_program(node, server):
    node.create("shared", **{"forelock.monitor": "id"})
    with Holder(server.address, "P1") as holder:
        later = Later(lambda: write(node, "shared", "P1"))
        wait_until(lambda: queue(node, "P1"), "it stands in the queue")
        assert "Save Content" in node.request("GET", "/_cat/forelock?v").text
        assert [lock["monitor"] for lock in locks(node)] == ["P1"]
        holder.let_go()
        assert later.get().status == 201


def test_no_lock_is_held_while_an_answer_waits_for_a_refresh(node):
    node.create("shown", **{"refresh_interval": "1h"})
    update, lines = {"doc": {"n": 2}}, bulk({"index": {"_id": "1"}}, {"n": 3})
    for method, path, body in (("PUT", "/shown/_doc/1", None), ("POST", "/shown/_update/1", update),
                               ("POST", "/shown/_bulk", lines)):
        mark = "&" if "?" in path else "?"
        waiting = Later(lambda: node.request(method, f"{path}{mark}refresh=wait_for", body or {"n": 1}))
        wait_until(lambda: node.request("GET", "/shown/_doc/1").json.get("_seq_no", -1) >= 0, "it is written")
        assert write(node, "shown", "1?timeout=10s").status == 200, "the lock is free"
        assert waiting.thread.is_alive(), "what was written is not shown yet"
        assert node.request("GET", "/shown/_search?q=n:*").json["hits"]["total"]["value"] in (0, 1)
        node.request("POST", "/shown/_refresh")
        answer = waiting.get()
        assert answer.status in (200, 201), answer.text
        assert '"forced_refresh"' not in answer.text


def test_eight_people_save_one_article_and_want_to_see_it(node):
    node.create("seen", refresh_interval="200ms")
    node.create("unguarded", refresh_interval="200ms", **{"forelock.enabled": False})
    begun = time.monotonic()
    for n in range(8):
        assert write(node, "unguarded", "1?refresh=wait_for", {"n": n}).status in (200, 201)
    in_turn = time.monotonic() - begun
    saves = [Later(lambda n=n: write(node, "seen", "1?refresh=wait_for", {"n": n})) for n in range(8)]
    answers = [save.get() for save in saves]
    together = time.monotonic() - begun - in_turn
    assert together <= 1.5 * in_turn, f"{together:.2f} s, and {in_turn:.2f} s one after the other and unguarded"
    assert {answer.status for answer in answers} <= {200, 201}, [answer.text for answer in answers]
    last = max(answers, key=lambda answer: answer.json["_version"]).json
    found = node.request("GET", "/seen/_search?version=true").json["hits"]["hits"]
    assert last["_version"] == 8 and [hit["_version"] for hit in found] == [8]


def test_no_lock_is_held_while_copies_are_missing(node):
    node.create("few", number_of_replicas=1)
    send = "/few/_doc/1?wait_for_active_shards=2&timeout=5s"
    update = "/few/_update/1?wait_for_active_shards=2&timeout=5s", {"doc": {"n": 1}, "doc_as_upsert": True}
    waiting = [Later(lambda: node.request("PUT", send, {"n": 1})), Later(lambda: node.request("POST", *update))]
    for _ in range(3):
        assert write(node, "few", "1?timeout=2s").status in (200, 201)
        assert all(one.thread.is_alive() for one in waiting)
    refused = [one.get() for one in waiting]
    assert [answer.status for answer in refused] == [503, 503], [answer.text for answer in refused]


def test_a_lock_not_obtained_says_who_has_it(node, server):
    node.create("busy")
    with Holder(server.address, "busy/1"):
        for send in (lambda: write(node, "busy", "1?timeout=300ms"),
                     lambda: node.request("POST", "/busy/_update/1?timeout=300ms", {"doc": {"n": 2}})):
            answer = send()
            error = refused(answer, 429, "lock_timeout")
            assert answer.headers["retry-after"] == "1"
            assert error["forelock_monitor"] == "busy/1"
            assert "Save Content" in error["reason"], answer.text
    wait_until(lambda: locks(node) == [], "all locks are given back")


def test_a_document_that_others_keep_is_refused_alone(node, server):
    node.create("stuck")
    assert write(node, "stuck", "first").status == 201  # the mapping does not come into the time-outs below
    before = node.stats()
    lines = [line for i in range(6) for line in ({"index": {"_id": str(i)}}, {"n": i})]
    with Holder(server.address, "stuck/1"), Holder(server.address, "stuck/4"):
        answer = node.request("POST", "/stuck/_bulk?timeout=300ms", bulk(
            *lines, {"delete": {"_id": "1"}}, {"index": {}}, {"n": 6}))
        assert answer.status == 200
        items = [next(iter(item.values())) for item in answer.json["items"]]
        assert [item["status"] for item in items] == [201, 429, 201, 201, 429, 201, 429, 201], answer.text
        refused = [item["error"] for item in items if item["status"] == 429]
        assert [error["forelock_monitor"] for error in refused] == ["stuck/1", "stuck/4", "stuck/1"]
        assert {error["forelock_code"] for error in refused} == {"lock_timeout"}
        assert all("Save Content" in error["reason"] for error in refused), answer.text
        node.request("POST", "/stuck/_refresh")
        assert node.request("GET", "/stuck/_count").json["count"] == 6
        answer = node.request("POST", "/stuck/_bulk?timeout=300ms", bulk(*lines[2:4], *lines[8:10]))
        errors = [item["index"]["error"] for item in answer.json["items"]]
        assert [error["forelock_monitor"] for error in errors] == ["stuck/1", "stuck/4"]
        answer = node.request("POST", "/stuck/_bulk?timeout=300ms", bulk(*lines[2:4], {"index": {}}, {"n": 7}))
        assert [item["index"]["status"] for item in answer.json["items"]] == [429, 201], "one needs no lock"
        assert answer.headers["retry-after"] == "1"
    after = node.stats()
    assert after["items_refused"] == before["items_refused"] + 4
    assert after["foreground"]["timed_out"] == before["foreground"]["timed_out"] + 1
    assert after["unguarded_writes"] == before["unguarded_writes"]
    wait_until(lambda: locks(node) == [], "all locks are given back")


def test_a_bulk_may_have_more_documents_than_a_lock_set_members(node, server):
    node.create("many")
    lines = [line for i in range(2100) for line in ({"index": {"_id": str(i)}}, {"n": 1})]
    with Holder(server.address, "many/1500"):
        answer = node.request("POST", "/many/_bulk?timeout=2s", bulk(*lines), X_Forelock_Priority="foreground")
        items = [item["index"] for item in answer.json["items"]]
        assert items[1500]["status"] == 429 and len(items) == 2100
        assert items[1500]["error"]["forelock_monitor"] == "many/1500"
    wait_until(lambda: locks(node) == [], "what was taken is given back")
    node.node_setting(background__timeout="5m")  # the test is not of its speed
    try:
        answer = node.request("POST", "/many/_bulk?refresh=true&timeout=5m", bulk(*lines), timeout=300)
    finally:
        node.node_setting(background__timeout=None)
    assert [item["index"]["_id"] for item in answer.json["items"]] == [str(i) for i in range(2100)]
    assert answer.json["errors"] is False, answer.text[:500]
    assert node.request("GET", "/many/_count").json["count"] == 2100
    wait_until(lambda: locks(node) == [], "all locks are given back")


def test_the_last_write_of_a_document_in_a_bulk_counts(node):
    node.create("order-in-bulk")
    lines = [line for i in range(300) for line in ({"index": {"_id": str(299 - i) if i % 2 else "x"}}, {"n": i})]
    assert node.request("POST", "/order-in-bulk/_bulk?refresh=true", bulk(*lines)).json["errors"] is False
    assert node.request("GET", "/order-in-bulk/_doc/x").json["_source"] == {"n": 298}


def test_foreground_goes_first(node, server):
    node.create("order")
    with Holder(server.address, "order/1") as holder:
        background = Later(lambda: write(node, "order", 1, X_Forelock_Priority="background", X_Forelock_Report="true"))
        wait_until(lambda: len(queue(node, "order/1")) == 1, "background waits")
        foreground = Later(lambda: write(node, "order", 1, X_Forelock_Report="true"))
        wait_until(lambda: len(queue(node, "order/1")) == 2, "both wait")
        assert [waiter["priority"] for waiter in queue(node, "order/1")] == ["foreground", "background"]
        holder.let_go()
        first, second = foreground.get(), background.get()
    assert int(first.headers["x-forelock-token"]) < int(second.headers["x-forelock-token"])
    assert (first.status, second.status) == (201, 200)
    answer = write(node, "order", 1, X_Forelock_Priority="urgent")
    assert answer.status == 400
    assert "write foreground or background" in answer.json["error"]["reason"]


@needs("jobs")
def test_bulk_work_is_background(node, server):
    node.create("works")
    lines = [line for i in range(101) for line in ({"index": {"_id": str(i)}}, {"n": 1})]
    before = node.stats()
    assert node.request("POST", "/works/_bulk?refresh=true", bulk(*lines)).json["errors"] is False
    assert node.request("POST", "/works/_update_by_query?refresh=true").json["updated"] == 101
    node.create("copies")
    body = {"source": {"index": "works"}, "dest": {"index": "copies"}}
    assert node.request("POST", "/_reindex?refresh=true", body).json["created"] == 101
    assert node.request("POST", "/copies/_delete_by_query", {"query": {"match_all": {}}}).json["deleted"] == 101
    after = node.stats()
    assert after["foreground"]["granted"] == before["foreground"]["granted"]
    assert after["background"]["granted"] == before["background"]["granted"] + 4
    assert node.request("POST", "/works/_update_by_query", X_Forelock_Priority="foreground").json["updated"] == 101
    assert node.stats()["foreground"]["granted"] == before["foreground"]["granted"] + 1


def test_what_a_monitor_is(node):
    node.create("fields", **{"forelock.monitor": "field:article.id"})
    assert write(node, "fields", 1, {"article": {"id": "P7"}}).status == 201
    answer = write(node, "fields", 1, {"article": 5})
    assert answer.status == 400 and "needs the field 'article.id'" in answer.text
    assert node.request("DELETE", "/fields/_doc/1").status == 400
    assert "longer than 255 bytes" in write(node, "fields", 1, {"article": {"id": "P" * 256}}).text
    mixed = node.request("POST", "/fields/_bulk", bulk(
        {"index": {"_id": "1"}}, {"article": {"id": "P7"}}, {"delete": {"_id": "1"}}))
    assert [next(iter(item.values()))["status"] for item in mixed.json["items"]] == [200, 400], mixed.text
    node.create("routes", **{"forelock.monitor": "routing"})
    assert write(node, "routes", "1?routing=R").status == 201
    assert write(node, "routes", "1").status == 400
    answer = node.request("PUT", "/routes/_settings", {"index.forelock.monitor": "rooting"})
    assert answer.status == 400 and "write document, id, routing, field:NAME, or bucket:N" in answer.text


def test_documents_of_a_bucket_share_a_monitor(node, server):
    node.create("buckets", **{"forelock.monitor": "bucket:2"})
    by_bucket = {number: [str(id) for id in range(100) if zlib.crc32(str(id).encode()) % 2 == number]
                 for number in (0, 1)}
    with Holder(server.address, "buckets/~0"):
        assert write(node, "buckets", by_bucket[1][0]).status == 201
        for id in by_bucket[0][:2]:
            assert write(node, "buckets", id + "?timeout=100ms").status == 429
    mixed = node.request("POST", "/buckets/_bulk", bulk(
        *(line for id in range(100) for line in ({"index": {"_id": str(id)}}, {"n": id}))))
    assert not mixed.json["errors"], mixed.text


@needs("jobs")
def test_words_of_a_client_that_have_no_effect_within_other_requests(node):
    node.create("within")
    write(node, "within", "1?refresh=true")
    # This node has no queue, and what an update or a job sends as a bulk does not ask for one.
    answer = node.request("POST", "/within/_update/1?refresh=true", {"doc": {"n": 2}}, X_Forelock_Queue="true")
    assert answer.status == 200, answer.text
    answer = node.request("POST", "/within/_update_by_query?refresh=true", X_Forelock_Queue="true")
    assert (answer.status, answer.json["updated"]) == (200, 1), answer.text
    # The node writes a task's result into an index of its own, in the name of the client that began it.
    began = node.request("POST", "/within/_update_by_query?wait_for_completion=false",
                         X_Opaque_Id="job;X-Forelock-Required=true")
    path = f"/_tasks/{began.json['task']}"
    assert node.request("GET", path + "?wait_for_completion=true&timeout=30s").json["completed"] is True
    found = wait_until(lambda: node.request("GET", path).json.get("response"), "the result is kept")
    assert found["updated"] == 1


def test_an_alias_means_the_same_document(node, server):
    node.create("concrete")
    node.request("POST", "/_aliases", {"actions": [{"add": {"index": "concrete", "alias": "other"}}]})
    write(node, "concrete", 1)
    with Holder(server.address, "concrete/1"):
        assert write(node, "other", "1?timeout=200ms").code == "lock_timeout"
        assert node.request("POST", "/other/_update/1?timeout=200ms", {"doc": {"n": 9}}).code == "lock_timeout"


def test_a_held_request_can_be_cancelled(node, server):
    node.create("cancelled")
    with Holder(server.address, "cancelled/1"):
        later = Later(lambda: write(node, "cancelled", 1))
        wait_until(lambda: queue(node, "cancelled/1"), "it waits")
        path = "/_plugins/_forelock/_cancel"
        assert node.request("POST", path).status == 400
        assert node.request("POST", path + "?monitor=other").json == {"cancelled": 0, "failures": []}
        assert valid(node.request("POST", path + "?monitor=cancelled%2F1").json, "cancelled")["cancelled"] == 1
        refused(later.get(), 409, "cancelled")
        wait_until(lambda: not queue(node, "cancelled/1"), "it has left the queue")


def test_a_held_request_can_be_made_foreground(node, server):
    node.create("moved")

    def classes():
        return [waiter["priority"] for waiter in queue(node, "moved/1")]

    with Holder(server.address, "moved/1") as holder:
        first = Later(lambda: write(node, "moved", "1?timeout=60s", {"n": 1}, X_Forelock_Priority="background"))
        wait_until(lambda: classes() == ["background"], "one waits in the background")
        second = Later(lambda: write(node, "moved", "1?timeout=60s", {"n": 2}, X_Forelock_Priority="background"))
        wait_until(lambda: classes() == ["background"] * 2, "and another one")
        third = Later(lambda: write(node, "moved", "1?timeout=60s", {"n": 3}))
        wait_until(lambda: classes() == ["foreground", "background", "background"], "and one in the foreground")
        path = "/_plugins/_forelock/_prioritize"
        assert node.request("POST", path).status == 400
        assert node.request("POST", path + "?monitor=moved%2F1&to=high").status == 400
        assert node.request("POST", path + "?monitor=other").json == {"prioritized": 0, "failures": []}
        answer = node.request("POST", path + "?monitor=moved%2F1&priority=background")
        assert valid(answer.json, "prioritized")["prioritized"] == 2
        wait_until(lambda: classes() == ["foreground"] * 3, "both have moved")
        holder.let_go()
        assert {one.get().status for one in (first, second, third)} == {200, 201}
    assert node.request("GET", "/moved/_doc/1").json["_source"]["n"] in (1, 2), "those that were moved came last"


@needs("jobs")
def test_a_cancelled_task_takes_what_descends_from_it_along(node, server):
    node.create("tasks")
    write(node, "tasks", "1?refresh=true")
    with Holder(server.address, "tasks/1"):
        task = node.request("POST", "/tasks/_update_by_query?wait_for_completion=false").json["task"]
        waiters = wait_until(lambda: queue(node, "tasks/1"), "its write waits")
        assert waiters[0]["priority"] == "background"
        assert node.request("POST", f"/_tasks/{task}/_cancel").status == 200
        result = node.request("GET", f"/_tasks/{task}?wait_for_completion=true&timeout=30s").json
        assert result["completed"] is True
        wait_until(lambda: not queue(node, "tasks/1"), "it has left the queue")


@needs("connections")
def test_a_client_that_goes_leaves_the_line(node, server):
    node.create("gone")
    with Holder(server.address, "gone/1"):
        url = urlsplit(node.urls[0])
        connection = http.client.HTTPConnection(url.hostname, url.port)
        connection.request("PUT", "/gone/_doc/1", "{}", {"Content-Type": "application/json"})
        wait_until(lambda: queue(node, "gone/1"), "it waits")
        connection.close()
        wait_until(lambda: not queue(node, "gone/1"), "it has left the queue")


@needs("scripts")
def test_an_update_that_holds_a_lock_does_not_wait_for_another(node, server):
    node.create("two", **{"forelock.monitor": "field:k"})
    assert write(node, "two", 1, {"k": "two-b"}).status == 201
    update = {"script": {"source": "ctx._source.n = 1"}, "upsert": {"k": "two-a"}}
    node.node_setting(foreground__timeout="10m")
    try:
        with Holder(server.address, "two-b"):
            answer = node.request("POST", "/two/_update/1?timeout=10m", update)
            refused(answer, 429, "lock_timeout")
            assert answer.json["error"]["forelock_monitor"] == "two-b"
    finally:
        node.node_setting(foreground__timeout=None)
    assert node.request("POST", "/two/_update/1", update).status == 200


def test_an_id_that_no_monitor_can_have_is_refused_alone(node):
    node.create("zero")
    answer = node.request("POST", "/zero/_bulk", bulk({"index": {"_id": "a\0b"}}, {"n": 1}, {"index": {"_id": "1"}},
                                                      {"n": 1}))
    assert [item["index"]["status"] for item in answer.json["items"]] == [400, 201], answer.text
    assert "the character 0" in answer.text
    assert write(node, "zero", "a%00b").status == 400
    assert node.request("POST", "/zero/_update/a%00b", {"doc": {"n": 1}}).status == 400


def test_the_timeout_of_a_request(node, server):
    node.create("times")
    assert write(node, "times", "first").status == 201, "the mapping, for which OpenSearch would have no time"
    for timeout in ("0", "-1"):
        assert node.request("PUT", f"/times/_doc/{timeout}?timeout={timeout}", {"n": 1}).status == 201
        assert node.request("POST", f"/times/_update/{timeout}?timeout={timeout}", {"doc": {"n": 2}}).status == 200
        with Holder(server.address, "times/1"):
            refused(node.request("PUT", f"/times/_doc/1?timeout={timeout}", {"n": 1}), 429, "lock_timeout")


def test_no_task_is_not_all_tasks(node, server):
    node.create("untasked")
    node.node_setting(foreground__timeout="1m")
    with Holder(server.address, "untasked/1"):
        held = Later(lambda: write(node, "untasked", 1))
        wait_until(lambda: node.held() == 1, "it waits")
        for task in ("", "unset", "nowhere"):
            answer = node.request("POST", f"/_plugins/_forelock/_cancel?task={task}")
            assert answer.status == 400, answer.text
        assert node.held() == 1
    assert held.get().status == 201
    node.node_setting(foreground__timeout=None)


def test_there_is_a_limit_and_background_meets_it_first(node, server):
    node.create("limits")
    node.node_setting(background__max_requests=1, foreground__max_requests=2)
    try:
        with Holder(server.address, "limits/1"):
            held = [Later(lambda: write(node, "limits", 1, X_Forelock_Priority="background"))]
            wait_until(lambda: node.held() == 1, "background waits")
            answer = write(node, "limits", 1, X_Forelock_Priority="background")
            refused(answer, 429, "too_many_held")
            assert answer.headers["retry-after"] == "1"
            held.append(Later(lambda: write(node, "limits", 1)))
            wait_until(lambda: node.held() == 2, "both wait")
            assert write(node, "limits", 1).status == 429
            assert write(node, "limits", 2).status == 429, "none is held, none overtakes"
        assert sorted(later.get().status for later in held) == [200, 201]
    finally:
        node.node_setting(background__max_requests=None, foreground__max_requests=None)
    answer = node.request("PUT", "/_cluster/settings", {"transient": {"forelock.on_unavailable": "perhaps"}})
    assert answer.status == 400 and "write reject or allow" in answer.text


def test_numbers_for_people_and_programs(node):
    valid(node.request("GET", "/_plugins/_forelock/stats").json, "stats")
    text = node.request("GET", "/_plugins/_forelock/metrics").text
    samples = re.findall(r'^([a-z_]+)(?:\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})? [0-9.e+-]+$', text, re.MULTILINE)
    assert len(samples) == sum(not line.startswith("#") for line in text.splitlines()), text
    prefix = f"forelock_{ENGINE}_"
    assert prefix + "writes_total" in samples and prefix + "wait_seconds_bucket" in samples
    assert prefix + "zookeeper_connected 1" in text
    assert prefix + "locks_lingering 0" in text, "not by default"
    assert node.request("GET", "/_plugins/_forelock/locks/none").status == 404


def test_a_table_as_the_others_are(node, server):
    assert "/_cat/forelock\n" in node.request("GET", "/_cat").text
    columns = [line.split("|")[0].strip() for line in node.request("GET", "/_cat/forelock?help").text.splitlines()]
    assert columns == ["monitor", "priority", "held_ms", "linger_ms", "foreground", "background", "token", "holder",
                       "info"]
    node.create("tabled")
    with Holder(server.address, "tabled/1"):
        lines = node.request("GET", "/_cat/forelock?v").text.splitlines()
        assert lines[0].split() == [name for name in columns if name != "token"] and "tabled/1" in lines[1]
        rows = node.request("GET", "/_cat/forelock?h=i,monitor,t&s=monitor&format=json").json
        assert [list(row) for row in rows] == [["i", "monitor", "t"]]
        assert rows[0]["i"] == "Save Content" and int(rows[0]["t"]) > 0
    assert node.request("GET", "/_cat/forelock?colour=red").status == 400


def test_writes_wait_on_in_the_next_session(node, server):
    node.create("sessions")
    assert write(node, "sessions", 1).status == 201
    node.node_setting(foreground__timeout="60s")
    try:
        with Holder(server.address, "sessions/1") as holder:
            lines = [line for i in range(3) for line in ({"index": {"_id": str(i)}}, {"n": 1})]
            one = Later(lambda: write(node, "sessions", 1))
            many = Later(lambda: node.request("POST", "/sessions/_bulk", bulk(*lines)))
            wait_until(lambda: len(queue(node, "sessions/1")) == 2, "both wait")
            before = node.stats()["zookeeper"]
            server.command("expire " + str(int(before["session"], 16)))
            wait_until(lambda: node.stats()["zookeeper"]["sessions_expired"] > before["sessions_expired"],
                       "the session has ended")
            wait_until(lambda: len(queue(node, "sessions/1")) == 2, "both wait again")
            holder.let_go()
            assert one.get().status == 200
            assert many.get().json["errors"] is False
    finally:
        node.node_setting(foreground__timeout=None)
    wait_until(lambda: locks(node) == [], "all locks are given back")


def test_where_sessions_end_but_servers_are_there_nothing_goes_on(node, server):
    node.create("expired")
    node.node_setting(foreground__timeout="60s", on_unavailable="allow")
    try:
        with Holder(server.address, "expired/1"):
            later = Later(lambda: write(node, "expired", 1))
            for _ in range(3):
                wait_until(lambda: queue(node, "expired/1"), "it waits")
                before = node.stats()["zookeeper"]
                server.command("expire " + str(int(before["session"], 16)))
                wait_until(lambda: node.stats()["zookeeper"]["sessions_expired"] > before["sessions_expired"],
                           "the session has ended")
            refused(later.get(), 503, "session_expired")
            assert node.request("GET", "/expired/_doc/1").status == 404
    finally:
        node.node_setting(foreground__timeout=None, on_unavailable=None)


@pytest.mark.parametrize("mode", ["reject", "allow"])
def test_without_zookeeper(node, server, mode):
    index = "outage-" + mode
    node.create(index)
    assert write(node, index, 0).status == 201
    allowed = node.stats()["foreground"]["allowed"]
    node.node_setting(on_unavailable=mode)
    server.command("stall")
    try:
        wait_until(lambda: not node.stats()["zookeeper"]["connected"], "the outage is noticed")
        answer = write(node, index, 1)
        if mode == "reject":
            refused(answer, 503, "connection_loss")
        else:
            assert answer.status == 201, answer.text
            assert node.request("POST", f"/{index}/_update/1", {"doc": {"n": 2}}).status == 200
            lines = [line for i in range(3) for line in ({"index": {"_id": str(i + 10)}}, {"n": 1})]
            assert node.request("POST", f"/{index}/_bulk", bulk(*lines)).json["errors"] is False
            assert node.stats()["foreground"]["allowed"] == allowed + 3
            assert node.stats()["unguarded_writes"] == 0, "they are counted as permitted"
        for method, path, body in (("PUT", "_doc/3", {"n": 1}), ("POST", "_update/1", {"doc": {"n": 3}}),
                                   ("DELETE", "_doc/1", None)):
            answer = node.request(method, f"/{index}/{path}", body, X_Forelock_Required="true")
            refused(answer, 503, "connection_loss")
        items = node.request("POST", f"/{index}/_bulk", bulk({"index": {"_id": "4"}}, {"n": 1}),
                             X_Forelock_Required="true").json["items"]
        assert items[0]["index"]["status"] == 503
        valid(items[0]["index"]["error"], "refusal")
    finally:
        server.command("flow")
    wait_until(lambda: node.stats()["zookeeper"]["connected"], "it is back")
    begun = r"\[WARN \].*go on WITHOUT A LOCK from now on, .*; 1 request with 1 document so far"
    ended = r"\[INFO \].*no write goes on without a lock any more; 3 requests with 5 documents did"
    if mode == "allow":
        wait_until(lambda: re.search(ended, node.log()), "the end of the period is told")
        assert len(re.findall(begun, node.log())) == 1, "and its begin, once"
    else:
        assert not re.search(begun, node.log())
    node.node_setting(on_unavailable=None)
    assert write(node, index, 2).status == 201
    assert node.request("GET", f"/{index}/_doc/3").status == 404


def test_every_setting_of_the_documentation_exists():
    text = Path(ROOT, "docs", "opensearch.md").read_text()
    source = Path(ROOT, "opensearch/src/shared/java/org/forelock/opensearch/ForelockSettings.java").read_text()
    source += Path(ROOT, f"{ENGINE}/src/main/java/org/forelock/{ENGINE}/OwnSettings.java").read_text()
    keys = set(re.findall(r'"((?:index\.)?forelock\.[a-z_.]+[a-z])\.?"', source))
    documented = set(re.findall(r"^\| `((?:index\.)?forelock\.[a-z_.]+[a-z])", text, re.MULTILINE))
    assert documented == keys or ENGINE != "opensearch" and documented > keys
