"""forelock dlq replay --to-opensearch, against a server that answers as a test says. What a real node does with such
writes is in tests/opensearch."""

import base64
import http.server
import json
import os
import shutil
import ssl
import subprocess
import threading
import unittest
from urllib.parse import unquote

import dlq_support
import support

STATS = "/_plugins/_forelock/stats?filter_path=cluster_name,nodes.*.name"
FIELDS = "error,status,items.*._id,items.*.result,items.*.status,items.*.error"
BULK = "_bulk?pipeline=_none&filter_path=" + FIELDS.replace(",", "%2C").replace(".", "%2E").replace("*", "%2A")


class Answering(http.server.ThreadingHTTPServer):
    """Remembers the requests, and answers each with what is left of a list, or else that it was done."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.requests = []
        self.answers = []
        self.missing = []  # paths of indices
        self.stats = (200, {"nodes": {"n": {}}}, {})
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def next_answer(self, method, path, body):
        if path == STATS:
            return self.stats
        if method == "HEAD":
            return (404 if path in self.missing else 200), None, {}
        with self.lock:
            answer = self.answers.pop(0) if self.answers else (200, {"result": "updated"}, {})
        return complete(answer, path, body)

    def end(self):
        self.shutdown()
        self.server_close()


def complete(answer, path, body):
    """With the document's id; of a bulk, in the form of a bulk."""
    status, document, headers = answer
    if not isinstance(document, dict):
        return answer
    if "/_bulk?" in path:
        identifier = json.loads(body.splitlines()[0])["update"]["_id"]
        if "result" in document or status in (400, 404, 409):
            return 200, {"items": [{"update": {"_id": identifier, "status": status, **document}}]}, headers
    elif "result" in document:
        document = {"_id": unquote(path.split("?")[0].rsplit("/")[-1]), **document}
    return status, document, headers


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        with self.server.lock:
            self.server.requests.append((self.command, self.path, dict(self.headers), body))
        status, document, headers = self.server.next_answer(self.command, self.path, body)
        if status == 0:
            self.close_connection = True
            return
        content = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer

    def log_message(self, *arguments):
        pass


def refusal(status, kind, reason="because", code=None):
    error = {"type": kind, "reason": reason}
    if code:
        error["forelock_code"] = code
    return status, {"error": error, "status": status}, {}


class ToOpenSearch(dlq_support.DlqTest):
    def setUp(self):
        super().setUp()
        self.server = Answering()
        self.addCleanup(self.server.end)

    def letter(self, monitor="P1", **write):
        write = {"schema": 1, "op": "index", "index": "articles", "id": "1", "source": "{\"n\":1}", **write}
        return self.dead_letter("--type", "opensearch_write", "--payload", "-", monitor=monitor,
                                stdin=json.dumps({name: value for name, value in write.items() if value is not None}))

    def replay(self, *options, url=None, **environment):
        return self.run_cli("dlq", "replay", "--to-opensearch", url or self.server.url, "--execute", *options,
                            **environment)

    def report(self, *options, code=0, **environment):
        result = self.replay("-o", "json", *options, **environment)
        self.assertEqual(result.returncode, code, result.stderr)
        return json.loads(result.stdout)

    def writes(self):
        return [request for request in self.server.requests if request[1] != STATS and request[0] != "HEAD"]

    def test_each_kind_of_write(self):
        source = '{"n": 12345678901234567890.10,\n "text": "é\\u0000"}'
        self.letter(source=source, routing="r&x=1", if_seq_no=5, if_primary_term=2, pipeline="_none")
        self.letter(op="create", id="a b/c?d#é", source="{}")
        self.letter(op="update", id="ü", source='{"doc":\r\n{}}', routing="r", retry_on_conflict=3, if_seq_no=7,
                    if_primary_term=1)
        self.letter(op="delete", source=None, version=7, version_type="external")
        self.assertEqual(self.report("--lock-timeout", "1500")["replayed"], 4)
        self.assertEqual([(method, path, body) for method, path, _, body in self.writes()], [
            ("PUT", "/articles/_doc/1?op_type=index&pipeline=_none&routing=r%26x%3D1&if_seq_no=5&if_primary_term=2"
             "&timeout=1500ms", source),
            ("PUT", "/articles/_doc/a%20b%2Fc%3Fd%23%C3%A9?op_type=create&timeout=1500ms", "{}"),
            ("POST", f"/articles/{BULK}&timeout=1500ms", '{"update":{"_id":"ü","if_primary_term":1,"if_seq_no":7,'
             '"retry_on_conflict":3,"routing":"r"}}\n{"doc":  {}}\n'),
            ("DELETE", "/articles/_doc/1?version_type=external&version=7&timeout=1500ms", "")])
        for _, _, headers, _ in self.writes():
            self.assertEqual((headers["X-Forelock-Priority"], headers["X-Forelock-Required"]), ("background", "true"))
            self.assertNotIn("Authorization", headers)
        self.assertEqual(self.ids(), [])

    def test_what_the_answer_means(self):
        for answer in ((409, "status_exception", "held", "lock_timeout"), (409, "x", "off", "not_guarded"),
                       (429, "x", "many", "too_many_held"), (503, "x"), (500, "other"),
                       (403, "security_exception"), (302, "moved")):
            with self.subTest(answer):
                identity = self.letter(monitor="P2")
                self.server.answers = [refusal(*answer)]
                result = self.replay("--id", identity)
                self.assertEqual(result.returncode, 75, result.stderr)
                self.assertIn(f"OpenSearch answers {answer[0]}", result.stderr)
                self.assertEqual(self.letters("--id", identity)[0]["tries"], 0, "no failure of the letter's")
                self.assertEqual(self.report("--id", identity)["replayed"], 1)
        for answer in ((200, {"result": "noop"}, {}), (201, {"result": "created"}, {}),
                       (404, {"result": "not_found"}, {})):
            self.letter(monitor="P2")
            self.server.answers = [answer]
            self.assertEqual(self.report()["replayed"], 1, answer)

    def test_an_updates_answer_is_its_items(self):
        for answer in (refusal(409, "status_exception", "held", "lock_timeout"), refusal(429, "x"), refusal(503, "x")):
            identity = self.letter(op="update")
            self.server.answers = [(200, {"items": [{"update": {"_id": "1", "status": answer[0], **answer[1]}}]}, {})]
            result = self.replay("--id", identity)
            self.assertEqual(result.returncode, 75, result.stderr)
            self.assertIn(f"OpenSearch answers {answer[0]}", result.stderr)
            self.server.answers = [(200, {"items": [{"update": {"_id": "1", "status": 200, "result": "noop"}}]}, {})]
            self.assertEqual(self.report("--id", identity)["replayed"], 1)
        identity = self.letter(op="update")
        self.server.answers = [refusal(404, "document_missing_exception")]
        result = self.replay("--id", identity)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("404 document_missing_exception", result.stderr)

    def test_what_does_not_confirm_the_write_is_none(self):
        done = {"_id": "1", "status": 200, "result": "updated"}
        for write, document in (("index", b"<html>Welcome</html>"), ("index", {}), ("index", {"_id": "1"}),
                                ("index", {"_id": "2", "result": "updated"}), ("index", {"_id": "1", "result": "?"}),
                                ("index", []), ("update", b"<html>Welcome</html>"), ("update", {"items": []}),
                                ("update", {"items": [{"update": {**done, "_id": "2"}}]}),
                                ("update", {"items": [{"update": 7}]}), ("update", {"items": [7]}),
                                ("update", {"items": [{"update": done}] * 2})):
            with self.subTest((write, document)):
                identity = self.letter(op=write)
                self.server.answers = [(200, document, {})]
                result = self.replay("--id", identity)
                self.assertEqual(result.returncode, 75, result.stderr)
                self.assertIn("does not confirm the write", result.stderr)
                self.assertEqual(self.letters("--id", identity)[0]["tries"], 0)
                self.assertEqual(self.report("--id", identity)["replayed"], 1)

    def test_an_index_that_is_not_there_is_not_made(self):
        identity = self.letter()
        self.server.missing = ["/articles"]
        result = self.replay()
        self.assertEqual(result.returncode, 75, result.stderr)
        self.assertIn("its index is not there", result.stderr)
        self.assertEqual(self.writes(), [])
        self.assertEqual(self.letters("--id", identity)[0]["tries"], 0)

    def test_what_must_not_be_sent_twice_is_not(self):
        for write, sent in (({"op": "update"}, 1), ({"op": "create"}, 1), ({"if_seq_no": 1, "if_primary_term": 1}, 1),
                            ({}, 2)):
            self.server.requests.clear()
            identity = self.letter(**write)
            self.server.answers = [(0, None, {})] * 2  # the connection ends, as one that was kept may
            self.assertEqual(self.replay("--id", identity).returncode, 75)
            self.assertEqual(len(self.writes()), sent, write)
            self.server.answers = []
            self.assertEqual(self.report("--id", identity)["replayed"], 1)

    def test_what_is_refused_stays_and_holds_up_its_monitor_until_it_is_parked(self):
        first, second = self.letter(), self.letter(id="2")
        other = self.letter(monitor="P2", id="3")
        for attempt in range(3):
            self.server.answers = [refusal(400, "mapper_parsing_exception", "failed to parse field [n]. Preview of "
                                           "field's value: 'secret'")]
            result = self.replay("--concurrency", "1")
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn("400 mapper_parsing_exception: failed to parse field [n].", result.stderr)
            self.assertNotIn("secret", result.stderr)
            self.assertEqual(self.ids(), [first, second] if attempt < 2 else [])
        self.assertEqual(self.ids("--parked"), [first])
        self.assertNotIn(other, self.ids())
        paths = [path.split("?")[0] for _, path, _, _ in self.writes()]
        self.assertEqual(sorted(paths[:2]), ["/articles/_doc/1", "/articles/_doc/3"])
        self.assertEqual(paths[2:], ["/articles/_doc/1", "/articles/_doc/1", "/articles/_doc/2"])

    def test_letters_of_one_monitor_are_written_in_order(self):
        for i in range(12):
            self.letter(monitor=f"P{i % 3}", id=f"{i % 3}-{i // 3}")
        self.assertEqual(self.report("--concurrency", "3")["replayed"], 12)
        for monitor in range(3):
            ids = [path.split("?")[0].rsplit("/")[-1] for _, path, _, _ in self.writes()]
            self.assertEqual([one for one in ids if one.startswith(f"{monitor}-")],
                             [f"{monitor}-{i}" for i in range(4)])

    def test_no_answer_is_no_failure(self):
        identity = self.letter()
        self.server.answers = [(0, None, {})] * 2  # a kept connection may have been closed before, so it is sent again
        result = self.replay()
        self.assertEqual(result.returncode, 75, result.stderr)
        self.assertIn("no answer from OpenSearch", result.stderr)
        self.assertEqual(self.letters("--id", identity)[0]["tries"], 0)

    def test_a_redirection_is_not_followed(self):
        elsewhere = Answering()
        self.addCleanup(elsewhere.end)
        self.letter()
        self.server.answers = [(307, {}, {"Location": elsewhere.url + "/articles/_doc/1"})]
        self.assertEqual(self.replay().returncode, 75)
        self.assertEqual(elsewhere.requests, [])

    def test_a_payload_says_neither_server_nor_path(self):
        for index, identity in (("..", ".."), ("http://127.0.0.1:1/x", "../../_cluster/settings"),
                                ("a\r\nHost: evil", "x HTTP/1.1\r\n\r\n"), ("@evil:1", "?a=b"), ("*", "%2e%2e")):
            self.letter(index=index, id=identity)
        self.assertEqual(self.report()["replayed"], 5)
        for _, path, headers, _ in self.writes():
            self.assertRegex(path, r"^/[\w%-]+/_doc/[\w%-]+\?op_type=index&timeout=2000ms$")
            self.assertEqual(headers["Host"], self.server.url.partition("//")[2])

    def test_a_payload_that_is_none_is_the_letters_failure(self):
        for write in ({"op": "format"}, {"id": None}, {"index": ""}, {"index": "_cluster"}, {"source": None},
                      {"source": {"n": 1}}, {"if_seq_no": "5"}, {"schema": None}):
            identity = self.letter(monitor="P" + json.dumps(write), **write)
            result = self.replay("--id", identity)
            self.assertEqual(result.returncode, 1, (write, result.stderr))
            self.assertIn("the payload is no write of OpenSearch", result.stderr)
        identity = self.letter(schema=2)
        result = self.replay("--id", identity)
        self.assertEqual(result.returncode, 75, result.stderr)
        self.assertIn("of schema 2, which this version does not know", result.stderr)
        self.assertEqual(self.writes(), [])

    def test_letters_of_others_are_left_alone(self):
        other = self.dead_letter("--type", "propagate")
        self.letter()
        self.assertEqual(self.report()["replayed"], 1)
        self.assertEqual(self.ids(), [other])
        result = self.replay("--type", "propagate")
        self.assertEqual(result.returncode, 64)
        self.assertIn("letters of type opensearch_write alone", result.stderr)

    def test_a_server_without_the_plugin_gets_no_write(self):
        self.letter()
        for answer, code, text in ((refusal(400, "illegal_argument_exception"), 1, "no node with the plugin forelock"),
                                   ((200, {"ok": True}, {}), 1, "no node with the plugin"),
                                   (refusal(401, "security_exception"), 77, "does not permit it"),
                                   (refusal(503, "not_ready"), 69, "503 not_ready")):
            self.server.stats = answer
            result = self.replay()
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertIn(text, result.stderr)
        closed = Answering()
        closed.end()
        result = self.replay(url=closed.url)
        self.assertEqual(result.returncode, 69, result.stderr)
        self.assertIn("does not answer", result.stderr)
        self.assertEqual(self.writes(), [])
        self.assertEqual(self.letters()[0]["tries"], 0)

    def test_credentials_that_are_refused_end_it(self):
        self.letter()
        self.letter(monitor="P2")
        self.server.answers = [refusal(401, "security_exception")] * 2
        result = self.replay("--concurrency", "1")
        self.assertEqual(result.returncode, 77, result.stderr)
        self.assertIn("--opensearch-credentials FILE", result.stderr)
        self.assertEqual(len(self.writes()), 1)
        self.assertEqual([letter["tries"] for letter in self.letters()], [0, 0])

    def test_credentials_come_from_a_file_or_the_environment(self):
        file = self.write("credentials", "me:pass:word\n")
        os.chmod(file, 0o600)
        for options, environment in ((("--opensearch-credentials", file), {}),
                                     ((), {"FORELOCK_OPENSEARCH_CREDENTIALS": "me:pass:word"})):
            self.letter()
            self.assertEqual(self.report(*options, **environment)["replayed"], 1)
            expected = "Basic " + base64.b64encode(b"me:pass:word").decode()
            self.assertEqual(self.writes()[-1][2]["Authorization"], expected)
        os.chmod(file, 0o644)
        result = self.replay("--opensearch-credentials", file)
        self.assertEqual(result.returncode, 78, result.stderr)
        self.assertNotIn("pass", result.stderr)
        result = self.replay(FORELOCK_OPENSEARCH_CREDENTIALS="nothing")
        self.assertEqual(result.returncode, 78, result.stderr)
        for url in ("http://search.example:9200", "http://10.0.0.1", "http://localhost.example:1"):
            result = self.replay(url=url, FORELOCK_OPENSEARCH_CREDENTIALS="me:secret")
            self.assertEqual(result.returncode, 78, (url, result.stderr))
            self.assertIn("would go unencrypted to " + url, result.stderr)
            self.assertNotIn("secret", result.stderr)
        for url in ("http://me:secret@127.0.0.1:1", "127.0.0.1:9200", "ftp://x", "http://x?y=1", "http://x#y",
                    "http://", "file:///etc/passwd"):
            result = self.replay(url=url)
            self.assertEqual(result.returncode, 64, (url, result.stderr))
            self.assertNotIn("secret", result.stderr)

    def test_the_environments_proxy_is_not_used(self):
        self.letter()
        self.assertEqual(self.report(http_proxy="http://127.0.0.1:1", ALL_PROXY="http://127.0.0.1:1")["replayed"], 1)

    @unittest.skipUnless(shutil.which("openssl"), "makes the certificate")
    def test_the_servers_certificate_is_checked(self):
        certificate, key = self.path("server.pem"), self.path("server.key")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj",
                        "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out",
                        certificate], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.letter()
        url = f"https://localhost:{self.server.server_port}"
        result = self.replay(url=url)
        self.assertEqual(result.returncode, 69, result.stderr)
        self.assertIn("certificate", result.stderr)
        wrong_name = self.replay("--opensearch-ca", certificate, url=url.replace("localhost", "127.0.0.1"))
        self.assertEqual(wrong_name.returncode, 69, wrong_name.stderr)
        self.assertEqual(self.writes(), [])
        self.assertEqual(self.report("--opensearch-ca", certificate, url=url)["replayed"], 1)

    def test_a_dry_run_sends_nothing_and_says_the_command(self):
        self.letter()
        result = self.ends(0, "dlq", "replay", "--to-opensearch", self.server.url + "/", "--opensearch-ca", "ca.pem")
        self.assertIn("as a write to " + self.server.url, result.stdout)
        self.assertIn(f"--to-opensearch {self.server.url}/ --opensearch-ca ca.pem --execute", result.stdout)
        self.assertEqual(self.server.requests, [])

    def test_the_letters_lock_is_left_to_the_node(self):
        self.letter()
        self.hold("P1")
        self.assertEqual(self.report()["replayed"], 1)


class Usage(support.CliTest):
    def test_one_target_is_wanted(self):
        for options in (("--exec", "true"), ("--to-topic", "T"), ("--stdin", "payload")):
            self.ends(64, "dlq", "replay", "--to-opensearch", "http://x", *options)
        self.ends(64, "dlq", "replay", "--opensearch-ca", "x", "--exec", "true")
