"""ls, show, watch, wait: shapes, codes, and what they say."""

import json
import os
import signal
import socket
import subprocess
import time
import unittest

import support

# Contenders behind the holder; the first of them leaves, and another one comes, until the input ends.
CHANGING_QUEUE = """
import sys, threading
from kazoo.client import KazooClient
client = KazooClient(sys.argv[1])
client.start()
path = sys.argv[2]
nodes = [client.create(path + "/A-", ephemeral=True, sequence=True) for _ in range(12)]
print("ready", flush=True)
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set())).start()
while not ended.wait(0.02):
    nodes.append(client.create(path + "/A-", ephemeral=True, sequence=True))
    client.delete(nodes.pop(0))
client.stop()
"""
HOLDER_KEYS = ["owner", "priority", "node", "session", "token", "held_ms"]
WAITER_KEYS = ["position", "node", "priority", "owner", "session", "waited_ms", "behind"]


class Ls(support.CliTest):
    def test_of_nothing(self):
        self.assertEqual(self.json_of("ls"), {"monitors": []})
        self.assertEqual(self.json_of("ls", "--all"), {"monitors": []})
        result = self.run_cli("ls")
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        self.assertNotEqual(result.stderr, "")
        self.assertEqual(self.run_cli("ls", "-q").stderr, "")

    def test_names_holders_and_counts_waiters(self):
        self.hold("P1", "--info", "Save Content")
        self.hold("a/ä", "-p", "background")
        for count, priority in enumerate(("background", "foreground", "background")):
            self.start_cli("run", "-m", "P1", "-p", priority, "--timeout", "1m", "--", "true")
            support.wait_until(lambda: len(self.queue("P1")) == count + 1, "a waiter")
        monitors = self.json_of("ls")["monitors"]
        self.assertEqual([entry["monitor"] for entry in monitors], ["P1", "a/ä"])
        first, second = monitors
        self.assertEqual(list(first), ["monitor", "holder", "waiting", "oldest_wait_ms"])
        self.assertEqual(first["waiting"], {"foreground": 1, "background": 2})
        self.assertGreaterEqual(first["oldest_wait_ms"], 0)
        self.assertEqual(list(first["holder"]), HOLDER_KEYS)
        self.assertEqual(first["holder"]["owner"]["lockInfo"], "Save Content")
        self.assertEqual((first["holder"]["priority"], second["holder"]["priority"]), ("foreground", "background"))
        self.assertIsNone(second["oldest_wait_ms"])
        self.assertEqual(second["waiting"], {"foreground": 0, "background": 0})

        lines = self.run_cli("ls", "-o", "ndjson").stdout.splitlines()
        self.assertEqual([json.loads(line)["monitor"] for line in lines], ["P1", "a/ä"])
        text = self.run_cli("ls").stdout
        self.assertIn("Save Content", text)
        self.assertNotIn("\x1b", text)
        self.assertIn("\x1b[", self.run_cli("ls", "--color", "always").stdout)

    def test_nothing_is_said_with_the_place(self):
        release = ("release", "P1", "--holder", "A", "--reason", "r")
        for arguments in (("ls",), ("ls", "--all"), ("show", "P1"), release):
            self.assertIn(self.connect_string(), self.run_cli(*arguments).stderr, arguments)

    def test_what_is_waited_for_longest_may_stand_first(self):
        self.hold("P1", "--expected-runtime", "1ms")
        for monitor in ("P2", "P3"):
            self.hold(monitor)
        for monitor in ("P3", "P2"):
            self.start_cli("run", "-m", monitor, "--timeout", "1m", "--", "true")
            support.wait_until(lambda monitor=monitor: self.queue(monitor), "a waiter")

        def names(*options):
            return [one["monitor"] for one in self.json_of("ls", *options)["monitors"]]

        self.assertEqual(names("--sort", "wait"), ["P3", "P2", "P1"])
        self.assertEqual(names("--sort", "held", "--limit", "1"), ["P1"])
        self.assertEqual(names("--waiting"), ["P2", "P3"])
        self.assertEqual(names("--overdue"), ["P1"])
        text = self.run_cli("ls", "--limit", "1")
        self.assertRegex(text.stdout, r"(?m)^P1 .* \(overdue\)")
        self.assertEqual(text.stderr, "forelock: left out: 2 monitors more (--limit)\n")
        seen = self.json_of("watch", "--count", "1", "--sort", "wait", "--limit", "2")
        self.assertEqual([one["monitor"] for one in seen["monitors"]], ["P3", "P2"])
        self.assertEqual(self.run_cli("watch", "--count", "1", "--waiting").returncode, 64)

    def test_all_has_the_idle_ones_too(self):
        idle = {"monitor": "P1", "holder": None, "waiting": {"foreground": 0, "background": 0}, "oldest_wait_ms": None}

        def used_and_listed():
            self.let_go(self.hold("P1", *support.LEFT_TO_THE_SERVER))
            self.assertEqual(self.json_of("ls")["monitors"], [])
            return self.json_of("ls", "--all")["monitors"] == [idle]

        # The server removes idle monitors now and then: it may have been faster.
        support.wait_until(used_and_listed, "an idle monitor is listed")

    def test_hostile_text_does_not_reach_the_terminal(self):
        self.hold("P1", "--info", "\x1b[2Jevil\x07\u009b")
        text = self.run_cli("ls").stdout + self.run_cli("show", "P1").stdout
        self.assertNotIn("\x1b", text)
        self.assertNotIn("\x07", text)
        self.assertNotIn("\u009b", text)
        self.assertEqual(self.holder("P1")["owner"]["lockInfo"], "\x1b[2Jevil\x07\u009b")


class Show(support.CliTest):
    def test_has_holder_and_line_in_the_contracts_shape(self):
        self.hold("P/1", "--info", "Save")
        self.start_cli("run", "-m", "P/1", "-p", "background", "--info", "Bulk", "--timeout", "1m", "--", "true")
        support.wait_until(lambda: self.queue("P/1"), "a waiter")
        view = self.json_of("show", "P/1")
        self.assertEqual(list(view), ["monitor", "path", "holder", "queue"])
        self.assertEqual((view["monitor"], view["path"]), ("P/1", "/P%2F1"))
        self.assertEqual(list(view["holder"]), HOLDER_KEYS)
        self.assertRegex(view["holder"]["node"], "^A-[0-9]{10}$")
        self.assertRegex(view["holder"]["session"], "^0x[0-9a-f]+$")
        self.assertRegex(view["holder"]["token"], "^[0-9]+$")
        owner = view["holder"]["owner"]
        self.assertEqual(owner["priority"], "foreground")
        for key in ("lockInfo", "instance", "guid", "enqueuedAt", "acquiredAt"):
            self.assertIn(key, owner)
        (waiter,) = view["queue"]
        self.assertEqual(list(waiter), WAITER_KEYS)
        self.assertEqual((waiter["position"], waiter["priority"], waiter["behind"]), (1, "background", "privateLock"))
        self.assertEqual(waiter["owner"]["lockInfo"], "Bulk")
        self.assertNotIn("acquiredAt", waiter["owner"])
        text = self.run_cli("show", "P/1").stdout
        for word in ("Save", "Bulk", view["holder"]["node"], waiter["node"], "the holder"):
            self.assertIn(word, text)

    def test_says_how_long_each_will_probably_wait(self):
        self.hold("P1")
        place = (support.SERVER, self.namespace + "/P1")
        others = subprocess.Popen(["/usr/bin/python3", "-c", CHANGING_QUEUE, *place], text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.children.append(others)
        self.assertEqual(others.stdout.readline(), "ready\n")
        queue = self.json_of("show", "P1", "--expect", "1m")["queue"]
        # As many as there were when it looked, without those that left before they were read.
        self.assertEqual([waiter["position"] for waiter in queue], list(range(1, len(queue) + 1)))
        self.assertGreater(len(queue), 1)
        first = queue[0]["expected_wait_ms"]
        for waiter in queue:
            # Of a pace that has a fraction of a millisecond, and was rounded.
            self.assertAlmostEqual(waiter["expected_wait_ms"], waiter["position"] * first, delta=waiter["position"])
        self.assertIn("EXPECTED", self.run_cli("show", "P1", "--expect", "1m").stdout)
        others.stdin.close()
        self.assertEqual(others.wait(support.PATIENCE), 0)

    def test_says_that_too_little_is_known_of_how_long_they_will_wait(self):
        self.hold("P1")
        self.assertNotIn("not known", self.run_cli("show", "P1", "--expect", "1m").stderr)  # nobody waits
        self.start_cli("run", "-m", "P1", "--timeout", "1m", "--", "true")
        support.wait_until(lambda: self.queue("P1"), "a waiter")
        result = self.ends(0, "show", "P1", "--expect", "150ms",
                              says="not known: fewer than 8 have left the queue within 150 ms")
        self.assertNotIn("EXPECTED", result.stdout)
        (waiter,) = self.json_of("show", "P1", "--expect", "1ms")["queue"]
        self.assertNotIn("expected_wait_ms", waiter)

    def test_of_an_unknown_monitor_is_1(self):
        result = self.run_cli("show", "nothing", "-o", "json")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertEqual(self.error_of(result)["monitor"], "nothing")
        self.assertEqual(self.run_cli("show", "nothing").returncode, 1)

    def test_takes_any_id(self):
        for monitor in ("ls", "run", "zookeeper", "..", "-x", "%2F", "🔒", " "):
            holder = self.hold(monitor)
            result = self.run_cli("show", "-o", "json", "--", monitor)
            self.assertEqual(result.returncode, 0, (monitor, result.stderr))
            self.assertEqual(json.loads(result.stdout)["monitor"], monitor)
            self.let_go(holder)

    def test_an_id_that_cannot_be_is_64(self):
        for monitor in ("", "x" * 256):
            self.assertEqual(self.run_cli("show", monitor).returncode, 64, monitor)


class Wait(support.CliTest):
    def test_what_does_not_exist_is_free(self):
        self.assertEqual(self.run_cli("wait", "P1", "--timeout", "0").returncode, 0)

    def test_ends_when_the_monitor_is_free(self):
        holder = self.hold("P1")
        waiting = self.start_cli("wait", "P1", "-o", "json")
        self.assertEqual(self.run_cli("wait", "P1", "--timeout", "100").returncode, 75)
        self.assertIsNone(waiting.poll())
        self.let_go(holder)
        output, _ = waiting.communicate(timeout=support.PATIENCE)
        self.assertEqual(waiting.returncode, 0)
        result = json.loads(output)
        self.assertEqual((result["monitor"], result["state"]), ("P1", "free"))

    def test_held_waits_for_a_holder(self):
        self.assertEqual(self.run_cli("wait", "P1", "--held", "--timeout", "50ms").returncode, 75)
        waiting = self.start_cli("wait", "P1", "--held")
        self.hold("P1")
        self.assertEqual(waiting.wait(support.PATIENCE), 0)


class Watch(support.CliTest):
    def test_prints_events_as_ndjson(self):
        self.hold("first")
        watch = self.start_cli("watch", "-o", "ndjson", "--interval", "50")
        event = json.loads(watch.stdout.readline())
        self.assertEqual((event["event"], event["monitor"]), ("present", "first"))
        holder = self.hold("P1", "--info", "Save")
        event = json.loads(watch.stdout.readline())
        self.assertEqual((event["event"], event["monitor"], event["holder"]["owner"]["lockInfo"]), ("held", "P1",
                                                                                                    "Save"))
        self.let_go(holder)
        event = json.loads(watch.stdout.readline())
        self.assertEqual((event["event"], event["monitor"], event["holder"]), ("released", "P1", None))
        watch.send_signal(signal.SIGINT)
        watch.wait(support.PATIENCE)

    def test_ends_after_count_looks(self):
        self.hold("P1", "--info", "Save")
        result = self.ends(0, "watch", "--count", "2", "--interval", "60ms")
        self.assertEqual(len(result.stdout.splitlines()), 1)
        self.assertIn("Save", result.stdout)
        both = self.run_cli("watch", "-o", "json", "--count", "2", "--interval", "60").stdout.splitlines()
        self.assertEqual([json.loads(line)["monitors"][0]["monitor"] for line in both], ["P1", "P1"])


class Doctor(support.CliTest):
    def test_finds_nothing_wrong_with_a_good_server(self):
        result = self.ends(0, "doctor", "-o", "json")
        report = json.loads(result.stdout)
        self.assertTrue(report["ok"])
        statuses = {check["check"]: check["status"] for check in report["checks"]}
        for name in ("dns", "tcp", "server", "session", "timeout", "latency", "lock", "clock", "containers",
                     "identity", "namespace", "counters"):
            self.assertEqual(statuses.get(name), "ok", (name, report))
        self.assertEqual(self.json_of("ls", "--all")["monitors"], [])  # it cleans up

    def test_says_ok_warn_or_fail_on_each_line(self):
        *lines, verdict = self.run_cli("doctor").stdout.splitlines()
        for line in lines:
            self.assertRegex(line, "^(OK  |WARN|FAIL|      ->)")
        self.assertRegex(verdict, "^[1-9][0-9]* warnings?; locks work\\.$")  # a server alone

    def test_quick_looks_at_servers_and_session_alone(self):
        report = self.json_of("doctor", "--quick")
        self.assertEqual({check["check"] for check in report["checks"]},
                         {"dns", "tcp", "server", "containers", "ensemble", "session", "timeout"})
        # Nothing stays on the server.
        self.assertEqual(self.json_of("ls", "--all")["monitors"], [])
        self.assertEqual(self.run_cli("doctor", "--quick", "--zookeeper", "127.0.0.1:1", server=False).returncode, 69)

    def test_knows_of_dead_letters(self):
        def checks(*options, **environment):
            result = self.run_cli("doctor", "-o", "json", *options, **environment)
            self.assertEqual(result.returncode, 0, result.stderr)  # locks work
            return [(check["check"], check["status"], check["message"]) for check in json.loads(result.stdout)["checks"]
                    if check["check"] in ("outbox", "kafka")]
        outbox = ("--set", "dlq.outbox.path=" + self.path("outbox.db"))
        self.assertEqual(checks(*outbox),
                         [("outbox", "ok", self.path("outbox.db") + " will be made for the first letter")])
        self.assertFalse(os.path.exists(self.path("outbox.db")))
        self.run_cli("run", *outbox, "-m", "P1", "--retry", "--set", "elastic.request.retry.count=0", "--", "false")
        self.assertEqual(checks(*outbox), [("outbox", "ok", self.path("outbox.db") + " holds 1 letter")])
        found = checks(*outbox, "--set", "kafka.bootstrap.servers=127.0.0.1:1")
        self.assertIn(("kafka", "warn"), [entry[:2] for entry in found])
        found = checks("--set", "dlq.outbox.path=/proc/nothing/outbox.db")
        self.assertEqual([("outbox", "warn")], [entry[:2] for entry in found])
        self.assertIn("cannot be made", found[0][2])

    def test_without_a_server_is_69_and_says_what_to_do(self):
        result = self.ends(69, "doctor", "--zookeeper", "127.0.0.1:1", server=False)
        self.assertIn("FAIL", result.stdout)
        self.assertIn("->", result.stdout)
        self.assertEqual(self.run_cli("doctor", "--zookeeper", "no-such-host.invalid:1", server=False).returncode, 69)


class Unreachable(support.CliTest):
    def test_every_look_is_69(self):
        for arguments in (("ls",), ("show", "P1"), ("wait", "P1", "--timeout", "1s"), ("watch", "--count", "1"),
                          ("release", "P1", "--holder", "x", "--reason", "y")):
            begin = time.monotonic()
            result = self.run_cli("--zookeeper", "127.0.0.1:1", "--set", "zookeeper.session.timeout=1000", "-o",
                                  "json", *arguments, server=False)
            self.assertEqual(result.returncode, 69, (arguments, result.stderr))
            self.assertEqual(self.error_of(result)["code"], "connection_loss")
            self.assertLess(time.monotonic() - begin, 30)


class Rights(support.CliTest):
    """Nodes that belong to one credential."""

    makes_namespace = False  # it belongs to whose is first

    def credentials(self, name):
        file = self.write(name + ".digest", name + ":secret\n")
        os.chmod(file, 0o600)
        return ("--set", "zookeeper.auth.digest.file=" + file)

    def test_without_the_right_credentials_is_77(self):
        alice, bob = self.credentials("alice"), self.credentials("bob")
        for arguments in (("ls", *bob), ("ls",), ("show", "P1", *bob), ("doctor", *bob), ("run", "-m", "P1", *bob,
                                                                                          "--timeout", "1s", "--",
                                                                                          "true")):
            # Each time anew: the server removes a monitor that nobody uses when it likes.
            self.assertEqual(self.run_cli("run", "-m", "P1", *alice, *support.LEFT_TO_THE_SERVER, "--", "true")
                             .returncode, 0)
            self.assertEqual(self.run_cli("ls", *alice).returncode, 0)
            result = self.run_cli(*arguments)
            self.assertEqual(result.returncode, 77, (arguments, result.stdout, result.stderr))
            self.assertNotIn("secret", result.stdout + result.stderr)

    def test_what_may_not_be_listed_is_counted(self):
        self.assertEqual(self.run_cli("run", "-m", "P0", "--", "true").returncode, 0)  # makes the namespace
        self.hold("P1", *self.credentials("alice"))
        result = self.run_cli("ls", "-o", "json")
        self.assertEqual((result.returncode, json.loads(result.stdout)), (0, {"monitors": []}))
        self.assertIn("left out: 1 node ", result.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "needs another user")
    def test_a_secret_that_is_mounted_for_a_group_is_taken(self):
        self.assertEqual(self.run_cli("run", "-m", "P0", "--", "true").returncode, 0)  # makes the namespace
        os.chmod(self.directory.name, 0o711)
        digest, kafka = self.write("digest", "alice:secret\n"), self.write("kafka", "secret\n")
        settings = self.write("kafka.properties", "kafka.sasl.password.file=" + kafka + "\n")
        os.chmod(settings, 0o644)
        for mode, code in ((0o440, 0), (0o640, 0), (0o444, 78), (0o460, 78), (0o400, 78)):
            for file in (digest, kafka):
                os.chown(file, 0, 2000)
                os.chmod(file, mode)
            for arguments in (("--set", "zookeeper.auth.digest.file=" + digest, "ls"), ("config", "check", settings)):
                result = subprocess.run(self.command(*arguments), env=support.clean_environment(), user=1000,
                                        group=1000, extra_groups=[2000], cwd="/", capture_output=True, text=True,
                                        timeout=60, check=False)
                self.assertEqual(result.returncode, code, (oct(mode), arguments, result.stdout, result.stderr))
                self.assertNotIn("secret", result.stdout + result.stderr.replace("is a secret", ""))

    def test_a_credentials_file_that_others_can_read_is_78(self):
        file = self.write("open.digest", "alice:secret\n")
        os.chmod(file, 0o644)
        result = self.ends(78, "ls", "--set", "zookeeper.auth.digest.file=" + file)
        self.assertNotIn("secret", result.stderr)


class Dev(support.CliTest):
    def test_runs_a_command_with_a_server_of_its_own_and_gives_its_code(self):
        script = 'test "$FORELOCK_ZOOKEEPER" != "" && test -f "$FORELOCK_CONFIG" && "$0" run -m P1 -- true && exit 7'
        result = self.run_cli("dev", "--", "sh", "-c", script, support.BINARY, server=False)
        self.assertEqual((result.returncode, result.stdout), (7, ""), result.stderr)

    def test_its_data_are_where_they_are_to_be_whatever_the_folders_name(self):
        for name in ("J\u00fcrgen", "back\\slash", "a b", "\U0001f512"):
            folder = self.path(name)
            self.ends(0, "dev", "--data-dir", folder, "--", "true", server=False, LC_ALL="C")
            self.assertIn("version-2", os.listdir(os.path.join(folder, "data")))

    def test_a_command_that_was_not_run_has_no_success(self):
        # Java never comes to serve, so the signal is there first.
        os.makedirs(self.path("java/bin"))
        java = self.write("java/bin/java", "#!/bin/sh\necho begun >&2\nexec sleep 60\n")
        os.chmod(java, 0o700)
        child = subprocess.Popen([support.BINARY, "dev", "--", "sh", "-c", "echo ran"], text=True,
                                 env=support.clean_environment(TMPDIR=self.directory.name,
                                                               JAVA_HOME=self.path("java")),
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.children.append(child)
        support.wait_until(lambda: self.child_of(child.pid), "it has begun to start the server")
        child.send_signal(signal.SIGTERM)
        output, errors = child.communicate(timeout=support.PATIENCE)
        self.assertEqual((child.returncode, output), (128 + signal.SIGTERM, ""), errors)

    @staticmethod
    def child_of(pid):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return file.read().split()

    def test_serves_until_it_is_told_to_end(self):
        child = subprocess.Popen([support.BINARY, "dev", "-o", "json"],
                                 env=support.clean_environment(TMPDIR=self.directory.name),
                                 stdout=subprocess.PIPE, text=True)
        self.children.append(child)
        address = json.loads(child.stdout.readline())["zookeeper"]
        self.assertEqual(self.run_cli("--zookeeper", address, "ls", server=False).returncode, 0)
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(support.PATIENCE), 0)
        self.ends(69, "--zookeeper", address, "--set", "zookeeper.session.timeout=1000", "ls", server=False)

    def test_dies_with_its_parent(self):
        child = subprocess.Popen([support.BINARY, "dev", "-o", "json"],
                                 env=support.clean_environment(TMPDIR=self.directory.name),
                                 stdout=subprocess.PIPE, text=True)
        self.children.append(child)
        address = json.loads(child.stdout.readline())["zookeeper"]
        child.kill()
        child.wait()
        host, port = address.split(":")
        support.wait_until(lambda: self.refused(host, int(port)), "the server is gone")

    @staticmethod
    def refused(host, port):
        with socket.socket() as connection:
            return connection.connect_ex((host, port)) != 0

    def test_says_what_is_missing(self):
        self.ends(69, "dev", server=False, FORELOCK_ZOOKEEPER_JAR="/no/such.jar", says="install")
        self.ends(69, "dev", server=False, JAVA_HOME="/no/such/java", says="install")
