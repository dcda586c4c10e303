"""Many held requests: no thread waits for a lock, what is held is bounded, and the rest of the node works on."""

import os
import re
import socket
import subprocess
from urllib.parse import urlsplit

from cluster import Holder, Later, wait_until

# By hand FORELOCK_LONG=10 makes 5,000 of it.
MOST = 500 * int(os.environ.get("FORELOCK_LONG", "1"))
DUMPS = 5


def threads(node):
    """Of each thread its name, its state and its frames."""
    command = [os.path.join(node.java_home, "bin", "jstack"), str(node.pid())]
    if os.geteuid() == 0:
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + command
    text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    for part in text.split("\n\n"):
        match = re.match(r'"(?P<name>[^"]+)".*\n\s+java\.lang\.Thread\.State: (?P<state>\w+)', part)
        if match:
            yield match["name"], match["state"], re.findall(r"^\s+at (\S+)", part, re.MULTILINE)


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
    node.node_setting(background__max_requests=MOST, background__timeout="10m")
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
            waiting += [(name, state, frames) for name, state, frames in threads(node)
                        if re.search(r"\[(transport_worker|write|http_server_worker)\]", name)
                        and state != "RUNNABLE" and any(frame.startswith("org.forelock") for frame in frames)]
            assert {one.get().status for one in load} <= {200, 201}, "the foreground is served"
        assert waiting == []
        held = node.stats()["held"]
        assert held["background"]["requests"] == MOST
        heap = node.request("GET", "/_nodes/jvm").json["nodes"].popitem()[1]["jvm"]["mem"]["heap_max_in_bytes"]
        assert held["background"]["bytes"] <= heap * 0.02
        assert node.request("POST", "/_plugins/_forelock/_cancel?priority=background").json["cancelled"] == MOST
        assert set(connections.statuses()) == {409}
        assert node.stats()["held"]["background"] == {"requests": 0, "bytes": 0}
        holder.let_go()
    node.node_setting(background__max_requests=None, background__timeout=None)
