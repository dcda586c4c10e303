"""forelock run with several monitors, and what show says of them."""

import json
import subprocess

import support


class Sets(support.CliTest):
    def test_holds_all_of_them_and_tells_the_command(self):
        script = ('printf "%s\\n" "$FORELOCK_MONITORS" "$FORELOCK_TOKENS" "${FORELOCK_MONITOR-none}" "$FORELOCK_HELD"; '
                  "echo ready; read forever")
        holder = self.hold("P2", "-m", "P1", "-m", "P2", script="echo ready; " + script)
        monitors, tokens, single, held = (holder.stdout.readline() for _ in range(4))
        self.assertEqual(json.loads(monitors), ["P1", "P2"])
        self.assertEqual(single, "none\n")
        self.assertEqual(held.strip(), ", ".join(f"{name}={token}" for name, token in json.loads(tokens).items()))
        for monitor, token in json.loads(tokens).items():
            view = self.show(monitor)
            self.assertEqual(view["holder"]["token"], token)
            self.assertEqual((view["set"]["size"], view["set"]["held"]), (2, ["P1", "P2"]))
        self.assertEqual(self.run_cli("run", "-m", "P2", "--timeout", "0", "--", "true").returncode, 75)
        self.assertEqual(self.let_go(holder), (0, ""))
        self.assertEqual(self.json_of("ls"), {"monitors": []})

    def test_gives_the_childs_exact_code(self):
        self.assertEqual(self.run_cli("run", "-m", "P1", "-m", "P2", "--", "sh", "-c", "exit 37").returncode, 37)

    def test_not_in_time_names_the_one_that_is_held_and_leaves_nothing(self):
        self.hold("P2", "--info", "Save Content")
        result = self.run_cli("run", "-m", "P3", "-m", "P2", "-m", "P1", "--timeout", "300ms", "--", "echo", "never")
        self.assertEqual((result.returncode, result.stdout), (75, ""))
        self.assertIn("Save Content", result.stderr)
        self.assertIn("forelock show P2", result.stderr)
        self.assertEqual([one["monitor"] for one in self.json_of("ls")["monitors"]], ["P2"])
        result = self.ends(75, "run", "-m", "P1", "-m", "P2", "--timeout", "0", "-o", "json", "--", "true")
        error = self.error_of(result)
        self.assertEqual((error["message"], error["monitor"]),
                         ("of P1 and 1 more at least one is held, or waited for", None), "P1 is free")

    def test_show_explains_what_a_set_waits_for(self):
        self.hold("P2", "--info", "Save Content")
        self.start_cli("run", "-m", "P1", "-m", "P2", "-m", "P3", "--timeout", "1m", "--", "true")
        support.wait_until(lambda: self.queue("P2"), "it does not wait for P2")
        view = self.show("P1")
        self.assertEqual((view["set"]["held"], view["set"]["waits_for"]), (["P1"], "P2"))
        text = self.run_cli("show", "P1").stdout
        self.assertIn("one of 3 monitors that are locked together: P1, P2, P3", text)
        self.assertIn("it holds 1 and waits for P2, held by Save Content", text)

    def test_show_explains_a_set_whose_records_do_not_name_all_members(self):
        members = [option for i in range(30) for option in ("-m", f"P{i:02}")]
        self.hold("P20", "--info", "Save Content")
        self.start_cli("run", *members, "--timeout", "1m", "--", "true")
        support.wait_until(lambda: self.queue("P20"), "it does not wait for P20")
        support.wait_until(lambda: self.show("P00")["set"]["held_count"] == 20, "it holds others than those before P20")
        text = self.run_cli("show", "P00").stdout
        self.assertIn("one of 30 monitors that are locked together: P00, P01, P02, P03 and 26 more", text)
        self.assertIn("it holds 20 and waits for P20, held by Save Content", text)
        members = [option for i in range(30) for option in ("-m", f"Q{i:02}")]
        self.hold("Q30", *members)
        self.assertIn("it holds them all", self.run_cli("show", "Q00").stdout)

    def test_a_member_that_is_taken_away_ends_the_command(self):
        holder = self.hold("P1", "-m", "P2", script="echo ready; exec sleep 1000")
        node = self.holder("P2")["node"]
        self.ends(0, "release", "--holder", node, "--reason", "test", "P2")
        _, errors = holder.communicate(timeout=support.PATIENCE)
        self.assertEqual(holder.returncode, 76)
        self.assertIn("the lock on P2 was lost", errors)
        self.assertIsNone(self.holder("P1"))

    def test_warn_names_the_one_that_is_lost(self):
        holder = self.hold("P1", "-m", "P2", "--on-lost", "warn")
        self.ends(0, "release", "--holder", self.holder("P2")["node"], "--reason", "test", "P2")
        self.assertIn("the lock on P2 was taken away", holder.stderr.readline())
        self.assertEqual(self.let_go(holder)[0], 76)

    def nested(self, *locks, script):
        """What the innermost command finds of its locks, and what was said."""
        words = ["sh", "-c", script]
        for lock in reversed(locks):
            words = self.command("run", *(option for name in lock for option in ("-m", name)), "--timeout", "300ms",
                                 "--", *words)
        result = subprocess.run(words, env=support.clean_environment(), stdin=subprocess.DEVNULL, capture_output=True,
                                text=True, timeout=60, check=False)
        return result.returncode, result.stdout.split(), result.stderr

    def test_a_command_finds_the_innermost_lock_alone(self):
        script = "env | grep -E '^FORELOCK_(MONITOR|TOKEN)' | cut -d= -f1 | sort"
        one, several = ["FORELOCK_MONITOR", "FORELOCK_TOKEN"], ["FORELOCK_MONITORS", "FORELOCK_TOKENS"]
        self.assertEqual(self.nested(("A",), ("B", "C"), script=script)[1], several)
        self.assertEqual(self.nested(("B", "C"), ("A",), script=script)[1], one)

    def test_a_lock_that_is_held_around_it_is_said(self):
        for locks in ((("A",), ("B", "C"), ("B",)), (("A", "B"), ("C",), ("C", "D")), (("A", "B"), ("B", "C"))):
            code, _, errors = self.nested(*locks, script="true")
            self.assertEqual(code, 75, errors)
            self.assertIn("runs under the lock on " + locks[-1][0] + " already", errors)

    def test_retry_takes_one(self):
        self.ends(64, "run", "--retry", "-m", "P1", "-m", "P2", "--", "true", says="--retry takes one monitor")
