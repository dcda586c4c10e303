"""Planted samples, and what is wrong with them."""

import unittest

from contention_verdict import Verdict


class ContentionVerdictTest(unittest.TestCase):
    def setUp(self):
        """Two clients, a sample every second."""
        self.samples = [{"seconds": i, "watches": 20 + i % 5, "nodes": 20,
                         "clients": [{"memory_kib": 9000, "descriptors": 12, "sections": 100 * i, "requests": 600 * i}
                                     for _ in range(2)]} for i in range(100)]
        self.end = {"idle_watches": 6, "idle_nodes": 12, "clients": [
            {"answered": True, "same_session": True, "locks_again": True, "contenders": 0, "disconnections": 3,
             "aged": 20, "longest_wait_ms": 2500} for _ in range(2)]}

    def expect(self, *violations):
        """Each says one of these, in this order."""
        found = Verdict(self.samples, self.end).violations
        self.assertEqual(len(found), len(violations), found)
        for text, violation in zip(found, violations):
            self.assertIn(violation, text)

    def test_flat_is_well(self):
        self.expect()
        summary = Verdict(self.samples, self.end).summary()
        self.assertEqual(summary["sections"], 2 * 9900)
        self.assertEqual(summary["most_watches"], 24)
        self.assertEqual(summary["first_and_second_half"]["requests per section"], [6, 6])
        self.assertEqual(summary["idle_watches"], 6)
        self.assertEqual(summary["violations"], 0)

    def test_watches_leak(self):
        for i, sample in enumerate(self.samples):
            sample["watches"] = 30 + i
        self.expect("watches of busy clients, after 99 s: 129, allowed are 48", "watches grew from")

    def test_few_watches_that_stay(self):
        self.end["idle_watches"] = 17
        self.expect("watches of idle clients: 17, allowed are 16")

    def test_nodes_pile_up(self):
        self.end["idle_nodes"] = 41
        for i, sample in enumerate(self.samples):
            sample["nodes"] = 20 + i
        self.expect("nodes when all are idle", "nodes grew from")

    def test_one_client_grows(self):
        for i, sample in enumerate(self.samples):
            sample["clients"][1]["memory_kib"] += 100 * i
            sample["clients"][0]["descriptors"] += i // 10
        self.expect("memory_kib of client 2 grew", "descriptors of client 1 grew")

    def test_sections_cost_more_and_more(self):
        for i, sample in enumerate(self.samples):
            sample["clients"][0]["requests"] += 20 * i * i
        self.expect("requests per section grew")

    def test_a_client_that_never_gets_the_lock(self):
        for sample in self.samples[51:]:
            sample["clients"][1] = self.samples[50]["clients"][1]
        self.expect("client 2 had no section in one half")

    def test_what_is_wrong_after_the_restart(self):
        self.end["clients"][0].update(answered=False, disconnections=99, aged=0)
        self.end["clients"][1].update(same_session=False, locks_again=False, contenders=1, disconnections=21)
        self.expect("client 1 does not answer", "client 2 has lost its session", "client 2 cannot lock",
                    "client 2 has contenders left", "disconnections of client 2 by the servers' restart: 21")

    def test_background_work_starves(self):
        self.end["clients"][0]["aged"] = 0
        self.end["clients"][1]["longest_wait_ms"] = 8001
        self.expect("client 1 was never served in a crowd",
                    "longest wait of background work of client 2, in ms: 8001")

    def test_too_short_is_no_evidence(self):
        for samples in self.samples[:3], []:
            self.samples = samples
            self.expect("too few samples")


if __name__ == "__main__":
    unittest.main()
