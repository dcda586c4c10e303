#!/usr/bin/env python3
"""Adds up runs with planted counts, and expects the exit code and what is said of them."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = Path(__file__).with_name("add_up.py")
CLEAN = dict.fromkeys(
    ("overlaps", "orphans", "priority_violations", "late_calls", "lost_operations", "certainty_overlaps",
     "token_violations", "taken_again_violations", "taken_again", "fifo_violations", "owner_violations",
     "server_losses", "growing", "grants_judged", "grants_undecided", "unfenced_overlaps", "operations", "dead_letters",
     "depositions"), 0)
CLEAN.update(acquisitions=10, faults=2, stall_rounds=1, min_stall_margin_ms=100.0, min_deposition_margin_ms=None,
             checks={})


class AddUp(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def plant(self, name, **counts):
        directory = self.folder / name
        directory.mkdir()
        contents = {"run": {"seed": 1, "seconds": 60}, "verdict": {**CLEAN, **counts},
                    "linearizability": {"holds": 1, "illegal": 0, "unknown": 0}}
        for part, content in contents.items():
            (directory / f"{part}.json").write_text(json.dumps(content), encoding="utf-8")
        return str(directory)

    def add_up(self, *arguments):
        ended = subprocess.run([sys.executable, "-B", PROGRAM, *arguments], capture_output=True, text=True, check=False)
        return ended.returncode, json.loads(ended.stdout), ended.stderr

    def test_counts_of_all_runs_are_added(self):
        code, result, said = self.add_up(self.plant("one"), self.plant("two", acquisitions=5, min_stall_margin_ms=50.0))
        self.assertEqual((code, said), (0, ""))
        self.assertEqual((result["acquisitions"], result["min_stall_margin_ms"]), (15, 50.0))

    def test_each_violation_fails(self):
        for key in ("overlaps", "late_calls", "growing", "owner_violations"):
            code, result, _ = self.add_up(self.plant("clean " + key), self.plant(key, **{key: 1}))
            self.assertEqual((code, result[key]), (1, 1), key)

    def test_depositions_are_judged_where_there_were_any(self):
        parted = {"leader_deposed": {"faults": 1, "calls": 0, "accesses": 0}}
        for margin, expected in ((200.0, 0), (0.0, 1), (-3000.0, 1), (None, 1)):
            code, result, _ = self.add_up(self.plant(f"without proxies {margin}"), self.plant(
                f"deposed {margin}", depositions=1, min_deposition_margin_ms=margin, by_kind=parted))
            self.assertEqual((code, result["min_deposition_margin_ms"]), (expected, margin))

    def test_what_servers_have_lost_is_shown(self):
        code, result, _ = self.add_up(self.plant("lost", server_losses=3))
        self.assertEqual((code, result["server_losses"]), (0, 3))

    def test_a_run_in_which_servers_lost_is_not_counted_but_for_what_they_do_not_excuse(self):
        good = self.plant("good")
        lost = self.plant("lost", server_losses=3, overlaps=1, priority_violations=1)
        code, result, said = self.add_up("--replaced", lost, good)
        self.assertEqual((code, said), (0, ""))
        self.assertEqual((result["replaced_runs"], result["overlaps"], result["acquisitions"]), (1, 0, 10))
        for key in ("late_calls", "lost_operations", "growing"):
            bad = self.plant("lost, " + key, server_losses=3, **{key: 2})
            code, result, said = self.add_up("--replaced", lost, "--replaced", bad, good)
            self.assertEqual((code, result["replaced_runs"]), (1, 2), key)
            self.assertIn(f"lost, {key}: {key}: 2", said)


if __name__ == "__main__":
    unittest.main()
