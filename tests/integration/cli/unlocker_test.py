"""forelock serve --unlocker: who has asked for it is freed when its time is over, once, by one of those that run."""

import contextlib
import datetime
import json
import os
import queue
import signal
import subprocess
import threading
import unittest
import unittest.mock

import support
import tap
from serve_test import ServeTest, of
from support import wait_until

LONG = "1h"
OWN = "forelock-unlocker"
# What a holder writes that says it is alive.
ALIVE = """
import json
import sys
from kazoo.client import KazooClient
client = KazooClient(sys.argv[1])
client.start()
record = json.loads(client.get(sys.argv[2])[0])
record["autoUnlockAt"] = "2999-01-01T00:00:00.000Z"
record["fencingToken"] = int(sys.argv[3])
client.set(sys.argv[2], json.dumps(record).encode())
client.stop()
"""
# Nobody may write into this node.
CLOSED = """
import sys
from kazoo.client import KazooClient
from kazoo.security import ACL, Id, Permissions
client = KazooClient(sys.argv[1])
client.start()
everything_else = Permissions.ALL - Permissions.WRITE
client.set_acls(sys.argv[2], [ACL(everything_else, Id("world", "anyone"))])
client.stop()
"""
STUBBORN = "trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done"


class Unlocking:
    """One process of serve --unlocker."""

    def __init__(self, test, *options):
        ServeTest.serve(test, "--unlocker", *options)
        self.process, self.port, self.lines = test.serving, test.port, queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        with contextlib.suppress(ValueError):
            for line in self.process.stderr:
                self.lines.put(line)

    def audits(self):
        """What it has said of its acts so far."""
        found = [json.loads(line) for line in list(self.lines.queue)]
        return [line["audit"] for line in found if "audit" in line]


class UnlockerTest(ServeTest, support.CliTest):
    def metric(self, unlocking, name):
        self.port = unlocking.port
        for line in self.request("/metrics")[1].splitlines():
            if line.startswith(name + " "):
                return float(line.split()[1])
        return None

    def monitors(self):
        return {view["monitor"] for view in self.json_of("ls", "--all")["monitors"]}

    def active(self, unlocking):
        return self.metric(unlocking, "forelock_unlocker_active") == 1

    def start_active(self, *options):
        unlocking = Unlocking(self, *options)
        wait_until(lambda: self.active(unlocking), "it is the active one")
        return unlocking


class Unlocker(UnlockerTest):
    def test_frees_who_has_asked_for_it_and_says_so(self):
        unlocking = self.start_active()
        stream = self.stream()
        self.hold("P2", "--expected-runtime", "1ms")  # has not asked for it
        self.hold("P3", "--auto-unlock-after", LONG)
        holder = self.hold("P1", "--auto-unlock-after", "1500ms", "--expected-runtime", "1ms", script=STUBBORN)
        view = self.holder("P1")
        _, told, _ = stream.until(lambda name, _: name == "unlocked")
        self.assertEqual(holder.wait(support.PATIENCE), 76)  # it has learned it, though it could have held on
        self.assertIn("its time to be unlocked automatically", holder.stderr.read())
        self.assertEqual((told["monitor"], told["holder"]["token"]), ("P1", view["token"]))
        self.assertNotIn("session", told["holder"])
        self.assertIsNone(self.holder("P1"))
        wait_until(unlocking.audits, "it is audited")
        audit, = unlocking.audits()
        self.assertEqual((audit["action"], audit["monitor"], audit["held_by"]["token"], audit["result"]),
                         ("unlock", "P1", view["token"], "released"))
        self.assertIn(view["owner"]["autoUnlockAt"], audit["reason"])
        self.assertEqual(self.metric(unlocking, "forelock_auto_unlock_total"), 1)
        wait_until(lambda: self.metric(unlocking, "forelock_overdue_holders") == 1, "P2 is overdue")
        self.assertTrue(self.holder("P2") and self.holder("P3"))

    def test_who_says_meanwhile_that_it_is_alive_keeps_the_lock(self):
        self.hold("P1", "--auto-unlock-after", "1ms")
        view = self.holder("P1")
        line = tap.Tap(support.SERVER)
        self.addCleanup(line.close)

        def be_alive():
            lock = self.namespace + "/P1/privateLock"
            subprocess.run(["/usr/bin/python3", "-c", ALIVE, support.SERVER, lock, view["token"]], check=True,
                           timeout=support.PATIENCE)

        # The first one is the note that precedes the deed.
        line.before_request(tap.SET_DATA, be_alive)
        with unittest.mock.patch.object(self, "connect_string", lambda: line.address + self.namespace):
            unlocking = Unlocking(self)
        wait_until(unlocking.audits, "it has acted")
        self.assertEqual([audit["result"] for audit in unlocking.audits()], ["holder_changed"])
        self.assertEqual(self.holder("P1")["token"], view["token"])
        self.assertIsNone(self.show("P1").get("forced_release"))
        self.assertEqual(self.metric(unlocking, "forelock_auto_unlock_total"), 0)

    def test_without_the_option_nothing_is_freed(self):
        self.serve()
        self.hold("P1", "--auto-unlock-after", "1ms")
        wait_until(lambda: (row := self.row("P1")) and row["holder"]["overdue"], "it is overdue")
        self.assertIsNone(self.holder(OWN))
        self.assertNotIn("forelock_unlocker_active", self.request("/metrics")[1])
        seen = self.get("/api/monitors")["sampled_at"]
        wait_until(lambda: self.get("/api/monitors")["sampled_at"] > seen, "another look")
        self.assertTrue(self.holder("P1"))

    def test_removes_what_crashed_processes_have_left_and_nothing_else(self):
        self.hold("Used")
        for monitor in ("Left", "Other"):
            child = self.hold(monitor, "--set", "zookeeper.session.timeout=1s",
                              script="trap '' TERM; echo ready; sleep 9")
            child.kill()
            wait_until(lambda: not self.holder(monitor), "its session ends", 60)
        unlocking = self.start_active()  # of an hour
        seen = self.get("/api/monitors")["sampled_at"]
        wait_until(lambda: self.get("/api/monitors")["sampled_at"] > seen, "another look")
        self.assertEqual(self.monitors() - {OWN}, {"Used", "Left", "Other"})
        self.assertEqual(self.metric(unlocking, "forelock_swept_total"), 0)
        unlocking.process.terminate()
        unlocking.process.wait()
        unlocking = self.start_active("--sweep-after", "0ms")
        wait_until(lambda: self.metric(unlocking, "forelock_swept_total") == 2, "both are removed")
        self.assertEqual(self.monitors() - {OWN}, {"Used"})

    def test_who_stands_by_removes_nothing(self):
        self.hold(OWN)
        child = self.hold("Left", "--set", "zookeeper.session.timeout=1s",
                          script="trap '' TERM; echo ready; sleep 9")
        child.kill()
        wait_until(lambda: not self.holder("Left"), "its session ends", 60)
        unlocking = Unlocking(self, "--sweep-after", "0ms")
        wait_until(lambda: self.metric(unlocking, "forelock_picture_live") == 1, "it looks")
        seen = self.get("/api/monitors")["sampled_at"]
        wait_until(lambda: self.get("/api/monitors")["sampled_at"] > seen, "another look")
        self.assertIn("Left", self.monitors())

    def test_own_lock_is_in_no_number(self):
        unlocking = self.start_active()
        wait_until(lambda: self.row(OWN), "it is seen")
        wait_until(lambda: self.metric(unlocking, "forelock_oldest_hold_seconds") == 0, "it is not counted")
        self.assertIn('forelock_held{priority="foreground"} 0', self.request("/metrics")[1])

    def test_end_gives_the_lock_back(self):
        first = self.start_active()
        second = Unlocking(self)
        wait_until(lambda: self.metric(second, "forelock_picture_live") == 1, "it looks")
        self.assertFalse(self.active(second))
        first.process.send_signal(signal.SIGTERM)
        self.assertEqual(first.process.wait(support.PATIENCE), 0)
        wait_until(lambda: self.active(second), "the other takes over")

    def begun(self):
        """When acts have begun, by the audit file, in milliseconds."""
        if not os.path.exists(self.path("audit")):
            return []
        acts = self.json_of("audit", "--audit-file", self.path("audit"))["acts"]
        return [datetime.datetime.fromisoformat(act["at"].replace("Z", "+00:00")).timestamp() * 1000
                for act in acts if act["result"] == "begun"]

    def test_what_has_failed_is_tried_again_and_not_with_each_picture(self):
        self.hold("P1", "--auto-unlock-after", "1ms")
        view = self.holder("P1")
        subprocess.run(["/usr/bin/python3", "-c", CLOSED, support.SERVER, self.namespace + "/P1"], check=True,
                       timeout=support.PATIENCE)
        unlocking = Unlocking(self, "--audit-file", self.path("audit"))
        self.wait_ready()  # what the first picture has is no change
        stream = self.stream()
        say = self.nested_locks("Busy")
        pictures = 0
        while len(self.begun()) < 4 or pictures < 20:
            say("lock P2")
            stream.until(of("P2", "held"))
            say("unlock P2")
            stream.until(of("P2", "released"))
            pictures += 2
        times = self.begun()
        # The record is cut to milliseconds.
        self.assertGreaterEqual(min(later - earlier for earlier, later in zip(times, times[1:])), 498, times)
        self.assertEqual(self.holder("P1")["token"], view["token"])
        # Nothing is done, and the record says so.
        wait_until(lambda: len(unlocking.audits()) >= 3, "each has its end")
        self.assertEqual({audit["result"] for audit in unlocking.audits()}, {"failed"})

    def test_two_and_the_one_that_acts_killed(self):
        """Holders are freed all the time, while whoever is active is killed: each once."""
        log = self.write("sections", "")
        section = f"trap 'exit 0' TERM; echo $FORELOCK_TOKEN >>{log}; while :; do sleep 0.05; done"
        unlocking = [self.start_active("--set", "zookeeper.session.timeout=4000")]
        unlocking.append(Unlocking(self, "--set", "zookeeper.session.timeout=4000"))
        run = ("run", "-m", "P1", "--auto-unlock-after", "600ms", "--timeout", "5m", "--", "sh", "-c", section)
        waiters = [self.start_cli(*run) for _ in range(6)]

        def tokens():
            with open(log, encoding="ascii") as file:
                return [int(line) for line in file.read().split()]

        wait_until(lambda: len(tokens()) >= 2, "the first is freed")
        dead = next(each for each in unlocking if self.active(each))
        dead.process.send_signal(signal.SIGKILL)
        other = next(each for each in unlocking if each is not dead)
        wait_until(lambda: self.active(other), "the other takes over")
        unlocking.append(Unlocking(self))
        for waiter in waiters:
            self.assertEqual(waiter.wait(support.PATIENCE), 76)
        self.assertEqual(tokens(), sorted(set(tokens())))  # the order of the grants is that of the sections' begins
        self.assertEqual(len(tokens()), len(waiters))
        wait_until(lambda: self.holder("P1") is None, "it is free")
        freed = [audit["held_by"]["token"] for each in unlocking for audit in each.audits()]
        self.assertEqual(len(freed), len(set(freed)), "each once")
        # That of the killed one, if it fell between the deed and its record.
        self.assertGreaterEqual(len(freed), len(waiters) - 1)


if __name__ == "__main__":
    support.main()
