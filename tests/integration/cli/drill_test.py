"""What an operator is called for at night: from the number that has raised the alert to the end of it, in two steps."""

import json
import shlex
import unittest

import support
from serve_test import ServeTest
from support import wait_until


class Drill(ServeTest, support.CliTest):
    def setUp(self):
        super().setUp()
        self.serve()
        self.wait_ready()

    def number(self, name):
        """Of the metrics, by which Prometheus alerts."""
        lines = self.request("/metrics")[1].splitlines()
        return next(float(line.split()[-1]) for line in lines if line.split()[0].split("{")[0] == name)

    def alerted(self, name, least):
        wait_until(lambda: self.number(name) >= least, name)

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
