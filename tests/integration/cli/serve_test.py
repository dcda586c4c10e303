"""forelock serve: the API, the stream of events, metrics, health, and what an attacker may try."""

import contextlib
import http.client
import json
import os
import queue
import resource
import select
import signal
import socket
import subprocess
import threading
import unittest

import support
from support import wait_until


class Stream:
    """The events of /api/events, read by a thread of its own."""

    def __init__(self, port, last_event_id=None):
        headers = {"Last-Event-ID": last_event_id} if last_event_id else {}
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.connection.request("GET", "/api/events", headers=headers)
        self.response = self.connection.getresponse()
        self.socket = self.response.fp.raw._sock  # pylint: disable=protected-access
        self.events = queue.Queue()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        event = {}
        with contextlib.suppress(OSError, ValueError):
            for line in self.response.fp:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name:
                    event[name] = value
                elif event:
                    self.events.put(event)
                    event = {}
        self.events.put(None)

    def next(self):
        event = self.events.get(timeout=support.PATIENCE)
        if event is None:
            raise AssertionError("the stream has ended")
        return event["event"], json.loads(event["data"]), event["id"]

    def until(self, condition):
        """The first event, its data and its id of which this is true."""
        while True:
            name, data, number = self.next()
            if condition(name, data):
                return name, data, number

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join(support.PATIENCE)
        self.response.close()
        self.connection.close()


def of(monitor, kind):
    """A change of this kind."""
    return lambda name, data: name == "change" and (data["monitor"], data["event"]) == (monitor, kind)


class ServeTest:
    """What the classes below share."""

    def serve(self, *options, port=0):
        self.serving = self.start_cli("serve", "--listen", f"127.0.0.1:{port}", "-o", "json", *options)
        line = self.serving.stdout.readline()
        self.assertTrue(line, self.serving.poll())
        self.port = int(json.loads(line)["url"].split(":")[2].strip("/"))

    def request(self, path, method="GET", body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=support.PATIENCE)
        try:
            names = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body=body, headers=names)
            response = connection.getresponse()
            return response, response.read().decode()
        finally:
            connection.close()

    def get(self, path):
        """Of a server that has just begun, as soon as it has seen anything."""
        def answered():
            response, body = self.request(path)
            return None if response.status == 503 and "no_picture" in body else (response, body)

        response, body = wait_until(answered, "there is a picture")
        self.assertEqual(response.status, 200, body)
        return json.loads(body)

    def ready(self):
        return self.request("/readyz")[0].status == 200

    def answers(self):
        with contextlib.suppress(OSError, http.client.HTTPException):
            return self.request("/livez")[0].status == 200
        return False

    def wait_ready(self):
        wait_until(self.ready, "it is ready")

    def stream(self, last_event_id=None):
        stream = Stream(self.port, last_event_id)
        self.addCleanup(stream.close)
        return stream

    def row(self, monitor):
        return next((row for row in self.get("/api/monitors")["monitors"] if row["monitor"] == monitor), None)

    def wait_waiters(self, monitor, count):
        wait_until(lambda: len(self.queue(monitor)) == count, "they wait")
        wait_until(lambda: (row := self.row(monitor)) and sum(row["waiting"].values()) == count, "it is seen")

    def nested_locks(self, info):
        """A program that locks and unlocks what it is told, in one thread."""
        child = subprocess.Popen([os.environ["FORELOCK_NESTED_LOCKS"], self.connect_string(), info],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.children.append(child)

        def say(line, wait=True):
            child.stdin.write(line + "\n")
            child.stdin.flush()
            if wait:
                self.assertEqual(child.stdout.readline(), "done\n")
        return say

    def nest(self, say, outer, inner):
        """One inside the other, so long that it is seen."""
        say("lock " + outer)
        say("lock " + inner)
        wait_until(lambda: self.row(inner), "it is seen")
        seen = self.get("/api/monitors")["sampled_at"]
        wait_until(lambda: self.get("/api/monitors")["sampled_at"] > seen, "another look has begun")
        say("unlock " + inner)
        say("unlock " + outer)
        wait_until(lambda: not self.row(outer), "it is seen to be over")

    def raw(self, data, until_closed=True):
        """What the server answers to these bytes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=support.PATIENCE) as connection:
            with contextlib.suppress(ConnectionError):
                connection.sendall(data)
            answer = b""
            with contextlib.suppress(ConnectionError):
                while part := connection.recv(65536):
                    answer += part
                    if not until_closed and b"\r\n\r\n" in answer:
                        break
            return answer.decode(errors="replace")

    def assert_status(self, answer, status):
        self.assertTrue(answer.startswith(f"HTTP/1.1 {status} "), answer[:300])


def without_times(json_value):
    """Without what differs from look to look, and what `serve` leaves out or adds."""
    left_out = {"held_ms", "waited_ms", "oldest_wait_ms", "session", "overdue", "live", "age_ms", "sampled_at",
                "problem", "not_permitted", "if_released", "same_process", "set", "look", "left_out",
                "event"}
    if isinstance(json_value, dict):
        return {key: without_times(value) for key, value in json_value.items() if key not in left_out}
    if isinstance(json_value, list):
        return [without_times(value) for value in json_value]
    return json_value


class Pictures(ServeTest, support.CliTest):
    def setUp(self):
        super().setUp()
        self.serve()

    def test_api_is_that_of_ls_and_show(self):
        self.hold("P1", "--info", "Save")
        self.start_cli("run", "-m", "P1", "-p", "background", "--timeout", "60s", "--", "true")
        self.start_cli("run", "-m", "P1", "--timeout", "60s", "--", "true")
        self.hold("a/b c")
        self.wait_waiters("P1", 2)
        wait_until(lambda: self.row("a/b c"), "it is seen")
        self.assertEqual(without_times(self.get("/api/monitors")), without_times(self.json_of("ls")))
        shown = self.get("/api/monitors/P1")
        self.assertEqual(without_times(shown), without_times(self.show("P1")))
        self.assertEqual(without_times(self.get("/api/monitors/a%2Fb%20c")), without_times(self.show("a/b c")))
        self.assertTrue(shown["live"])
        self.assertEqual([shown["if_released"][name] for name in ("moving_up", "kept")], [2, []])
        self.assertEqual(shown["if_released"]["next"]["node"], shown["queue"][0]["node"])
        self.assertEqual(shown["queue"][0]["priority"], "foreground")

    def test_sessions_are_told_nobody(self):
        self.hold("P1")
        self.start_cli("run", "-m", "P1", "--timeout", "60s", "--", "true")
        self.wait_waiters("P1", 1)
        sessions = [self.holder("P1")["session"], self.queue("P1")[0]["session"]]
        events = json.dumps(self.stream().next()[1])
        texts = [self.request(path)[1] for path in ("/api/monitors", "/api/monitors/P1", "/api/chains", "/metrics")]
        for text in texts + [events]:
            self.assertNotIn('"session"', text)
            for session in sessions:
                self.assertNotIn(session[2:], text)

    def test_of_a_long_queue_the_first_are_shown(self):
        self.hold("P1")
        for _ in range(3):
            self.start_cli("run", "-m", "P1", "--timeout", "60s", "--", "true")
        self.wait_waiters("P1", 3)
        whole = self.get("/api/monitors/P1")
        some = self.get("/api/monitors/P1?limit=2")
        self.assertEqual((len(whole["queue"]), whole["left_out"], some["left_out"]), (3, 0, 1))
        self.assertEqual([waiter["node"] for waiter in some["queue"]], [each["node"] for each in whole["queue"][:2]])
        self.assertEqual((some["if_released"]["moving_up"], some["holder"]["token"]), (3, whole["holder"]["token"]))
        for limit in ("0", "x", "10001"):
            self.assertEqual(self.request("/api/monitors/P1?limit=" + limit)[0].status, 400, limit)

    def test_unknown_monitor_is_404(self):
        self.wait_ready()
        response, body = self.request("/api/monitors/unknown")
        self.assertEqual((response.status, json.loads(body)["error"]["code"]), (404, "unknown_monitor"))
        self.assertEqual(self.request("/api/nothing")[0].status, 404)

    def test_chain_goes_over_monitors(self):
        self.hold("P2", "--info", "Root")
        self.start_cli("run", "-m", "P1", "-m", "P2", "--info", "Middle", "--timeout", "60s", "--", "true")
        wait_until(lambda: self.holder("P1") and self.queue("P2"), "the set holds one and waits for the other")
        self.start_cli("run", "-m", "P1", "--info", "Leaf", "--timeout", "60s", "--", "true")

        def chain():
            trees = self.get("/api/chains")["trees"]
            return trees if len(trees) == 1 and trees[0]["depth"] == 2 else None

        root = wait_until(chain, "the chain is seen")[0]
        middle = root["waiting"][0]
        self.assertEqual([root["info"], middle["info"], middle["waiting"][0]["info"]], ["Root", "Middle", "Leaf"])
        self.assertEqual([hold["monitor"] for hold in middle["holds"]], ["P1"])
        self.assertRegex(self.get("/api/chains")["worst"],
                         r"^Root .* has held P2 for .*, for which Middle .* waits and holds P1, for which Leaf .*")

    def test_change_is_told(self):
        self.wait_ready()
        stream = self.stream()
        name, data, _ = stream.next()
        self.assertEqual((name, data["live"], data["monitors"]), ("snapshot", True, []))
        holder = self.hold("P1", "--info", "Save")
        event = stream.until(of("P1", "held"))[1]
        self.assertEqual(event["holder"]["owner"]["lockInfo"], "Save")
        self.start_cli("run", "-m", "P1", "--timeout", "60s", "--", "true")
        self.assertEqual(stream.until(of("P1", "waiting"))[1]["waiting"], {"foreground": 1, "background": 0})
        self.let_go(holder)
        stream.until(of("P1", "released"))

    def test_five_hundred_streams_are_told_by_one_thread(self):
        def threads():
            return len(os.listdir(f"/proc/{self.serving.pid}/task"))

        self.wait_ready()
        self.stream().next()
        before = threads()
        streams = [socket.create_connection(("127.0.0.1", self.port), timeout=support.PATIENCE) for _ in range(500)]
        for stream in streams:
            self.addCleanup(stream.close)
            stream.sendall(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        wait_until(lambda: "forelock_serve_streams 501\n" in self.request("/metrics")[1], "all are open")
        self.hold("P1", "--info", "Save")
        for stream in streams:
            told = b""
            while b'"event":"held"' not in told:
                part = stream.recv(65536)
                self.assertTrue(part, "the stream has ended")
                told += part
        self.assertEqual(threads(), before)

    def test_stream_is_resumed_and_misses_nothing(self):
        self.wait_ready()
        first = self.stream()
        first.next()
        one = self.hold("P1")
        number = first.until(of("P1", "held"))[2]
        first.close()
        self.hold("P2")
        self.let_go(one)
        wait_until(lambda: self.row("P2") and not self.row("P1"), "it is seen")
        second = self.stream(number)
        kinds = set()
        while kinds != {("P1", "released"), ("P2", "held")}:
            name, data, _ = second.next()
            self.assertEqual(name, "change")
            kinds.add((data["monitor"], data["event"]))

    def test_answers_name_the_last_event(self):
        self.wait_ready()
        stream = self.stream()
        stream.next()
        self.hold("P1")
        number = stream.until(of("P1", "held"))[2]
        for path in ("/api/monitors", "/api/monitors/P1", "/api/chains", "/api/orders"):
            self.assertEqual(self.get(path)["event"], number, path)

    def test_stream_of_an_earlier_server_begins_anew(self):
        self.wait_ready()
        for number in ("other-1", "garbage", "x" * 4000):
            self.assertEqual(self.stream(number).next()[0], "snapshot")

    def test_metrics_are_prometheus_text_without_monitors(self):
        self.hold("Secret-Monitor")
        self.start_cli("run", "-m", "Secret-Monitor", "-p", "background", "--timeout", "60s", "--", "true")
        self.wait_waiters("Secret-Monitor", 1)
        response, text = self.request("/metrics")
        self.assertIn("text/plain; version=0.0.4", response.headers["Content-Type"])
        values = {}
        for line in text.splitlines():
            if line.startswith("#"):
                self.assertRegex(line, r"^# (HELP|TYPE) forelock_[a-z_]+ ")
                continue
            self.assertRegex(line, r'^forelock_[a-z_]+(\{[a-z]+="[^"\\]*"(,[a-z]+="[^"\\]*")*\})? [-+.e0-9]+$')
            name, _, value = line.rpartition(" ")
            values[name] = float(value)
        self.assertEqual(values['forelock_held{priority="foreground"}'], 1)
        self.assertEqual(values['forelock_waiters{priority="background"}'], 1)
        self.assertEqual(values['forelock_waiters{priority="foreground"}'], 0)
        self.assertEqual(values['forelock_zk_session_state{state="connected"}'], 1)
        self.assertGreater(values["forelock_oldest_hold_seconds"], 0)
        self.assertGreater(values["forelock_oldest_wait_seconds"], 0)
        self.assertEqual(values["forelock_overdue_holders"], 0)
        for op in ("sync", "list"):
            of_op = f'{{op="{op}"}}'
            self.assertGreater(values["forelock_zk_request_duration_seconds_count" + of_op], 0)
            self.assertGreater(values["forelock_zk_request_duration_seconds_sum" + of_op], 0)
            self.assertEqual(values[f'forelock_zk_request_duration_seconds_bucket{{op="{op}",le="+Inf"}}'],
                             values["forelock_zk_request_duration_seconds_count" + of_op])
        self.assertIn("forelock_build_info{", text)
        self.assertNotIn("Secret", text)

    def test_page_and_its_files(self):
        for path in ("/", "/monitors/P1", "/monitors/%3Cscript%3E"):
            response, body = self.request(path)
            self.assertEqual((response.status, response.headers["Content-Type"]), (200, "text/html; charset=utf-8"))
            self.assertNotIn("<script>", body)
        for name, kind in (("page.js", "javascript"), ("page.css", "css"), ("chains.js", "javascript")):
            response, body = self.request("/page/" + name)
            self.assertIn(kind, response.headers["Content-Type"])
            self.assertGreater(len(body), 100)
        self.assertEqual(self.request("/page/unknown.js")[0].status, 404)

    def test_each_view_is_json_for_those_who_want_it(self):
        self.hold("P1")
        wait_until(lambda: self.row("P1"), "it is seen")
        for view in ("/", "/monitors/P1", "/monitors/unknown", "/dead-letters", "/audit"):
            response, body = self.request(view, Accept="application/json")
            self.assertEqual(response.headers["Content-Type"], "application/json", view)
            api = "/api" + (view if view != "/" else "/monitors")
            self.assertEqual(response.status, self.request(api)[0].status, view)
            self.assertEqual(json.loads(body).keys(), json.loads(self.request(api)[1]).keys())
            browser = self.request(view, Accept="text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.8")[0]
            self.assertEqual(browser.headers["Content-Type"], "text/html; charset=utf-8", view)

    def test_every_answer_has_its_walls(self):
        for path in ("/", "/api/monitors", "/api/nothing", "/page/page.js", "/a/../b"):
            headers = self.request(path)[0].headers
            self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
            self.assertNotIn("unsafe", headers["Content-Security-Policy"])
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Cache-Control"], "no-store")
            self.assertNotIn("Access-Control-Allow-Origin", headers)

    def test_signal_ends_it(self):
        self.wait_ready()
        self.stream().next()
        self.serving.send_signal(signal.SIGTERM)
        self.assertEqual(self.serving.wait(support.PATIENCE), 0)

    # --- an attacker's list ---

    def test_missing_and_foreign_hosts_are_refused(self):
        self.assert_status(self.raw(b"GET / HTTP/1.1\r\n\r\n"), 400)
        self.assert_status(self.raw(b"GET / HTTP/1.1\r\nHost: a\r\nHost: 127.0.0.1\r\n\r\n"), 400)
        for host in (b"evil.example", b"127.0.0.1.evil.example", b""):
            self.assert_status(self.raw(b"GET /api/monitors HTTP/1.1\r\nHost: " + host + b"\r\n\r\n"), 421)
        for host in (b"localhost", b"127.0.0.1:1", b"LOCALHOST:80"):
            head = b"GET /livez HTTP/1.1\r\nConnection: close\r\nHost: "
            self.assert_status(self.raw(head + host + b"\r\n\r\n"), 200)

    def test_methods_that_write_are_refused(self):
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
            response, _ = self.request("/api/monitors", method)
            self.assertEqual((response.status, response.headers["Allow"]), (405, "GET, HEAD"), method)
        self.assertNotEqual(self.raw(b"MADE-UP / HTTP/1.1\r\nHost: localhost\r\n\r\n")[9:12], "200")
        response, body = self.request("/livez", "HEAD")
        self.assertEqual((response.status, body), (200, ""))

    def test_path_tricks_are_refused(self):
        for path in ("/../etc/passwd", "/%2e%2e/etc/passwd", "/page/..%2fpage.js", "//", "/page//page.js", "/%00x%",
                     "/%ff", "http://evil.example/", "*"):
            answer = self.raw(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            self.assertIn(answer[9:12], ("400", "404"), path)

    def test_folded_headers_are_refused(self):
        for fold in (b"\r\n ", b"\r\n\t"):
            self.assert_status(self.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a" + fold + b"b\r\n\r\n"), 400)

    def test_long_headers_are_refused(self):
        self.assert_status(self.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 20000 + b"\r\n\r\n"), 431)
        self.assert_status(self.raw(b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"), 431)

    def test_bodies_are_refused(self):
        head = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
        self.assert_status(self.raw(head + b"Content-Length: 1048576\r\n\r\n" + b"x" * 1048576), 413)
        self.assert_status(self.raw(head + b"Content-Length: 5\r\n\r\nhello"), 400)
        self.assert_status(self.raw(head + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), 400)

    def test_smuggled_requests_are_not_answered(self):
        inner = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
        head = b"POST / HTTP/1.1\r\nHost: localhost\r\n"
        for fields in (b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
                       b"Content-Length: 0\r\nContent-Length: 9\r\n", b"Content-Length : 0\r\n",
                       b"Content-Length: +0\r\n", b"Transfer-Encoding: identity\r\n", b""):
            answer = self.raw(head + fields + b"\r\n" + inner)
            self.assertEqual(answer.count("HTTP/1.1 "), 1, answer)
            self.assertNotEqual(answer[9:12], "200")

    def test_bare_line_ends_and_zeros_are_refused(self):
        self.assert_status(self.raw(b"GET / HTTP/1.1\nHost: localhost\r\n\r\n"), 400)
        self.assert_status(self.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n"), 400)
        self.assert_status(self.raw(b"\x16\x03\x01\x02\x00\r\n\r\n"), 400)

    def test_slow_header_ends_while_others_are_served(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as slow:
            slow.sendall(b"GET / HTTP/1.1\r\nHost: loc")
            self.assertEqual(self.request("/livez")[0].status, 200)
            self.assertEqual(slow.recv(1), b"")  # by the server's patience with a header

    def test_too_many_connections_leave_those_that_are_there(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        with contextlib.ExitStack() as stack:
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
            stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
            first = http.client.HTTPConnection("127.0.0.1", self.port, timeout=support.PATIENCE)
            stack.callback(first.close)
            first.request("GET", "/livez")
            self.assertEqual(first.getresponse().read(), b"ok\n")
            many = [stack.enter_context(socket.create_connection(("127.0.0.1", self.port))) for _ in range(1100)]
            refused = select.poll()
            for connection in many:
                refused.register(connection, select.POLLIN)
            wait_until(lambda: len(refused.poll(0)) >= 100, "those beyond the limit are closed")
            self.assertLess(len(refused.poll(0)), 200)
            first.request("GET", "/livez")
            self.assertEqual(first.getresponse().read(), b"ok\n")
        wait_until(self.answers, "there is room for others again")

    def test_ten_thousand_connections_cost_those_that_are_there_nothing(self):
        def megabytes():
            with open(f"/proc/{self.serving.pid}/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * resource.getpagesize() / 1e6

        self.wait_ready()
        stream = self.stream()
        stream.next()
        before = megabytes()
        open_ones, refused, poll = {}, 0, select.poll()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        with contextlib.ExitStack() as stack:
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 12_000)), hard))
            stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
            for _ in range(100):
                for _ in range(100):
                    connection = stack.enter_context(socket.create_connection(("127.0.0.1", self.port)))
                    open_ones[connection.fileno()] = connection
                    poll.register(connection, select.POLLIN)
                for number, _ in poll.poll(0):  # the server has closed it
                    poll.unregister(number)
                    open_ones.pop(number).close()
                    refused += 1
            wait_until(lambda: len(poll.poll(0)) + refused >= 9000, "those beyond the limit are closed")
            self.hold("P1")
            stream.until(of("P1", "held"))
            self.assertLess(megabytes() - before, 100)
        wait_until(self.answers, "there is room for others again")

    def test_others_texts_are_data_and_nothing_else(self):
        text = '</script><img src=x onerror=alert(1)>\r\nX-Injected: 1\x1b[31m'
        self.hold(text.replace("\r\n", "\n"), "--info", text)
        wait_until(lambda: self.get("/api/monitors")["monitors"], "it is seen")
        response, body = self.request("/api/monitors")
        self.assertEqual(response.headers["Content-Type"], "application/json")
        self.assertNotIn("X-Injected", response.headers)
        self.assertNotIn("\x1b", body)
        self.assertEqual(json.loads(body)["monitors"][0]["monitor"], text.replace("\r\n", "\n"))
        data = self.stream().next()[1]
        self.assertEqual(data["monitors"][0]["holder"]["owner"]["lockInfo"], text)

    def test_listening_for_others_is_refused(self):
        for address in ("0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.org:0"):
            result = self.run_cli("serve", "--listen", address, "-o", "json")
            self.assertEqual(result.returncode, 78, result.stderr)
            error = self.error_of(result)
            self.assertEqual(error["code"], "not_permitted")
            self.assertIn("in the clear", error["message"])
        for address in ("127.0.0.1", "127.0.0.1:x", ":80", "127.0.0.1:65536"):
            self.assertEqual(self.run_cli("serve", "--listen", address).returncode, 64)

    def test_port_in_use_is_named(self):
        result = self.run_cli("serve", "--listen", f"127.0.0.1:{self.port}", "-o", "json")
        self.assertEqual((result.returncode, self.error_of(result)["code"]), (69, "cannot_listen"))


class AllowedHost(ServeTest, support.CliTest):
    def test_proxy_may_use_its_name(self):
        self.serve("--allow-host", "locks.example")
        self.assertEqual(self.request("/livez", Host="locks.example")[0].status, 200)
        self.assertEqual(self.request("/livez", Host="other.example")[0].status, 421)


class Outage(ServeTest, support.OwnServerTest):
    makes_namespace = False

    def test_old_picture_is_not_shown_as_the_present(self):
        self.hold("P1", script="echo ready; cat >/dev/null")
        self.serve()
        wait_until(lambda: self.ready() and self.row("P1"), "it is seen")
        stream = self.stream()
        self.assertTrue(stream.next()[1]["live"])
        self.silence_server()
        status = stream.until(lambda name, data: name == "status" and not data["live"])[1]
        self.assertGreater(status["age_ms"], 0)
        old = self.get("/api/monitors")
        self.assertFalse(old["live"])
        self.assertEqual([row["monitor"] for row in old["monitors"]], ["P1"])
        self.assertFalse(self.get("/api/chains")["live"])
        self.assertFalse(self.get("/api/monitors/P1")["live"])
        self.assertEqual(self.request("/readyz")[0].status, 503)
        self.assertEqual(self.request("/livez")[0].status, 200)
        metrics = self.request("/metrics")[1]
        self.assertIn("forelock_picture_live 0", metrics)
        self.assertNotIn("forelock_held", metrics)
        wait_until(lambda: self.get("/api/monitors")["problem"], "a look has failed")
        self.wake_server()
        stream.until(lambda name, data: name == "status" and data["live"])
        self.wait_ready()

    def test_it_ends_at_once_beside_a_silent_server(self):
        self.serve()
        self.wait_ready()
        self.silence_server()
        wait_until(lambda: not self.ready(), "it is seen")
        self.serving.send_signal(signal.SIGTERM)
        self.assertEqual(self.serving.wait(support.PATIENCE), 0)


class NoServer(ServeTest, support.CliTest):
    makes_namespace = False

    def test_it_serves_and_says_what_is_missing(self):
        self.serve()
        wait_until(lambda: "chroot" in self.request("/readyz")[1] or "does not exist" in self.request("/readyz")[1],
                   "the reason is told")
        response, body = self.request("/api/monitors")
        self.assertEqual((response.status, json.loads(body)["error"]["code"]), (503, "no_picture"))
        name, data, _ = self.stream().next()
        self.assertEqual((name, data["live"], data["monitors"]), ("snapshot", False, []))
        self.assertEqual(self.request("/livez")[0].status, 200)
        self.assertNotIn("forelock_held", self.request("/metrics")[1])


if __name__ == "__main__":
    support.main()
