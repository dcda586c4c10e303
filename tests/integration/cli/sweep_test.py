"""forelock sweep, and what clients remove themselves."""

import json
import os
import subprocess

import support
import tap

# Everybody may do everything at the node but delete what is below it. kazoo is there for the system's own Python.
WITHOUT_DELETE = """
import sys
from kazoo.client import KazooClient
from kazoo.security import make_acl
client = KazooClient(sys.argv[1])
client.start()
client.set_acls(sys.argv[2], [make_acl("world", "anyone", read=True, write=True, create=True, admin=True)])
client.stop()
"""

# What a release by force leaves there.
WRITE = """
import sys
from kazoo.client import KazooClient
client = KazooClient(sys.argv[1])
client.start()
client.set(sys.argv[2], client.get(sys.argv[2])[0])
client.stop()
"""


class Sweep(support.CliTest):
    def monitors(self):
        return {view["monitor"] for view in self.json_of("ls", "--all")["monitors"]}

    def leave(self, monitor):
        """As a client that is killed while it holds the lock; the server ends its session."""
        child = self.hold(monitor, "--set", "zookeeper.session.timeout=1s", script="trap '' TERM; echo ready; sleep 9")
        child.kill()
        child.wait()
        support.wait_until(lambda: not self.holder(monitor), "its session ends", 60)

    def test_a_client_that_ends_leaves_nothing(self):
        self.assertEqual(self.run_cli("run", "-m", "P1", "--", "true").returncode, 0)
        self.assertEqual(self.monitors(), set())

    def test_what_a_crash_has_left_is_removed(self):
        self.leave("P1")
        self.hold("P2")
        self.assertEqual(self.monitors(), {"P1", "P2"})
        young = self.json_of("sweep")
        self.assertEqual((young["removed"], young["in_use"], young["too_young"]), ([], 1, 1))
        dry = self.json_of("sweep", "--older-than", "0s", "--dry-run")
        self.assertEqual(dry["would_remove"], ["P1"])
        self.assertEqual(self.monitors(), {"P1", "P2"})
        swept = self.run_cli("sweep", "--older-than", "0s")
        self.assertEqual((swept.returncode, swept.stdout), (0, "P1\n"), swept.stderr)
        self.assertIn("removed 1 unused monitor", swept.stderr)
        self.assertEqual(self.monitors(), {"P2"})

    def test_the_next_user_removes_it_too(self):
        self.leave("P1")
        self.assertEqual(self.run_cli("run", "-m", "P1", "--", "true").returncode, 0)
        self.assertEqual(self.monitors(), set())

    def test_one_whose_lock_was_removed_by_force_stays_for_a_day(self):
        child = self.hold("P1", script="trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done")
        view = self.holder("P1")
        name = f"{view['node']}@{view['token']}"
        other = f"{view['node']}@{int(view['token']) + 1}"
        self.assertEqual(self.run_cli("release", "P1", "--holder", other, "--reason", "x").returncode, 1)
        self.assertEqual(self.run_cli("release", "P1", "--holder", name, "--reason", "x").returncode, 0)
        child.wait(support.PATIENCE)
        self.assertEqual(self.monitors(), {"P1"})
        left = self.json_of("sweep", "--older-than", "0s")
        self.assertEqual((left["removed"], left["too_young"]), ([], 1))
        self.assertEqual(self.run_cli("run", "-m", "P1", "--", "true").returncode, 0)
        self.assertEqual(self.monitors(), {"P1"})
        self.assertEqual(json.loads(self.run_cli("show", "P1", "-o", "json").stdout)["forced_release"]["reason"], "x")

    def test_a_line_that_is_cut_hides_no_monitor(self):
        self.hold("P00", *(option for number in range(1, 40) for option in ("-m", f"P{number:02}")))
        line = tap.Tap(support.SERVER)
        self.addCleanup(line.close)

        def sweep():
            return self.run_cli("--zookeeper", line.address + self.namespace, "sweep", "--dry-run", "-o", "json",
                                server=False)

        self.assertEqual(json.loads(sweep().stdout)["in_use"], 40)
        passed = line.passed
        codes = set()
        for part in range(16):
            line.cut_after_bytes(passed * part // 16)
            result = sweep()
            codes.add(result.returncode)
            found = json.loads(result.stdout or "{}").get("in_use")
            self.assertIn((result.returncode, found), ((0, 40), (69, None)), (part, passed, result.stderr))
        self.assertIn(69, codes)

    def test_one_whose_lock_is_removed_by_force_meanwhile_stays(self):
        self.leave("P1")
        line = tap.Tap(support.SERVER)
        self.addCleanup(line.close)

        def write():
            subprocess.run(["/usr/bin/python3", "-c", WRITE, support.SERVER, self.namespace + "/P1"], check=True,
                           timeout=support.PATIENCE)

        # The first transaction asks for the time.
        line.before_request(tap.TRANSACTION, lambda: line.before_request(tap.TRANSACTION, write))
        result = self.run_cli("--zookeeper", line.address + self.namespace, "sweep", "--older-than", "0s", "-o", "json",
                              server=False)
        swept = json.loads(result.stdout)
        self.assertEqual((swept["removed"], swept["in_use"]), ([], 1), result.stderr)
        self.assertEqual(self.monitors(), {"P1"})

    def test_what_we_may_not_read_is_counted(self):
        file = self.write("alice.digest", "alice:secret\n")
        os.chmod(file, 0o600)
        self.assertEqual(self.run_cli("run", "-m", "P1", "--", "true").returncode, 0)  # makes the namespace
        self.hold("P1", "--set", "zookeeper.auth.digest.file=" + file)
        swept = self.json_of("sweep")
        self.assertEqual((swept["in_use"], swept["unreadable"]), (0, 1))
        self.assertIn("1 that we may not read", self.run_cli("sweep").stderr)

    def test_without_leave_to_remove_it_says_so(self):
        self.leave("P1")
        subprocess.run(["/usr/bin/python3", "-c", WITHOUT_DELETE, support.SERVER, self.namespace], check=True,
                       timeout=support.PATIENCE)
        self.ends(77, "sweep", "--older-than", "0s", says="the access control list does not permit it")
        self.assertEqual(self.monitors(), {"P1"})
