"""release: whom it frees, whom it does not, and what it says and leaves."""

import json
import os
import signal
import subprocess

import support
import tap

CLIENT = """
import sys
from kazoo.client import KazooClient
client = KazooClient(sys.argv[1])
client.start()
path = sys.argv[2]
"""
# Makes a node that is not ours, unless it is there, and says what is in it.
OTHERS = """
if not client.exists(path):
    client.create(path, b"theirs")
print(client.get(path)[0].decode())
client.stop()
"""
# Another one gets the lock, by a client that writes its record with the creation: its version is another one.
NEXT = """
client.delete(path + "/privateLock")
client.create(path + "/privateLock", b"{}")
client.stop()
"""
DELETE = """
client.delete(path)
client.stop()
"""


class Release(support.CliTest):
    def test_needs_holder_and_reason(self):
        self.assertEqual(self.run_cli("release", "P1", "--holder", "A-0000000000").returncode, 64)
        self.assertEqual(self.run_cli("release", "P1", "--reason", "x").returncode, 64)
        self.assertEqual(self.run_cli("release", "P1", "--holder", "A-0000000000", "--reason", " ").returncode, 64)

    def test_frees_the_holder_that_was_named_and_leaves_an_audit_line(self):
        holder = self.hold("P1")
        node = self.holder("P1")["node"]
        result = self.ends(0, "release", "P1", "--holder", node, "--reason", "it hangs", "-o", "json")
        self.assertEqual(json.loads(result.stdout), {"monitor": "P1", "holder": node, "released": True,
                                                     "reason": "it hangs"})
        audit = json.loads(result.stderr.splitlines()[-1])["audit"]
        self.assertEqual((audit["action"], audit["monitor"], audit["holder"], audit["reason"], audit["result"]),
                         ("release", "P1", node, "it hangs", "released"))
        self.assertEqual(holder.wait(support.PATIENCE), 76)
        self.assertIsNone(self.holder("P1"))

    def test_leaves_the_data_of_a_monitor_that_another_program_has_made(self):
        self.assertEqual(self.run_kazoo(OTHERS), "theirs\n")
        holder = self.hold("P1", script="echo ready; exec sleep 1000")
        node = self.holder("P1")["node"]
        self.assertEqual(self.run_cli("release", "P1", "--holder", node, "--reason", "it hangs").returncode, 0)
        self.assertEqual(holder.wait(support.PATIENCE), 76)
        self.assertEqual(self.run_kazoo(OTHERS), "theirs\n")

    def test_refuses_another_holder(self):
        holder = self.hold("P1")
        before = self.holder("P1")
        for wrong in ("A-0000009999", "B-0000000000", before["session"]):
            result = self.ends(1, "release", "P1", "--holder", wrong, "--reason", "x", "-o", "json")
            self.assertEqual(self.error_of(result)["code"], "holder_changed")
        self.assertEqual(self.holder("P1")["token"], before["token"])
        self.assertEqual(self.let_go(holder)[0], 0)
        self.assertEqual(self.run_cli("release", "P1", "--holder", before["node"], "--reason", "x").returncode, 1)
        self.assertEqual(self.run_cli("release", "unknown", "--holder", "x", "--reason", "x").returncode, 1)

    def test_the_next_in_line_gets_it(self):
        self.hold("P1")
        waiter = self.start_cli("run", "-m", "P1", "--timeout", "1m", "--", "echo", "mine")
        support.wait_until(lambda: self.queue("P1"), "a waiter")
        self.run_cli("release", "P1", "--holder", self.holder("P1")["node"], "--reason", "x")
        output, _ = waiter.communicate(timeout=support.PATIENCE)
        self.assertEqual((waiter.returncode, output), (0, "mine\n"))

    def assert_another_keeps_it(self, kind, change, count=1):
        """It is released; before the request of this kind, the first or a later one, something changes."""
        view = self.holder("P1")
        line = tap.Tap(support.SERVER)
        self.addCleanup(line.close)

        def before(count):
            line.before_request(kind, change if count == 1 else lambda: before(count - 1))

        before(count)
        result = self.run_cli("--zookeeper", line.address + self.namespace, "release", "P1",
                              "--holder", f"{view['node']}@{view['token']}", "--reason", "it hangs", "-o", "json",
                              server=False)
        self.assertEqual((result.returncode, self.error_of(result)["code"]), (1, "holder_changed"), result.stderr)
        shown = self.show("P1")
        self.assertGreater(int(shown["holder"]["token"]), int(view["token"]))
        return shown

    def test_a_holder_that_comes_meanwhile_keeps_the_lock_and_no_note_is_left(self):
        first = self.hold("P1")

        def change():
            self.let_go(first)
            self.hold("P1")

        self.assertIsNone(self.assert_another_keeps_it(tap.TRANSACTION, change).get("forced_release"))

    def test_the_holder_after_one_whose_node_is_still_there_keeps_the_lock(self):
        """As that of one that has stepped aside is."""
        first = self.hold("P1")
        os.kill(first.pid, signal.SIGSTOP)  # it does not hear of it
        self.assert_another_keeps_it(tap.TRANSACTION, lambda: self.run_kazoo(NEXT))

    def test_a_holder_of_the_same_name_in_a_monitor_that_was_made_anew_keeps_the_lock(self):
        first = self.hold("P1")
        node = self.holder("P1")["node"]

        def change():
            self.let_go(first)
            self.run_kazoo(DELETE)
            self.hold("P1")

        # The note is the first one.
        self.assertEqual(self.assert_another_keeps_it(tap.SET_DATA, change, 2)["holder"]["node"], node)

    def run_kazoo(self, program):
        done = subprocess.run(["/usr/bin/python3", "-c", CLIENT + program, support.SERVER, self.namespace + "/P1"],
                              check=True, capture_output=True, text=True, timeout=support.PATIENCE)
        return done.stdout

    def release_without_a_reply(self, for_good, waiter=False):
        """The reply to the deletion is lost; with `for_good` the connection too, and no other one is to be had."""
        self.hold("P1", script="trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done")
        if waiter:
            self.start_cli("run", "-m", "P1", "--timeout", "1m", "--", "sleep", "60")
            support.wait_until(lambda: self.queue("P1"), "a waiter")
        view = self.holder("P1")
        name = f"{view['node']}@{view['token']}"
        line = tap.Tap(support.SERVER)
        self.addCleanup(line.close)
        line.cut_after_request(tap.TRANSACTION, for_good)
        result = self.run_cli("--zookeeper", line.address + self.namespace, "--set", "zookeeper.session.timeout=2000",
                              "release", "P1", "--holder", name, "--reason", "it hangs", "-o", "json", server=False)
        self.assertTrue(line.was_cut, result.stderr)
        support.wait_until(lambda: (self.holder("P1") or {"token": ""})["token"] != view["token"], "it is taken away")
        audits = [json.loads(text)["audit"] for text in result.stderr.splitlines() if text.startswith('{"audit"')]
        self.assertEqual([(audit["monitor"], audit["holder"]) for audit in audits], [("P1", name)], result.stderr)
        self.assertEqual(audits[0]["held_by"]["token"], view["token"])
        return result, audits[0]["result"]

    def test_a_lost_reply_is_looked_for(self):
        result, said = self.release_without_a_reply(for_good=False)
        self.assertEqual((result.returncode, said), (0, "released"), result.stderr)
        self.assertTrue(json.loads(result.stdout)["released"])

    def test_the_next_holder_is_not_taken_for_the_one_that_was_meant(self):
        result, said = self.release_without_a_reply(for_good=False, waiter=True)
        self.assertEqual((result.returncode, said), (0, "released"), result.stderr)

    def test_what_cannot_be_known_is_said_and_kept_in_the_audit_record(self):
        result, said = self.release_without_a_reply(for_good=True)
        self.assertEqual((result.returncode, said), (69, "unknown"), result.stderr)
        error = self.error_of(result)
        self.assertIn("P1 may have been released", error["message"])
        self.assertEqual((error["code"], error["hint"][:16]), ("connection_loss", "forelock show P1"))

    def end_of_a_release_that_is_cut(self, kind, about=b""):
        """The results on record, and what is shown then; the lock is held still."""
        self.hold("P1")
        view = self.holder("P1")
        line = tap.Tap(support.SERVER)
        self.addCleanup(line.close)
        line.cut_after_request(kind, for_good=True, about=about)
        result = self.run_cli("--zookeeper", line.address + self.namespace, "--set", "zookeeper.session.timeout=2000",
                              "--audit-file", self.path("audit"), "release", "P1", "--holder", view["node"],
                              "--reason", "it hangs", "-o", "json", server=False)
        self.assertEqual((result.returncode, line.was_cut), (69, True), result.stderr)
        with open(self.path("audit"), "a+", encoding="utf-8") as file:
            file.seek(0)
            results = [json.loads(text)["result"] for text in file]
        shown = self.show("P1")
        self.assertEqual(shown["holder"]["token"], view["token"])
        return results, shown

    def test_a_note_whose_reply_is_lost_may_stand_and_the_record_says_so(self):
        results, shown = self.end_of_a_release_that_is_cut(tap.SET_DATA)
        self.assertEqual((results, shown["forced_release"]["reason"]), (["begun", "unknown"], "it hangs"))

    def test_a_look_whose_reply_is_lost_has_done_nothing_and_is_not_on_record(self):
        node = (self.namespace + "/P1").encode() + b"\0"  # and no watch: not one below it
        results, shown = self.end_of_a_release_that_is_cut(tap.GET_DATA, node)
        self.assertEqual((results, shown.get("forced_release")), ([], None))
