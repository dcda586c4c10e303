"""Many held requests: no thread waits for a lock, what is held is bounded, and the rest of the node works on."""

import os
import re
import socket
import subprocess
from urllib.parse import urlsplit

from cluster import Holder, Later, bulk, needs, valid, wait_until

# By hand FORELOCK_LONG=10 makes 5,000 of it.
LONG = int(os.environ.get("FORELOCK_LONG", "1"))
MOST = 500 * LONG
SHARE = 0.02 * LONG  # of the heap
OTHER = 4 << 20  # bytes that the node itself may need meanwhile
DUMPS = 5


def look_inside(node, tool, *arguments):
    """What a tool of the node's Java says of the node."""
    command = [os.path.join(node.java_home, "bin", tool), str(node.pid()), *arguments]
    if os.geteuid() == 0:
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + command
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


class Thread:
    """One thread of a dump."""

    def __init__(self, text):
        head, *lines = text.split("\n")
        self.name = re.match(r'"([^"]+)"', head)[1]
        self.processor_time = re.search(r" cpu=(\S+)ms ", head)[1]
        self.state = re.search(r"State: (\w+)", lines[0])[1]
        self.frames = [line.strip().removeprefix("at ") for line in lines[1:] if line.strip().startswith("at ")]

    def serves(self):
        return re.search(r"\[(transport_worker|write|http_server_worker)\]", self.name)

    def waits_for_a_lock(self):
        return self.state != "RUNNABLE" and any(frame.startswith("org.forelock") for frame in self.frames)

    def is_in_the_library(self):
        return bool(self.frames) and re.match(r"org\.forelock\..*\(Native Method\)", self.frames[0])

    def stands_still_since(self, earlier):
        """In the library, as before: to Java a native method that waits is runnable."""
        return earlier and earlier.is_in_the_library() and self.is_in_the_library() \
            and (earlier.frames, earlier.processor_time) == (self.frames, self.processor_time)


def threads(node):
    parts = look_inside(node, "jstack").split("\n\n")
    found = [Thread(part) for part in parts if re.match(r'"[^"]+".* cpu=.*\n\s+java\.lang\.Thread\.State: ', part)]
    assert any(thread.is_in_the_library() for thread in found), "the one that fetches what has happened, at least"
    return {thread.name: thread for thread in found}


def kept_threads(node):
    """Those that serve clients or write, and wait in Forelock, seen by two dumps."""
    before, after = threads(node), threads(node)
    return [(thread.name, thread.state, thread.frames) for thread in after.values() if thread.serves()
            and (thread.waits_for_a_lock() or thread.stands_still_since(before.get(thread.name)))]


def heap(node):
    """Its size, and what is in use once nothing is left that nobody uses."""
    look_inside(node, "jcmd", "GC.run")
    one, = node.request("GET", "/_nodes/stats/jvm").json["nodes"].values()
    return one["jvm"]["mem"]["heap_max_in_bytes"], one["jvm"]["mem"]["heap_used_in_bytes"]


class Connections:
    """Many requests at once from one thread."""

    def __init__(self, node):
        url = urlsplit(node.urls[0])
        self.address = (url.hostname, url.port)
        self.sockets = []

    def send(self, path, priority):
        connection = socket.create_connection(self.address, timeout=60)
        body = '{"text": "' + 500 * "x" + '"}'
        connection.sendall((f"PUT {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n"
                            f"X-Forelock-Priority: {priority}\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode())
        self.sockets.append(connection)

    def statuses(self):
        return [int(connection.makefile("rb").readline().split()[1]) for connection in self.sockets]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for connection in self.sockets:
            connection.close()


def test_held_requests_hold_no_thread_and_are_bounded(node, server):
    node.create("held")
    assert node.request("PUT", "/held/_doc/other", {"n": 1}).status == 201
    size, unused = heap(node)
    bound = int(size * SHARE)
    node.node_setting(background__max_requests=MOST, background__max_bytes=f"{bound}b", background__timeout="10m",
                      foreground__max_bytes=f"{2 * bound}b")
    with Holder(server.address, "held/1") as holder, Connections(node) as connections:
        for _ in range(MOST):
            connections.send("/held/_doc/1?timeout=10m", "background")
        wait_until(lambda: node.held() == MOST, "all are held", patience=120)
        refused = Connections(node)
        with refused:
            for _ in range(MOST // 10):
                refused.send("/held/_doc/1", "background")
            assert set(refused.statuses()) == {429}
        waiting = []
        for _ in range(DUMPS):
            load = [Later(lambda i=i: node.request("PUT", f"/held/_doc/other{i}", {"n": 1})) for i in range(20)]
            waiting += kept_threads(node)
            assert {one.get().status for one in load} <= {200, 201}, "the foreground is served"
        assert waiting == []
        held = node.stats()["held"]
        assert held["background"]["requests"] == MOST
        _, used = heap(node)
        print(f"{MOST} held: {held['background']['bytes']} bytes by what is counted, {used - unused} of the heap")
        assert used - unused - OTHER <= held["background"]["bytes"] <= bound
        assert node.request("POST", "/_plugins/_forelock/_cancel?priority=background").json["cancelled"] == MOST
        assert set(connections.statuses()) == {409}
        assert node.stats()["held"]["background"] == {"requests": 0, "bytes": 0}
        holder.let_go()
    node.node_setting(background__max_requests=None, background__max_bytes=None, background__timeout=None,
                      foreground__max_bytes=None)


def test_the_bound_in_bytes(node, server):
    node.create("bytes")
    bound = 200_000
    node.node_setting(background__max_bytes=f"{bound}b", background__timeout="10m")
    body = {"text": "x" * 10_000}
    with Holder(server.address, "bytes/1") as holder:
        held = []
        for _ in range(20):
            before = node.held()
            later = Later(lambda: node.request("PUT", "/bytes/_doc/1", body, X_Forelock_Priority="background"))
            wait_until(lambda: node.held() > before or not later.thread.is_alive(), "it is held or refused")
            if node.held() == before:
                break
            held.append(later)
        answer = later.get()
        assert (answer.status, answer.code) == (429, "too_many_held")
        assert valid(answer.json, "refused_write") and answer.headers["retry-after"] == "1"
        assert 5 < len(held) < 10
        bytes_held = node.stats()["held"]["background"]["bytes"]
        assert bound - 3 * len(body["text"]) < bytes_held <= bound
        assert node.request("PUT", "/bytes/_doc/2", body).status == 201, "the foreground has more"
        answer = node.request("PUT", "/bytes/_doc/3", {"text": "x" * bound}, X_Forelock_Priority="background")
        assert (answer.status, answer.code) == (413, "too_large"), answer.text
        assert valid(answer.json, "refused_write") and "retry-after" not in answer.headers
        assert "forelock.background.max_bytes" in answer.text
        holder.let_go()
    assert {later.get().status for later in held} <= {200, 201}
    assert node.stats()["held"]["background"] == {"requests": 0, "bytes": 0}
    node.node_setting(background__max_bytes=None, background__timeout=None)


@needs("scripts")
def test_the_parameters_of_a_script_count(node, server):
    node.create("parameters")
    text = "x" * 100_000
    script = {"script": {"source": "ctx._source.text = params.text", "params": {"text": text}}, "upsert": {"n": 1}}
    held = []
    with Holder(server.address, "parameters/1"):
        for send in (lambda: node.request("POST", "/parameters/_update/1", script),
                     lambda: node.request("POST", "/parameters/_bulk", bulk({"update": {"_id": "1"}}, script))):
            before = node.stats()["held"]["foreground"]
            held.append(Later(send))
            wait_until(lambda: node.held() == len(held), "it is held")
            assert node.stats()["held"]["foreground"]["bytes"] - before["bytes"] > len(text)
    assert {later.get().status for later in held} <= {200, 201}


def test_looks_are_bounded(node, server):
    server.command("stall")
    try:
        looks = [Later(lambda: node.request("GET", "/_plugins/_forelock/locks")) for _ in range(60)]
        wait_until(lambda: any(not one.thread.is_alive() for one in looks), "one is refused")
        busy = [name for name, thread in threads(node).items() if any("Inspector" in frame for frame in thread.frames)]
        assert 0 < len(busy) <= 4, busy
        node.create("beside-looks")
    finally:
        server.command("flow")
    answers = [one.get() for one in looks]
    assert {answer.status for answer in answers} <= {200, 429, 503}
    refused = [answer for answer in answers if answer.status == 429]
    assert len(refused) >= 20 and refused[0].code == "overloaded"
    wait_until(lambda: node.stats()["zookeeper"]["connected"], "it is back")


def test_a_silent_zookeeper_keeps_no_thread(node, server):
    node.create("silent")
    assert node.request("PUT", "/silent/_doc/1", {"n": 1}).status == 201
    server.command("stall")
    try:
        writes = [Later(lambda i=i: node.request("PUT", f"/silent/_doc/{i}", {"n": 1})) for i in range(20)]
        wait_until(lambda: node.held() == len(writes) or not any(one.thread.is_alive() for one in writes), "they wait")
        assert kept_threads(node) == []
    finally:
        server.command("flow")
    assert {one.get().status for one in writes} <= {200, 201, 409, 429, 503}, "written, or refused in time"
    wait_until(lambda: node.stats()["zookeeper"]["connected"], "it is back")
