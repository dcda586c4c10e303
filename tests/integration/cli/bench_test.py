"""bench: what it says, what it refuses, and that nothing is left of it. How fast anything is, is not judged here."""

import json
import os
import signal
import subprocess

import support

KEYS = ["workload", "what", "unit", "better", "median", "lowest", "highest", "raw", "ratio", "requests"]
SMALL = ["--duration", "30ms", "--rounds", "1", "--monitors", "8", "--waiters", "10", "--processes", "2"]


class Bench(support.CliTest):
    def exists(self, path):
        """Whether the node exists, as the namespace of a command that only looks."""
        result = subprocess.run([support.BINARY, "--zookeeper", support.SERVER + path, "ls"],
                                env=support.clean_environment(), capture_output=True, text=True, check=False)
        self.assertIn(result.returncode, (0, 78), result.stderr)
        return result.returncode == 0

    def test_all_workloads(self):
        self.namespace += "-new"
        measured = self.json_of("bench", *SMALL)
        self.assertEqual(list(measured), ["rounds", "duration_ms", "results"])
        self.assertEqual((measured["rounds"], measured["duration_ms"]), (1, 30))
        rows = measured["results"]
        self.assertEqual([list(row) for row in rows], [KEYS] * len(rows))
        self.assertEqual(
            [(row["workload"], row["what"]) for row in rows],
            [("uncontended", "same monitor"), ("uncontended", "fresh monitors"), ("contended", "8 threads"),
             ("contended", "2 processes"), ("independent", "8 monitors"),
             ("priority", "foreground behind 10, median"), ("priority", "foreground behind 10, longest"),
             ("waiters", "10 waiters, hand-over"), ("waiters", "10 waiters, memory of one"),
             ("waiters", "10 waiters, cancelled")])
        for row in rows:
            self.assertLessEqual(row["lowest"], row["median"])
            self.assertLessEqual(row["median"], row["highest"])
            if row["what"] not in ("10 waiters, memory of one", "10 waiters, cancelled"):
                self.assertGreater(row["median"], 0, row)
                self.assertGreater(row["raw"], 0, row)
                self.assertGreater(row["ratio"], 0, row)
        # Two transactions, and now and then a watch where the machine was slow.
        self.assertGreaterEqual(rows[0]["requests"], 2)
        self.assertLess(rows[0]["requests"], 4)
        self.assertFalse(self.exists(self.namespace))

    def test_text_and_a_choice(self):
        result = self.ends(0, "bench", "uncontended", "--duration", "20ms", "--rounds", "1")
        self.assertEqual(result.stdout.splitlines()[0].split()[:3], ["WORKLOAD", "WHAT", "FORELOCK"])
        self.assertIn("fresh monitors", result.stdout)
        self.assertNotIn("contended  8", result.stdout)
        lines = self.run_cli("bench", "uncontended", "--duration", "20ms", "--rounds", "1", "-o", "ndjson").stdout
        self.assertEqual([json.loads(line)["what"] for line in lines.splitlines()], ["same monitor", "fresh monitors"])

    def test_what_a_killed_one_left_is_no_use(self):
        child = self.start_cli("bench", "uncontended", "--duration", "1m")
        support.wait_until(lambda: self.json_of("ls", "--all")["monitors"], "a monitor of its own")
        child.kill()
        child.wait()

        def works():
            result = self.run_cli("bench", "uncontended", *SMALL)
            self.assertIn(result.returncode, (0, 1), result.stderr)  # 1: the killed one's session still lives
            return result.returncode == 0
        support.wait_until(works, "it works again")

    def test_refuses_a_namespace_in_use(self):
        holder = self.start_cli("run", "-m", "P1", "--", "sleep", "60")
        support.wait_until(lambda: self.holder("P1"), "the holder")
        result = self.run_cli("bench", "-o", "json", *SMALL)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        error = self.error_of(result)
        self.assertEqual(error["code"], "namespace_not_empty")
        self.assertIn(self.namespace + "/forelock-bench", error["hint"])
        self.assertEqual([each["monitor"] for each in self.json_of("ls", "--all")["monitors"]], ["P1"])
        self.assertIsNone(holder.poll())
        # What the hint says works, and leaves the namespace as it was.
        inside = [support.BINARY, "--zookeeper", self.connect_string() + "/forelock-bench", "bench", "uncontended",
                  "--duration", "20ms", "--rounds", "1"]
        self.assertEqual(subprocess.run(inside, env=support.clean_environment(), capture_output=True,
                                        check=False).returncode, 0)
        self.assertFalse(self.exists(self.namespace + "/forelock-bench"))
        self.assertIsNotNone(self.holder("P1"))

    def test_ends_at_a_signal_and_leaves_nothing(self):
        for workload in ("uncontended", "contended", "independent", "priority", "waiters"):
            child = self.start_cli("bench", workload, "--duration", "1m", "--monitors", "8", "--waiters", "10",
                                   "--rounds", "100", start_new_session=True)
            support.wait_until(lambda: self.json_of("ls", "--all")["monitors"], "a monitor of the benchmark")
            os.killpg(child.pid, signal.SIGINT)  # as a terminal does: to all of its processes
            self.assertEqual(child.wait(timeout=support.PATIENCE), 130, workload)
            self.assertEqual(child.stdout.read(), "")
            self.assertEqual(self.json_of("ls", "--all")["monitors"], [], workload)

    def test_unreachable_and_unknown(self):
        result = subprocess.run([support.BINARY, "--zookeeper", "127.0.0.1:1", "bench", "-o", "json"],
                                env=support.clean_environment(), capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 69)
        self.assertEqual(self.error_of(result)["code"], "connection_loss")
        self.assertEqual(self.run_cli("bench", "swimming").returncode, 64)
        self.assertEqual(self.run_cli("bench", "--threads", "0").returncode, 64)
