"""What an operator is called for at night: from the number that has raised the alert to the end of it, in two steps."""

import json
import shlex

import support
from serve_test import ServeTest, of
from support import wait_until
from zookeepers import ZooKeepers


class OnCall(ServeTest):
    """Of the metrics, by which Prometheus alerts."""

    def number(self, name):
        lines = self.request("/metrics")[1].splitlines()
        return next((float(line.split()[-1]) for line in lines if line.split()[0] == name or
                     line.split()[0].split("{")[0] == name), None)

    def alerted(self, name, least):
        wait_until(lambda: (self.number(name) or 0) >= least, name)


class Drill(OnCall, support.CliTest):
    def setUp(self):
        super().setUp()
        self.serve()
        self.wait_ready()

    def run_suggested(self, shown):
        """The command that `show` ends with, with a reason in place of WHY."""
        line = next(line for line in shown.splitlines() if "to take it away: " in line)
        words = shlex.split(line.split("to take it away: ")[1])
        words[words.index("WHY")] = "it hangs"
        self.ends(0, *words[words.index("release"):])

    def test_a_holder_hangs(self):
        self.hold("P1", "--info", "Save", "--expected-runtime", "1ms")
        waiter = self.start_cli("run", "-m", "P1", "--timeout", "1m", "--", "true")
        self.alerted("forelock_overdue_holders", 1)
        overdue = self.json_of("ls", "--overdue")["monitors"]
        self.assertEqual([one["monitor"] for one in overdue], ["P1"])
        result = self.run_cli("show", "P1")
        self.assertIn("overdue by", result.stdout)
        self.run_suggested(result.stderr)
        self.assertEqual(waiter.wait(support.PATIENCE), 0)
        wait_until(lambda: self.number("forelock_overdue_holders") == 0, "the alert ends")

    def test_many_wait_for_one_over_three_monitors(self):
        self.hold("P3", "--info", "Root")
        for inner, outer, info in (("P3", "P2", "Middle"), ("P2", "P1", "Leaf")):
            self.start_cli("run", "-m", outer, "-m", inner, "--info", info, "--timeout", "1m", "--", "true")
            wait_until(lambda inner=inner: self.queue(inner), "it waits")
        worst = wait_until(lambda: (text := self.get("/api/chains")["worst"]) and "Leaf" in text and text, "the chain")
        self.assertTrue(worst.startswith("Root "), worst)
        self.assertIn("has held P3", worst)
        self.run_suggested(self.run_cli("show", "P3").stderr)
        wait_until(lambda: self.json_of("ls")["monitors"] == [], "all of them go on")

    def test_two_programs_wait_for_each_other(self):
        first, second = self.nested_locks("Save"), self.nested_locks("Import")
        first("lock P1")
        second("lock P2")
        first("lock P2", wait=False)
        second("lock P1", wait=False)
        self.alerted("forelock_wait_rings", 1)
        chains = self.get("/api/chains")
        ring = json.dumps(chains["rings"])
        for word in ("Save", "Import", "P1", "P2"):
            self.assertIn(word, ring)
        self.run_suggested(self.run_cli("show", "P1").stderr)
        wait_until(lambda: self.number("forelock_wait_rings") == 0, "the alert ends")


class Servers(OnCall, support.CliTest):
    makes_namespace = False

    def connect_string(self):
        return self.zookeepers.addresses()

    def test_a_quorum_is_lost_and_comes_back(self):
        """From `ForelockZooKeeperUnreachable` to the servers that are away: one command; and all goes on by itself."""
        self.zookeepers = ZooKeepers(self)
        self.hold("P1", "--info", "Save", "--set", "zookeeper.session.timeout=20000")
        self.serve()
        wait_until(lambda: self.ready() and self.row("P1"), "it is seen")
        stream = self.stream()
        connected = 'forelock_zk_session_state{state="connected"}'
        self.assertEqual(self.number(connected), 1)
        gone = [self.zookeepers.of_mode("leader"), self.zookeepers.of_mode("follower")]
        for server in gone:
            self.zookeepers.kill(server)
        wait_until(lambda: self.number(connected) == 0, "the alert")
        # The page says the same: the rows as they were, grey, and why.
        stream.until(lambda name, data: name == "status" and not data["live"])
        self.assertFalse(self.get("/api/monitors")["live"])
        self.assertIsNone(self.number("forelock_held"))
        self.assertEqual(self.row("P1")["holder"]["owner"]["lockInfo"], "Save")
        found = self.run_cli("doctor", "-o", "json")
        self.assertEqual(found.returncode, 69, found.stderr)
        for server in range(3):
            self.assertIn(self.zookeepers.address(server), found.stdout)
        refused = [check for check in json.loads(found.stdout)["checks"] if check["status"] == "fail"]
        for server in gone:
            self.assertTrue(any(self.zookeepers.address(server) in json.dumps(check) for check in refused), refused)
        for server in gone:
            self.zookeepers.processes[server] = self.zookeepers.launch(server)
        wait_until(lambda: self.number(connected) == 1, "the alert ends", 120)
        stream.until(lambda name, data: name == "status" and data["live"])
        self.assertEqual(self.ends(0, "doctor", "--quick").returncode, 0)
        child = self.hold("P2")
        stream.until(of("P2", "held"))
        self.let_go(child)


if __name__ == "__main__":
    support.main()
