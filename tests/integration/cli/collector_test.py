"""How forelock serve follows a namespace: by watches, at what cost, through outages, and what is too busy for them."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time

import support
from serve_test import ServeTest, of
from support import wait_until
from zookeepers import ZooKeepers


class FollowTest(ServeTest):
    def look(self):
        return self.get("/api/monitors")["look"]

    def metric(self, name):
        return float(re.search(rf"^{re.escape(name)} (\S+)$", self.request("/metrics")[1], re.MULTILINE)[1])

    def follow(self, *options):
        self.serve(*options)
        self.wait_ready()

    def other_client(self, script):
        """Somebody else's, which does this in the namespace."""
        begin = "import sys\nfrom kazoo.client import KazooClient\nclient = KazooClient(sys.argv[1])\nclient.start()\n"
        child = subprocess.Popen(["/usr/bin/python3", "-c", begin + script, support.SERVER, self.namespace])
        self.children.append(child)
        return child

    def looks(self, count):
        """Waits for so many proofs that the picture is the present."""
        for _ in range(count):
            seen = self.get("/api/monitors")["sampled_at"]
            wait_until(lambda seen=seen: self.get("/api/monitors")["sampled_at"] > seen, "it has looked again")


class Watching(FollowTest, support.CliTest):
    def test_what_does_not_change_costs_one_request_for_each_proof(self):
        self.hold("P0", *(word for i in range(1, 60) for word in ("-m", f"P{i}")))
        self.follow()
        wait_until(lambda: len(self.get("/api/monitors")["monitors"]) == 60, "all are seen")
        wait_until(lambda: self.look()["sampled"] == 0, "all are watched")
        self.assertEqual(self.look()["mode"], "watches")
        self.assertGreaterEqual(self.look()["watched"], 60)
        # The orders in which a set takes its members are confirmed, some of them with each picture.
        def quiet():
            before = self.metric("forelock_look_requests_total")
            self.looks(2)
            return self.metric("forelock_look_requests_total") - before <= 4

        wait_until(quiet, "nothing is left to be read", 120)
        before = self.metric("forelock_look_requests_total")
        pictures = 4
        self.looks(pictures)
        # A sample of all would be more than a hundred.
        self.assertLessEqual(self.metric("forelock_look_requests_total") - before, 2 * pictures)

    def test_a_change_costs_what_belongs_to_it(self):
        self.hold("P0", *(word for i in range(1, 60) for word in ("-m", f"P{i}")))
        self.follow()
        wait_until(lambda: self.look()["watched"] >= 60, "all are watched")
        stream = self.stream()
        stream.next()
        before = self.metric("forelock_look_requests_total")
        child = self.hold("Q")
        stream.until(of("Q", "held"))
        self.let_go(child)
        stream.until(of("Q", "released"))
        self.assertLess(self.metric("forelock_look_requests_total") - before, 60)
        self.assertGreater(self.metric("forelock_look_events_total"), 0)

    def test_a_busy_monitor_is_sampled_and_the_others_are_watched(self):
        self.hold("calm")
        self.follow()
        busy = self.other_client("""
client.ensure_path(sys.argv[2] + "/busy")
while True:
    client.delete(client.create(sys.argv[2] + "/busy/B-", ephemeral=True, sequence=True))
""")
        wait_until(lambda: self.look()["mode"] == "both", "one of them is sampled", 60)
        self.assertGreaterEqual(self.look()["watched"], 1)
        self.assertIn('forelock_look_monitors{how="sample"}', self.request("/metrics")[1])
        busy.kill()
        busy.wait()
        wait_until(lambda: self.look()["mode"] == "watches", "it is watched again", 60)

    def test_a_holder_that_goes_on_is_seen_to(self):
        self.hold("P1", "--expected-runtime", "1s", "--auto-unlock-after", "1h")
        self.follow()
        wait_until(lambda: self.row("P1") and self.row("P1")["holder"]["overdue"], "it is overdue")

    def test_a_waiter_that_is_prioritized_moves(self):
        self.hold("P1")
        self.start_cli("run", "-m", "P1", "-p", "background", "--timeout", "60s", "--", "true")
        self.follow()
        self.wait_waiters("P1", 1)
        node = self.queue("P1")[0]["node"]
        self.assertEqual(self.run_cli("prioritize", "P1", "--waiter", node, "--class", "foreground",
                                      "--reason", "test").returncode, 0)
        wait_until(lambda: self.row("P1")["waiting"] == {"foreground": 1, "background": 0}, "it is seen")

    def test_more_rows_than_are_asked_for_are_counted(self):
        self.hold("P0", *(word for i in range(1, 10) for word in ("-m", f"P{i}")))
        self.start_cli("run", "-m", "P7", "--timeout", "60s", "--", "true")
        self.follow()
        self.wait_waiters("P7", 1)
        some = self.get("/api/monitors?limit=3")
        self.assertEqual((len(some["monitors"]), some["left_out"]), (3, 7))
        self.assertIn("P7", [row["monitor"] for row in some["monitors"]])
        found = self.get("/api/monitors?q=p8")
        self.assertEqual([row["monitor"] for row in found["monitors"]], ["P8"])
        for query in ("limit=0", "limit=x", "limit=1000001", "other=1"):
            self.assertEqual(self.request("/api/monitors?" + query)[0].status, 400, query)


class Outages(FollowTest, support.CliTest):
    makes_namespace = False

    def servers(self, **options):
        self.zookeepers = ZooKeepers(self, **options)
        self.address = self.zookeepers.address(0)

    def connect_string(self):
        return self.address

    def told(self, command):
        """What the first server says to a four-letter word."""
        with socket.create_connection((self.zookeepers.hosts[0], self.zookeepers.ports[0]), timeout=5) as connection:
            connection.sendall(command)
            return b"".join(iter(lambda: connection.recv(4096), b"")).decode()

    def sessions(self):
        return int(re.search(r"^zk_global_sessions\s+(\d+)", self.told(b"mntr"), re.MULTILINE)[1])

    def test_a_server_that_is_killed_and_comes_back(self):
        self.servers(count=1, ensemble=False)
        self.hold("P1", script="echo ready; exec sleep 1000")
        self.follow()
        wait_until(lambda: self.row("P1"), "it is seen")
        stream = self.stream()
        stream.next()
        self.zookeepers.kill(0)
        stream.until(lambda name, data: name == "status" and not data["live"])
        self.zookeepers.restart(0)
        stream.until(lambda name, data: name == "status" and data["live"])
        self.hold("P2", script="echo ready; exec sleep 1000")
        stream.until(of("P2", "held"))
        self.wait_ready()
        wait_until(lambda: self.look()["mode"] == "watches", "all are watched again")

    def test_another_session_sees_all_anew(self):
        self.servers(count=1, ensemble=False)
        first = self.hold("P1")
        sessions = self.sessions()
        self.follow("--set", "zookeeper.session.timeout=1000")
        wait_until(lambda: self.row("P1"), "it is seen")
        wait_until(lambda: self.sessions() == sessions + 1, "its session is there")
        self.serving.send_signal(signal.SIGSTOP)
        wait_until(lambda: self.sessions() == sessions, "its session has ended", 60)
        self.let_go(first)
        self.hold("P2")
        self.serving.send_signal(signal.SIGCONT)
        wait_until(lambda: self.row("P2") and not self.row("P1"), "what has changed meanwhile is seen")
        self.assertEqual(self.metric("forelock_zk_session_expired_total"), 1)
        stream = self.stream()
        stream.next()
        self.hold("P3")
        stream.until(of("P3", "held"))

    def identity(self, monitor):
        """By what a node is told from another one of its name."""
        script = ("import sys\nfrom kazoo.client import KazooClient\n"
                  "client = KazooClient(sys.argv[1])\nclient.start()\n"
                  "stat = client.exists(sys.argv[2])\nprint(stat.czxid, stat.cversion, stat.pzxid)\nclient.stop()\n")
        return subprocess.run(["/usr/bin/python3", "-c", script, self.address, "/" + monitor], check=True,
                              capture_output=True, text=True, timeout=support.PATIENCE).stdout

    def test_servers_that_were_set_back_are_believed(self):
        self.servers(count=1, ensemble=False)
        first = self.hold("P1", "--info", "before", script="echo ready; exec sleep 1000")
        self.follow("--set", "zookeeper.session.timeout=2000")
        wait_until(lambda: self.row("P1"), "it is seen")
        before = self.identity("P1")
        self.serving.send_signal(signal.SIGSTOP)
        first.kill()
        first.wait()
        self.zookeepers.kill(0)
        shutil.rmtree(self.path("zookeeper0/data/version-2"))
        self.zookeepers.restart(0)
        self.run_cli("ls")  # as at the first start
        self.hold("P1", "--info", "after", script="echo ready; exec sleep 1000")
        self.assertEqual(self.identity("P1"), before, "the servers give the same numbers again")
        self.serving.send_signal(signal.SIGCONT)
        wait_until(lambda: (row := self.row("P1")) and row["holder"]["owner"]["lockInfo"] == "after", "it is believed")
        self.wait_ready()

    def test_a_follower_that_stands_still_is_not_the_present(self):
        self.servers()
        follower = self.zookeepers.of_mode("follower")
        other = next(i for i in range(3) if i != follower)
        self.address = self.zookeepers.address(other)
        holder = self.hold("P1")
        self.address = self.zookeepers.address(follower)
        self.follow("--set", "zookeeper.session.timeout=10000")
        wait_until(lambda: self.row("P1"), "it is seen")
        stopped = self.zookeepers.processes[follower]
        stopped.send_signal(signal.SIGSTOP)
        self.addCleanup(stopped.send_signal, signal.SIGCONT)
        wait_until(lambda: not self.get("/api/monitors")["live"], "it is seen to be silent")
        self.let_go(holder)
        released = time.monotonic()
        stopped.send_signal(signal.SIGCONT)

        def first_live():
            asked = time.monotonic()
            picture = self.get("/api/monitors")
            return picture if picture["live"] and asked - picture["age_ms"] / 1000 > released else None

        picture = wait_until(first_live, "it is the present again", 60)
        # The others are said to be old, which may have changed while it stood still.
        self.assertEqual([row["monitor"] for row in picture["monitors"] if row.get("live", True)], [])
        wait_until(lambda: self.get("/api/monitors")["monitors"] == [], "it is read")


class Closed(FollowTest, support.CliTest):
    """Nodes that the credentials of serve, which has none, may not read."""

    def setUp(self):
        super().setUp()
        file = self.write("alice.digest", "alice:secret\n")
        os.chmod(file, 0o600)
        self.alice = ("--set", "zookeeper.auth.digest.file=" + file)

    def unreadable(self, monitor):
        row = self.row(monitor)
        return row.get("unreadable") if row else None

    def test_a_lock_that_may_not_be_read_is_a_row_that_says_so(self):
        self.hold("Open", "--info", "Save")
        first = self.hold("P1")
        self.follow()
        wait_until(lambda: self.row("P1"), "it is seen")
        stream = self.stream()
        stream.next()
        # The monitor is everybody's, and what alice makes below it is not.
        child = self.start_cli("run", "-m", "P1", *self.alice, "--timeout", "60s", "--", "sleep", "1000")
        told = stream.until(of("P1", "unreadable"))[1]
        self.assertRegex(told["unreadable"], "the ACL of its A-0.* does not let these credentials read it")
        self.let_go(first)
        wait_until(lambda: "privateLock" in (self.unreadable("P1") or ""), "the lock is meant")
        picture = self.get("/api/monitors")
        self.assertEqual((picture["live"], picture["problem"], picture["not_permitted"]), (True, None, 1))
        self.assertEqual(self.row("Open")["holder"]["owner"]["lockInfo"], "Save")
        self.assertEqual((self.row("P1")["holder"], self.metric("forelock_look_unreadable_monitors")), (None, 1))
        self.assertEqual([row["monitor"] for row in self.get("/api/monitors?q=p1")["monitors"]], ["P1"])
        response, body = self.request("/api/monitors/P1")
        self.assertEqual((response.status, json.loads(body)["error"]["code"]), (403, "not_authorized"))
        self.assertIn("privateLock", json.loads(body)["error"]["message"])
        listed = self.ends(0, "ls", "-o", "json", says="left out: 1 node ")
        self.assertEqual([row["monitor"] for row in json.loads(listed.stdout)["monitors"]], ["Open"])
        child.terminate()
        stream.until(of("P1", "readable"))
        self.assertIsNone(self.row("P1"))
        self.hold("P1")
        stream.until(of("P1", "held"))

    def test_a_monitor_that_may_not_be_listed_is_a_row_too(self):
        self.hold("Open")
        self.hold("P1", *self.alice)
        self.follow()
        wait_until(lambda: self.unreadable("P1"), "it is seen")
        self.assertIn("list it", self.unreadable("P1"))
        rows = self.get("/api/monitors?limit=1")
        self.assertEqual(([row["monitor"] for row in rows["monitors"]], rows["left_out"]), (["Open"], 1))


class Deleted(FollowTest, support.CliTest):
    def test_a_namespace_that_is_deleted_and_made_anew(self):
        holder = self.hold("P1")
        self.follow()
        wait_until(lambda: self.row("P1"), "it is seen")
        self.let_go(holder)
        wait_until(lambda: not self.row("P1"), "it is seen to be free")
        deleting = self.other_client("client.delete(sys.argv[2], recursive=True)\n")
        self.assertEqual(deleting.wait(60), 0)
        wait_until(lambda: not self.ready(), "it is missed")
        self.assertIn("does not exist", self.request("/readyz")[1])
        self.hold("P1")
        wait_until(lambda: self.row("P1"), "it is seen again")
        self.wait_ready()


if __name__ == "__main__":
    support.main()
