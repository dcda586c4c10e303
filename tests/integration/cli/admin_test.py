"""forelock serve --admin: who may take a lock away through the page's server, who may not, and what is on record."""

import json
import os
import pwd
import urllib.parse

import support
from serve_test import ServeTest
from support import wait_until

ANNA = "a" * 40
OLD = "b" * 40


class AdminTest(ServeTest, support.CliTest):
    def setUp(self):
        super().setUp()
        self.file = self.path("audit.jsonl")
        self.tokens = self.write("tokens", f"# who may act\n\nanna {ANNA}\nold {OLD} 2020-01-01T00:00:00Z\n")
        os.chmod(self.tokens, 0o600)
        self.serve("--admin", self.tokens, "--audit-file", self.file)
        self.wait_ready()

    def bearer(self, token=ANNA):
        return {"Authorization": "Bearer " + token}

    def csrf(self):
        return json.loads(self.request("/api/admin", **self.bearer())[1])["csrf"]

    def act(self, monitor, holder, reason="it hangs", token=ANNA, **changes):
        """The answer to a forced release; a header that is None is left out."""
        headers = {"Content_Type": "application/json", "X_Forelock_CSRF": self.csrf(), **self.bearer(token), **changes}
        response, body = self.request(f"/api/monitors/{monitor}/release", "POST",
                                      json.dumps({"holder": holder, "reason": reason}),
                                      **{name: value for name, value in headers.items() if value is not None})
        return response, json.loads(body)

    def held(self, monitor):
        child = self.hold(monitor, script="echo ready; exec sleep 1000")
        holder = self.holder(monitor)
        return child, f"{holder['node']}@{holder['token']}"


class Proxied(ServeTest, support.CliTest):
    """A header that says who asks, of a proxy of this user: and of everybody else."""

    HEADER = "X-Remote-User"

    def proxied(self, owner, *options):
        tokens = self.write("tokens", f"anna {ANNA}\nbert -\nold - 2020-01-01T00:00:00Z\n")
        os.chmod(tokens, 0o600)
        self.serve("--admin", tokens, "--audit-file", self.path("audit.jsonl"), "--proxy-header", self.HEADER,
                   "--proxy-owner", owner, *options)
        self.wait_ready()

    def who(self, **headers):
        response, body = self.request("/api/admin", **headers)
        self.assertEqual(response.status, 200, body)
        return json.loads(body)["who"]

    def release(self, monitor, **headers):
        held = self.holder(monitor)
        body = json.dumps({"holder": f"{held['node']}@{held['token']}", "reason": "it hangs"})
        return self.request(f"/api/monitors/{monitor}/release", "POST", body, Content_Type="application/json",
                            **headers)

    def test_the_proxys_user_acts(self):
        self.proxied(pwd.getpwuid(os.getuid()).pw_name)
        child = self.hold("P1", script="echo ready; exec sleep 1000")
        self.assertEqual(self.who(X_Remote_User="bert"), "bert")
        self.assertEqual(self.release("P1", X_Remote_User="bert")[0].status, 403, "no CSRF text")
        csrf = json.loads(self.request("/api/admin", X_Remote_User="bert")[1])["csrf"]
        response, body = self.release("P1", X_Remote_User="bert", X_Forelock_CSRF=csrf)
        self.assertEqual(response.status, 200, body)
        self.assertEqual(child.wait(support.PATIENCE), 76)
        with open(self.path("audit.jsonl"), encoding="utf-8") as file:
            self.assertTrue(json.loads(file.readline())["by"].startswith("bert (admin of forelock serve)@"))

    def test_nobody_else_is_believed_by_name(self):
        self.proxied(pwd.getpwuid(os.getuid()).pw_name)
        self.hold("P1")
        for name in ("", "eve", "old", "Bert", "bert,anna", "bert anna", "anna " + ANNA):
            self.assertIsNone(self.who(X_Remote_User=name), name)
            self.assertEqual(self.release("P1", X_Remote_User=name)[0].status, 401, name)
        self.assertIsNone(self.who())
        twice = self.raw(b"GET /api/admin HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                         b"X-Remote-User: bert\r\nX-Remote-User: bert\r\n\r\n")
        self.assertIn('"who":null', twice)
        empty = self.request("/api/admin", Authorization="Bearer ")[0]  # bert has no token, and no empty one
        self.assertEqual(empty.status, 401)
        self.assertEqual(self.who(Authorization="Bearer " + ANNA, X_Remote_User="bert"), "anna")

    def test_another_users_process_is_not_believed(self):
        other = next(user.pw_name for user in pwd.getpwall() if user.pw_uid not in (0, os.getuid()))
        self.proxied(other)
        self.hold("P1")
        self.assertIsNone(self.who(X_Remote_User="anna"))
        self.assertEqual(self.release("P1", X_Remote_User="anna")[0].status, 401)
        text = self.request("/api/monitors/P1", X_Remote_User="anna")[1]
        self.assertNotIn('"session"', text)

    def test_what_does_not_belong_together_is_refused(self):
        tokens = self.write("tokens", f"anna {ANNA}\n")
        os.chmod(tokens, 0o600)
        for options in (["--proxy-header", "X-Remote-User"], ["--proxy-owner", "root"],
                        ["--proxy-header", "X-Remote-User", "--proxy-owner", "root"],
                        ["--admin", tokens, "--proxy-header", "X: y", "--proxy-owner", "root"],
                        ["--admin", tokens, "--proxy-header", "X-User", "--proxy-owner", "nobody-of-that-name"]):
            self.assertEqual(self.run_cli("serve", "--listen", "127.0.0.1:0", *options).returncode, 64, options)


class Release(AdminTest):
    def test_admin_takes_a_lock_away_with_a_reason(self):
        child, holder = self.held("a/b")
        response, body = self.act("a%2Fb", holder)
        self.assertEqual((response.status, body["released"]), (200, True), body)
        self.assertEqual(child.wait(support.PATIENCE), 76)
        self.assertIn("it hangs", child.stderr.read())
        acts = json.loads(self.run_cli("audit", "-o", "json", "--audit-file", self.file, server=False).stdout)["acts"]
        self.assertEqual([(act["monitor"], act["result"]) for act in acts], [("a/b", "begun"), ("a/b", "released")])
        for act in acts:
            self.assertTrue(act["by"].startswith("anna (admin of forelock serve)@"), act)
            self.assertEqual((act["action"], act["reason"], act["holder"]), ("release", "it hangs", holder))

    def test_texts_of_others_forge_no_line_of_audit_log_or_terminal(self):
        forged = json.dumps({"action": "release", "result": "released", "monitor": "forged"})
        monitor, info, reason = (f"{name}\r\n{forged}\x1b[2J\u009b31m\u2028" for name in ("P1", "Save", "hangs"))
        log = self.path("serve.log")
        self.serving.terminate()
        self.serving.wait(support.PATIENCE)
        self.serving = self.start_cli("--log-file", log, "--log-level", "debug", "serve", "--listen", "127.0.0.1:0",
                                      "--admin", self.tokens, "--audit-file", self.file)
        self.port = int(self.serving.stdout.readline().split(":")[2].strip("/\n"))
        self.wait_ready()
        child = self.hold(monitor, "--info", info, script="echo ready; exec sleep 1000")
        holder = self.holder(monitor)
        response, body = self.act(urllib.parse.quote(monitor, safe=""), f"{holder['node']}@{holder['token']}", reason)
        self.assertEqual(response.status, 200, body)
        self.assertEqual(child.wait(support.PATIENCE), 76)
        self.serving.terminate()
        self.assertEqual(self.serving.wait(support.PATIENCE), 0)
        with open(self.file, encoding="utf-8", newline="\n") as file:
            acts = [json.loads(line) for line in file]
        self.assertEqual([(act["monitor"], act["reason"]) for act in acts], [(monitor, reason)] * 2)
        said = self.serving.stderr.read().splitlines()
        self.assertEqual(len([line for line in said if "audit: " in line]), 1, said)
        with open(log, encoding="utf-8", newline="\n") as file:
            logged = file.read()
        self.assertIn("P1", logged)
        for line in logged.split("\n")[:-1]:
            self.assertRegex(line, r"^\d{4}-\d\d-\d\dT[0-9:.]+Z [a-z]+ \d+ ")
        text = self.run_cli("audit", "--audit-file", self.file, server=False).stdout
        for where in (logged, "\n".join(said), text, json.dumps(body)):
            for character in "\x1b\r\u009b":
                self.assertNotIn(character, where)

    def test_another_holder_and_what_is_missing_are_refused(self):
        _, holder = self.held("P1")
        node, token = holder.split("@")
        self.assertEqual(self.act("P1", f"{node}@{int(token) + 1}")[0].status, 409)
        self.assertEqual(self.act("unknown", holder)[0].status, 404)
        for named, reason in ((node, "x"), (None, "x"), (holder, " "), (holder, None), (holder, "x" * 1001)):
            response, body = self.act("P1", named, reason)
            self.assertEqual((response.status, body["error"]["code"]), (400, "invalid_argument"), body)
        self.assertEqual(self.request("/api/monitors/P1/other", "POST", "{}", Content_Type="application/json",
                                      X_Forelock_CSRF=self.csrf(), **self.bearer())[0].status, 404)
        self.assertEqual(self.holder("P1")["token"], token)
        self.assertFalse(os.path.exists(self.file))

    def test_refused_without_rights(self):
        _, holder = self.held("P1")
        for headers in ({"Authorization": None}, {"Authorization": "Bearer " + "c" * 40},
                        {"Authorization": "Bearer " + OLD}, {"Authorization": "Basic " + ANNA},
                        {"Authorization": ANNA}):
            response, body = self.act("P1", holder, **headers)
            self.assertEqual((response.status, body["error"]["code"]), (401, "not_authorized"), headers)
            self.assertEqual(response.headers["WWW-Authenticate"], "Bearer")
        response, _ = self.request(f"/api/monitors/P1/release?token={ANNA}", "POST", "{}")
        self.assertEqual(response.status, 401)  # a URL ends up in logs
        self.assertTrue(self.holder("P1"))

    def test_pages_of_other_sites_are_refused(self):
        _, holder = self.held("P1")
        for headers, status in (({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403),
                                ({"Sec_Fetch_Site": "cross-site"}, 403), ({"Sec_Fetch_Site": "same-site"}, 403),
                                ({"X_Forelock_CSRF": None}, 403), ({"X_Forelock_CSRF": "0" * 32}, 403),
                                ({"Content_Type": "text/plain"}, 415), ({"Content_Type": None}, 415),
                                ({"Host": "evil.example"}, 421)):
            self.assertEqual(self.act("P1", holder, **headers)[0].status, status, headers)
        self.assertEqual(self.request("/api/monitors/P1/release", "OPTIONS")[0].status, 405)
        self.assertTrue(self.holder("P1"))
        own = {"Origin": f"http://127.0.0.1:{self.port}", "Sec_Fetch_Site": "same-origin"}
        self.assertEqual(self.act("P1", holder, **own)[0].status, 200)

    def test_too_many_are_refused(self):
        self.assertEqual([self.request("/api/admin", **self.bearer("c" * 40))[0].status for _ in range(12)],
                         [401] * 10 + [429] * 2)
        self.assertEqual(self.request("/api/admin", **self.bearer())[0].status, 200)  # nobody is shut out by it
        statuses = [self.act("unknown", "A-0000000000@1")[0].status for _ in range(31)]
        self.assertEqual(statuses, [404] * 30 + [429])

    def test_bodies_have_a_length_and_a_limit(self):
        head = (f"POST /api/monitors/P1/release HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                f"Authorization: Bearer {ANNA}\r\nX-Forelock-CSRF: {self.csrf()}\r\n")
        for fields, status in (("", 411), ("Content-Length: 1048576\r\n", 413),
                               ("Transfer-Encoding: chunked\r\n", 400), ("Content-Length: 9\r\n X: y\r\n", 400)):
            self.assert_status(self.raw((head + fields + "\r\n").encode()), status)


class Prioritize(AdminTest):
    def move(self, monitor, waiter, to="foreground", reason="by noon", token=ANNA):
        headers = {"Content_Type": "application/json", "X_Forelock_CSRF": self.csrf(), **self.bearer(token)}
        response, body = self.request(f"/api/monitors/{monitor}/prioritize", "POST",
                                      json.dumps({"waiter": waiter, "class": to, "reason": reason}), **headers)
        return response.status, json.loads(body)

    def test_admin_moves_a_waiter(self):
        self.held("P1")
        self.start_cli("run", "-m", "P1", "-p", "background", "--timeout", "1m", "--", "true")
        waiter, = wait_until(lambda: self.queue("P1"), "it waits")
        status, answer = self.move("P1", waiter["node"])
        moved, = self.queue("P1")
        self.assertEqual((status, answer["result"], answer["node"], answer["position"]),
                         (200, "moved", moved["node"], 1), answer)
        self.assertEqual(moved["priority"], "foreground")
        self.assertEqual(self.move("P1", moved["node"])[1]["result"], "already")
        acts = json.loads(self.run_cli("audit", "-o", "json", "--audit-file", self.file, server=False).stdout)["acts"]
        self.assertEqual([(act["action"], act["waiter"], act["result"]) for act in acts],
                         [("prioritize", waiter["node"], "begun"), ("prioritize", waiter["node"], "moved")])
        for act in acts:
            self.assertTrue(act["by"].startswith("anna (admin of forelock serve)@"), act)
            self.assertEqual((act["reason"], act["class"]), ("by noon", "foreground"))

    def test_what_is_missing_or_not_there_is_refused(self):
        _, holder = self.held("P1")
        node = holder.split("@")[0]
        for arguments, status, code in ((("P1", node), 409, "holds"), (("P1", "B-0000000099"), 404, "unknown_waiter"),
                                        (("unknown", node), 404, "unknown_monitor"),
                                        (("P1", None), 400, "invalid_argument"),
                                        (("P1", node, "urgent"), 400, "invalid_argument"),
                                        (("P1", node, "foreground", " "), 400, "invalid_argument")):
            answered, body = self.move(*arguments)
            self.assertEqual((answered, body["error"]["code"]), (status, code), arguments)
        self.assertEqual(self.move("P1", node, token=OLD)[0], 401)
        self.assertFalse(os.path.exists(self.file))


class Rights(AdminTest):
    def test_sessions_are_shown_to_admins_alone(self):
        self.held("P1")
        self.start_cli("run", "-m", "P1", "--timeout", "60s", "--", "true")
        self.wait_waiters("P1", 1)
        shown = json.loads(self.request("/api/monitors/P1", **self.bearer())[1])
        self.assertEqual(shown["holder"]["session"], self.holder("P1")["session"])
        self.assertIn("session", shown["queue"][0])
        response, body = self.request("/api/monitors/P1")
        self.assertEqual(response.status, 200)
        self.assertNotIn("session", json.loads(body)["holder"])
        self.assertNotIn("session", json.loads(body)["queue"][0])
        self.assertEqual(self.request("/api/monitors/P1", **self.bearer(OLD))[0].status, 401)

    def test_page_learns_whether_there_are_acts(self):
        self.assertEqual(self.get("/api/admin"), {"acts": True, "who": None})
        self.assertEqual(json.loads(self.request("/api/admin", **self.bearer())[1])["who"], "anna")
        self.serve()
        self.assertEqual(self.get("/api/admin"), {"acts": False, "who": None})
        response, _ = self.request("/api/monitors/P1/release", "POST", "{}", **self.bearer())
        self.assertEqual((response.status, response.headers["Allow"]), (405, "GET, HEAD"))
        self.assertEqual(self.request("/api/monitors/P1/release", "POST", "{}")[0].status, 405)

    def test_files_that_are_no_secret_are_refused(self):
        cases = {"open": f"anna {ANNA}\n", "short": "anna secret\n", "empty": "# none\n", "time": f"anna {ANNA} soon\n",
                 "more": f"anna {ANNA} 2999-01-01T00:00:00Z x\n"}
        for name, text in cases.items():
            path = self.write(name, text)
            os.chmod(path, 0o644 if name == "open" else 0o600)
            result = self.run_cli("serve", "--listen", "127.0.0.1:0", "--admin", path, "-o", "json")
            self.assertEqual((result.returncode, self.error_of(result)["code"]), (78, "admin_tokens"), name)
            self.assertNotIn("secret", result.stderr.replace("secrets", ""))
            self.assertNotIn(ANNA, result.stderr)
        missing = self.run_cli("serve", "--listen", "127.0.0.1:0", "--admin", self.path("none"))
        self.assertEqual(missing.returncode, 78)
        beyond = self.run_cli("serve", "--listen", "0.0.0.0:0", "--admin", self.tokens)
        self.assertEqual(beyond.returncode, 78)  # a token in the clear is everybody's

    def test_it_ends_after_an_act(self):
        _, holder = self.held("P1")
        self.act("P1", holder)
        self.serving.terminate()
        self.assertEqual(self.serving.wait(support.PATIENCE), 0)
        wait_until(lambda: self.holder("P1") is None, "it was done")


if __name__ == "__main__":
    support.main()
