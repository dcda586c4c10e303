"""forelock serve --dead-letters, and what it shows of the audit file: to whom, and how much."""

import json
import os
import subprocess

import support
from dlq_support import DlqTest
from serve_test import ServeTest

ANNA = "a" * 40
BEARER = {"Authorization": "Bearer " + ANNA}


class LettersTest(ServeTest, DlqTest):
    def setUp(self):
        super().setUp()
        self.audit = self.path("audit.jsonl")
        self.tokens = self.write("tokens", f"anna {ANNA}\n")
        os.chmod(self.tokens, 0o600)

    def refusal(self, path, **headers):
        response, body = self.request(path, **headers)
        return response.status, json.loads(body)["error"]["code"]


class Letters(LettersTest):
    def test_numbers_and_letters_are_those_of_the_command(self):
        first = self.dead_letter("--type", "Save", "--payload", "-", stdin="secret of the first", monitor="P1")
        second = self.dead_letter("--type", "Import", script="exit 3", monitor="P2")
        self.serve("--dead-letters")
        shown = self.get("/api/dead-letters")
        expected = self.json_of("dlq", "stats")
        for name in ("letters", "parked", "unreadable", "by_reason", "by_type", "by_monitor", "store",
                     "oldest_failed_at"):
            self.assertEqual(shown[name], expected[name], name)
        self.assertEqual({letter["id"] for letter in shown["list"]}, {first, second})
        self.assertFalse(shown["more"])
        one = self.get("/api/dead-letters?type=Save")
        self.assertEqual(([letter["id"] for letter in one["list"]], one["letters"]), ([first], 1))
        limited = self.get("/api/dead-letters?limit=1")
        self.assertEqual((len(limited["list"]), limited["more"], limited["letters"]), (1, True, 2))
        for query in ("limit=0", "limit=x", "session=1", "parked=2"):
            self.assertEqual(self.refusal("/api/dead-letters?" + query), (400, "usage"), query)

    def test_one_letter_and_commands_that_work(self):
        identity = self.dead_letter("--type", "Save", "--payload", "-", stdin="secret")
        self.serve("--dead-letters")
        letter = self.get("/api/dead-letters/" + identity)
        record = self.record(identity)
        self.assertEqual([letter[name] for name in ("id", "type", "attempts", "state", "tries", "position")],
                         [record[name] for name in ("id", "type", "attempts", "state", "tries", "position")])
        self.assertEqual(letter["payload_bytes"], 6)
        self.assertNotIn("payload", letter)
        environment = support.clean_environment(FORELOCK_ZOOKEEPER=self.connect_string())
        words = letter["commands"]["park"].split()
        subprocess.run(self.command(*words[1:], server=False), env=environment, check=True, capture_output=True)
        self.assertEqual([each["id"] for each in self.get("/api/dead-letters?parked=1")["list"]], [identity])
        parked = self.get("/api/dead-letters/" + identity[:8])  # the beginning of an id will do
        self.assertEqual((parked["state"], "unpark" in parked["commands"]), ("parked", True))
        command = parked["commands"]["replay"].replace("COMMAND", "cat >" + self.path("replayed"))
        subprocess.run(["sh", "-c", command.replace("forelock", " ".join(self.command(server=False)), 1)],
                       env=environment, check=True, capture_output=True)
        self.assertEqual(self.lines_of("replayed")[0][:1], "{")
        self.assertEqual(self.refusal("/api/dead-letters/" + identity), (404, "unknown_letter"))

    def post(self, path, **body):
        csrf = json.loads(self.request("/api/admin", **BEARER)[1])["csrf"]
        response, answer = self.request(path, "POST", json.dumps(body), Content_Type="application/json",
                                        X_Forelock_CSRF=csrf, **BEARER)
        return response.status, json.loads(answer)

    def test_an_admin_puts_a_parked_letter_back(self):
        identity = self.dead_letter("--type", "Save")
        path = f"/api/dead-letters/{identity}/unpark"
        self.serve("--dead-letters", "--admin", self.tokens, "--audit-file", self.audit)
        status, answer = self.post(path, reason="it is repaired")
        self.assertEqual((status, answer["error"]["code"]), (409, "not_parked"))
        self.json_of("dlq", "park", identity)
        for reason in (None, " ", "x" * 1001):
            self.assertEqual(self.post(path, reason=reason)[0], 400, reason)
        for other in ("unknown", identity[:8]):  # a beginning is not enough for an act
            self.assertEqual(self.post(f"/api/dead-letters/{other}/unpark", reason="x")[0], 404, other)
        self.assertEqual(self.request(path, "POST", "{}")[0].status, 401)
        self.assertEqual([each["id"] for each in self.get("/api/dead-letters?parked=1")["list"]], [identity])
        status, answer = self.post(path, reason="it is repaired")
        self.assertEqual((status, answer["unparked"], answer["id"]), (200, True, identity), answer)
        self.assertEqual([each["id"] for each in self.get("/api/dead-letters")["list"]], [identity])
        acts = [act for act in self.json_of("audit", "--audit-file", self.audit)["acts"] if act["action"] == "unpark"]
        self.assertEqual([act["result"] for act in acts], ["begun", "restored 1"])
        for act in acts:
            self.assertTrue(act["by"].startswith("anna (admin of forelock serve)@"), act)
            self.assertEqual((act["reason"], act["which"]), ("it is repaired", identity))

    def test_without_kafka_there_is_nothing_to_send(self):
        self.serve("--dead-letters", "--admin", self.tokens)
        status, answer = self.post("/api/outbox/forward", reason="now")
        self.assertEqual((status, answer["error"]["code"]), (409, "no_kafka"))

    def test_without_letters_there_are_no_acts_on_them(self):
        self.serve("--admin", self.tokens)
        for path in ("/api/outbox/forward", "/api/dead-letters/x/unpark"):
            self.assertEqual(self.post(path, reason="now")[0], 404, path)

    def test_payload_is_for_admins_who_ask(self):
        identity = self.dead_letter("--type", "Save", "--payload", "-", stdin="secret\0<b>")
        self.serve("--dead-letters", "--admin", self.tokens)
        self.assertNotIn("secret", self.request("/api/dead-letters", **BEARER)[1])
        self.assertNotIn("secret", self.request("/api/dead-letters/" + identity, **BEARER)[1])
        path = f"/api/dead-letters/{identity}/payload"
        self.assertEqual(self.refusal(path), (401, "not_authorized"))
        response, body = self.request(path, **BEARER)
        self.assertEqual((response.status, body), (200, "secret\0<b>"))
        self.assertEqual(response.getheader("Content-Type"), "application/octet-stream")
        self.assertEqual(response.getheader("X-Content-Type-Options"), "nosniff")

    def test_off_unless_asked_for(self):
        self.dead_letter("--type", "Save", "--payload", "-", stdin="secret")
        self.serve("--admin", self.tokens)
        for path in ("/api/dead-letters", "/api/dead-letters/x", "/api/dead-letters/x/payload"):
            self.assertEqual(self.refusal(path, **BEARER), (404, "no_letters"), path)

    def test_queue_that_cannot_be_read_is_named_and_the_rest_goes_on(self):
        os.makedirs(self.outbox)
        self.serve("--dead-letters")
        self.assertEqual(self.refusal("/api/dead-letters"), (503, "outbox_unavailable"))
        self.wait_ready()


class Audit(LettersTest):
    def test_admins_see_what_was_done_the_newest_first(self):
        self.serve("--admin", self.tokens, "--audit-file", self.audit)
        self.assertEqual(self.refusal("/api/audit"), (401, "not_authorized"))
        self.assertEqual(json.loads(self.request("/api/audit", **BEARER)[1]), {"acts": [], "more": False})
        for monitor in ("P1", "P2"):
            self.hold(monitor, script="echo ready; exec sleep 1000")
            self.run_cli("release", monitor, "--holder", self.holder(monitor)["node"], "--reason", "of " + monitor,
                         "--audit-file", self.audit)
        acts = json.loads(self.request("/api/audit", **BEARER)[1])["acts"]
        self.assertEqual([(act["monitor"], act["result"]) for act in acts],
                         [("P2", "released"), ("P2", "begun"), ("P1", "released"), ("P1", "begun")])
        of_one = json.loads(self.request("/api/audit?monitor=P1&limit=1", **BEARER)[1])
        self.assertEqual(([act["reason"] for act in of_one["acts"]], of_one["more"]), (["of P1"], True))

    def test_long_and_damaged_files(self):
        line = json.dumps({"at": "2026-01-01T00:00:00.000Z", "action": "release", "monitor": "P1", "pad": "x" * 500})
        self.write("audit.jsonl", "not JSON\n" + (line + "\n") * 3000 + "[]\n{\n")
        self.serve("--admin", self.tokens, "--audit-file", self.audit)
        answer = json.loads(self.request("/api/audit?limit=1000", **BEARER)[1])
        self.assertEqual((len(answer["acts"]), answer["more"]), (1000, True))

    def test_without_a_file_there_is_none(self):
        self.serve("--admin", self.tokens)
        self.assertEqual(self.refusal("/api/audit", **BEARER), (404, "no_audit"))


class Views(ServeTest, support.CliTest):
    def test_each_view_is_a_link(self):
        self.serve()
        page = self.request("/")[1]
        for path in ("/dead-letters", "/dead-letters/0a1b", "/audit", "/monitors/P1"):
            self.assertEqual(self.request(path)[1], page, path)
        for path in ("/dead-letters/a/b", "/audit/x", "/monitors"):
            self.assertEqual(self.request(path)[0].status, 404, path)


if __name__ == "__main__":
    support.main()
