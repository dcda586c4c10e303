"""forelock serve --unlocker, killed at each step of what it does; another one goes on."""

import unittest.mock

import support
import tap
from support import wait_until
from unlocker_test import Unlocking, UnlockerTest


class Steps(UnlockerTest):
    def test_killed_at_each_of_its_steps(self):
        """Another one finishes what is left to do; nobody is freed twice, and what is done is on record before."""
        steps = [(kind, how) for kind in (tap.SET_DATA, tap.TRANSACTION) for how in ("lost", "under way", "answered")]
        for number, (kind, how) in enumerate(steps):
            with self.subTest(kind=kind, how=how):
                self.kill_at(f"P{number}", kind, how)

    def kill_at(self, monitor, kind, how):
        line = tap.Tap(support.SERVER)
        self.addCleanup(line.close)
        file = self.path(monitor + ".audit")
        options = ("--set", "zookeeper.session.timeout=1000", "--audit-file", file)
        with unittest.mock.patch.object(self, "connect_string", lambda: line.address + self.namespace):
            first = self.start_active(*options)
        about = ("/" + monitor).encode()

        def kill():
            first.process.kill()
            return tap.DROP if how == "lost" else None

        if how == "answered":
            line.cut_after_request(kind, for_good=True, about=about)
        else:
            line.before_request(kind, kill, about=about)
        holder = self.hold(monitor, "--auto-unlock-after", "1ms", script="echo ready; exec sleep 1000")
        if how == "answered":
            wait_until(lambda: line.was_cut, "it is done, and not known to be")
            first.process.kill()
        first.process.wait(support.PATIENCE)
        second = Unlocking(self, *options)
        self.assertEqual(holder.wait(60), 76)
        wait_until(lambda: self.active(second), "the other one has taken over", 60)
        wait_until(lambda: self.holder(monitor) is None, "it is free")
        self.assertIn("its time to be unlocked", holder.stderr.read())
        second.process.terminate()
        self.assertEqual(second.process.wait(support.PATIENCE), 0)
        acts = self.json_of("audit", "--audit-file", file)["acts"]
        results = {}
        for act in acts:
            results.setdefault(act["by"], []).append(act["result"])
        killed, *others = results.values()
        # One that has lost its line says so, if it comes to that.
        self.assertIn(killed, (["begun"], ["begun", "failed"], ["begun", "unknown"]))
        # What the servers had got was done: then there is nothing left for the other one.
        done = kind == tap.TRANSACTION and how != "lost"
        self.assertEqual(others, [] if done else [["begun", "released"]], acts)
        self.assertEqual(len({act["held_by"]["token"] for act in acts}), 1)


if __name__ == "__main__":
    support.main()
