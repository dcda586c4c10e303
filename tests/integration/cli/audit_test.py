"""The audit file and forelock audit: each act is there, before it is done and after it, or it is not done."""

import json
import os
import subprocess

import dlq_support
import support
from support import wait_until


class AuditTest(support.CliTest):
    def setUp(self):
        super().setUp()
        self.file = self.path("audit.jsonl")

    def release(self, monitor, *options, **environment):
        holder = self.holder(monitor)
        return self.run_cli("release", monitor, "--holder", f"{holder['node']}@{holder['token']}", "--reason",
                            f"{monitor} hangs", *options, FORELOCK_AUDIT_FILE=self.file, **environment)

    def acts(self, *options):
        result = self.run_cli("audit", *options, "-o", "json", FORELOCK_AUDIT_FILE=self.file)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)["acts"]


class Releases(AuditTest):
    def test_who_what_why_when_before_and_after(self):
        self.hold("P1", script="echo ready; exec sleep 1000")
        before = self.holder("P1")
        waiter = self.hold_next("P1")
        self.assertEqual(self.release("P1", SUDO_USER="alice").returncode, 0)
        begun, done = self.acts()
        self.assertEqual([begun["result"], done["result"]], ["begun", "released"])
        for act in (begun, done):
            self.assertEqual((act["action"], act["monitor"], act["reason"]), ("release", "P1", "P1 hangs"))
            self.assertEqual(act["held_by"]["token"], before["token"])
        self.assertLessEqual(begun["at"], done["at"])
        self.assertIn("then_held_by", done)
        self.assertNotIn("then_held_by", begun)
        self.assertNotEqual((done["then_held_by"] or {}).get("token"), before["token"])
        if os.geteuid() == 0 and not self.has_login():
            self.assertTrue(done["by"].startswith("alice (as root)@"), done)
        self.assertEqual(os.stat(self.file).st_mode & 0o777, 0o600)
        wait_until(lambda: (self.holder("P1") or before)["token"] != before["token"], "the next one has it")
        self.assertIsNone(waiter.poll())

    def hold_next(self, monitor):
        waiter = self.start_cli("run", "-m", monitor, "--timeout", "1m", "--", "sleep", "1000")
        wait_until(lambda: self.queue(monitor), "it waits")
        return waiter

    @staticmethod
    def has_login():
        with open("/proc/self/loginuid", encoding="ascii") as file:
            return int(file.read()) != 0xFFFFFFFF

    def test_filters(self):
        for monitor in ("P1", "P2"):
            self.hold(monitor, script="echo ready; exec sleep 1000")
            self.assertEqual(self.release(monitor).returncode, 0)
        self.assertEqual({act["monitor"] for act in self.acts()}, {"P1", "P2"})
        self.assertEqual([act["monitor"] for act in self.acts("--monitor", "P2")], ["P2", "P2"])
        self.assertEqual(self.acts("--action", "purge"), [])
        self.assertEqual(len(self.acts("--action", "release", "--since", "1h")), 4)
        self.assertEqual(self.acts("--since", "2999-01-01T00:00:00Z"), [])
        text = self.run_cli("audit", "-m", "P1", "--audit-file", self.file, server=False)
        self.assertEqual(len(text.stdout.splitlines()), 3, text.stdout)
        self.assertIn("P1 hangs", text.stdout)
        lines = self.run_cli("audit", "--audit-file", self.file, "-o", "ndjson", server=False).stdout.splitlines()
        self.assertEqual(len(lines), 4)
        self.assertEqual(self.run_cli("audit", "--since", "x", "--audit-file", self.file).returncode, 64)
        self.assertEqual(self.run_cli("audit").returncode, 64)
        self.assertEqual(self.run_cli("audit", "--audit-file", self.path("none")).returncode, 74)

    def test_what_cannot_be_put_on_record_is_not_done(self):
        self.hold("P1", script="echo ready; exec sleep 1000")
        before = self.holder("P1")
        elsewhere = self.write("elsewhere", "")
        os.symlink(elsewhere, self.file)  # another user's, who wants us to write there
        for path in (self.file, self.path("no/such/folder"), self.directory.name, "/dev/null"):
            result = self.release("P1", "--audit-file", path, "-o", "json")
            self.assertEqual((result.returncode, self.error_of(result)["code"]), (74, "audit"), path)
            self.assertIn(path, self.error_of(result)["message"])
        self.assertEqual(self.holder("P1")["token"], before["token"])
        self.assertEqual(os.stat(elsewhere).st_size, 0)

    def test_nothing_is_on_record_where_nothing_was_done(self):
        self.hold("P1", script="echo ready; exec sleep 1000")
        self.assertEqual(self.run_cli("release", "P1", "--holder", "A-0000009999", "--reason", "x",
                                      "--audit-file", self.file).returncode, 1)
        self.assertFalse(os.path.exists(self.file))

    def test_a_torn_line_costs_only_itself(self):
        with open(self.file, "w", encoding="ascii") as file:
            file.write('{"action":"release","at":"20')
        self.hold("P1", script="echo ready; exec sleep 1000")
        self.assertEqual(self.release("P1").returncode, 0)
        self.assertEqual([act["result"] for act in self.acts()], ["begun", "released"])
        result = self.run_cli("audit", "--audit-file", self.file, server=False)
        self.assertIn("1 line", result.stderr)

    def test_lines_of_many_processes_stay_whole(self):
        count = 6
        for i in range(count):
            self.hold(f"P{i}", "--info", "x" * 400, script="echo ready; exec sleep 1000")
        nodes = [self.holder(f"P{i}")["node"] for i in range(count)]
        releases = [subprocess.Popen(self.command("release", f"P{i}", "--holder", nodes[i], "--reason", "y" * 900,
                                                  "--audit-file", self.file),
                                     env=support.clean_environment(), stderr=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL) for i in range(count)]
        self.assertEqual([each.wait(support.PATIENCE) for each in releases], [0] * count)
        with open(self.file, encoding="utf-8") as file:
            acts = [json.loads(line) for line in file]
        self.assertEqual(sorted((act["monitor"], act["result"]) for act in acts),
                         sorted((f"P{i}", result) for i in range(count) for result in ("begun", "released")))

    def test_the_unlocker_writes_it_too(self):
        self.hold("P1", "--auto-unlock-after", "1ms", script="echo ready; exec sleep 1000")
        self.start_cli("serve", "--unlocker", "--listen", "127.0.0.1:0", "--audit-file", self.file)
        wait_until(lambda: os.path.exists(self.file) and len(self.acts()) == 2, "it is on record")
        self.assertEqual([(act["action"], act["result"]) for act in self.acts("--monitor", "P1")],
                         [("unlock", "begun"), ("unlock", "released")])


class Letters(dlq_support.DlqTest):
    def test_each_act_on_letters_is_there(self):
        file = self.path("audit.jsonl")
        first, second = self.dead_letter(), self.dead_letter()
        exported = self.run_cli("dlq", "export")
        self.assertEqual(exported.returncode, 0, exported.stderr)
        letters = self.write("letters", exported.stdout)
        for arguments in (("park", first), ("unpark", first), ("replay", "--exec", "true", "--execute"),
                          ("import", letters, "--execute"), ("purge", second, "--yes")):
            result = self.run_cli("dlq", *arguments, FORELOCK_AUDIT_FILE=file)
            self.assertEqual(result.returncode, 0, (arguments, result.stderr))
        acts = json.loads(self.run_cli("audit", "-o", "json", FORELOCK_AUDIT_FILE=file).stdout)["acts"]
        kinds = [act["action"] for act in acts]
        for kind in ("park", "unpark", "replay", "import", "purge"):
            results = [act["result"] for act in acts if act["action"] == kind]
            self.assertEqual((len(results), results[:1]), (2, ["begun"]), kinds)

    def test_purge_that_cannot_be_put_on_record_is_not_done(self):
        identity = self.dead_letter()
        result = self.run_cli("dlq", "purge", identity, "--yes", FORELOCK_AUDIT_FILE=self.directory.name)
        self.assertEqual(result.returncode, 74, result.stderr)
        self.assertEqual(self.ids(), [identity])


if __name__ == "__main__":
    support.main()
