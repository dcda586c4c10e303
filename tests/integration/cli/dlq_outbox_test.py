"""forelock dlq with an outbox that is damaged, impossible, or somebody else's: what it says, and what to do."""

import json
import os
import subprocess
import unittest

import dlq_support
import support


class Damaged(dlq_support.DlqTest):
    def test_damage_is_said_in_every_form_and_repaired_by_who_writes(self):
        os.makedirs(self.path("state"), mode=0o700)
        with open(self.outbox, "w", encoding="ascii") as file:
            file.write("this is no database, and it is long enough to be looked at\n" * 100)
        os.chmod(self.outbox, 0o600)
        for arguments in (("list",), ("stats",), ("export",), ("show", "1")):
            for form in ("text", "json", "ndjson"):
                result = self.run_cli("dlq", *arguments, "-o", form)
                if arguments == ("stats",):  # it has more to say than that
                    self.assertIn("damaged", result.stdout + result.stderr)
                    continue
                self.assertEqual((result.returncode, result.stdout), (74, ""), arguments)
                self.assertIn("damaged", self.error_of(result)["message"] if form != "text" else result.stderr)
        result = self.operate()
        self.assertEqual(result.returncode, 79)
        kept = [name for name in os.listdir(self.path("state")) if "damaged" in name]
        self.assertEqual(len(kept), 1, result.stderr)
        self.assertIn(kept[0], result.stderr)

    def damage(self, at):
        with open(self.outbox, "r+b") as file:
            file.seek(at)
            file.write(b"\xa5" * 3000)

    def fill(self):
        made = [self.dead_letter("--payload", "-", stdin="x" * 20000) for _ in range(3)]
        with open(self.outbox, "rb") as file:
            whole = file.read()
        # The header; the table's root; an index; pages of letters, which no process meets that only adds some.
        return made, whole, (0, 4096, 8192, len(whole) // 2, len(whole) - 4096)

    def restore(self, whole):
        for name in os.listdir(self.path("state")):
            if name != "outbox.db":
                os.remove(os.path.join(self.path("state"), name))
        with open(self.outbox, "wb") as file:
            file.write(whole)

    def test_the_command_of_the_hint_repairs_whatever_was_met(self):
        made, whole, places = self.fill()
        for place in places:
            met = 0
            for arguments in (("list",), ("export",), ("show", made[1]), ("stats",), ("replay", "--exec", "true"),
                              ("replay", "--exec", "true", "--execute")):
                self.restore(whole)
                self.damage(place)
                result = self.run_cli("dlq", *arguments)
                if result.returncode == 0:
                    continue
                met += 1
                self.assertEqual(result.returncode, 74, (place, arguments, result.stderr))
                self.assertIn("damaged", result.stderr)
                self.assertIn("hint: Repair it: forelock dlq repair.", result.stderr, (place, arguments))
                self.ends(0, "dlq", "repair", says="could be saved")
                self.restore(whole)
                self.damage(place)
                repaired = self.run_cli("dlq", "repair", "-o", "json")
                messages = [json.loads(line)["message"] for line in repaired.stderr.splitlines()]
                self.assertTrue(any("could be saved" in message for message in messages), repaired.stderr)
                repaired = self.run_cli("dlq", "repair")
                self.assertRegex(repaired.stdout, "is whole: [123] letters?, none parked")
                self.assertEqual(self.run_cli("dlq", *arguments[:1]).returncode in (0, 64), True)
                self.assertEqual(self.run_cli("dlq", "list").returncode, 0)
            self.assertTrue(met, place)

    def test_what_is_whole_stays_as_it_is(self):
        made, whole, _ = self.fill()
        self.run_cli("dlq", "park", made[0])
        self.assertEqual(self.json_of("dlq", "repair"), {"outbox": self.outbox, "letters": 3, "parked": 1})
        self.assertEqual(sorted(os.listdir(self.path("state"))), ["outbox.db", "outbox.db-journal", "outbox.db.lock"])
        self.assertEqual(self.ids(), made[1:])

    def test_where_there_is_none_none_is_made(self):
        result = self.run_cli("dlq", "repair")
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        self.assertIn("there is no outbox", result.stderr)
        self.assertFalse(os.path.exists(self.path("state")))


class Impossible(dlq_support.DlqTest):
    """Places in which no outbox can be."""

    def test_the_place_is_blamed_and_no_disk(self):
        self.write("file", "")
        os.symlink("loop", self.path("loop"))
        for place in (self.path("file/outbox.db"), self.path("loop/outbox.db"), self.path("x" * 300 + "/outbox.db"),
                      self.path("x" * 300), "/proc/nope/outbox.db", "/dev/null/outbox.db"):
            self.outbox = place
            for arguments in (("run", "--retry", "-m", "P1", "--", "true"), ("dlq", "park", "some-id")):
                result = self.run_cli(*arguments)
                self.assertEqual(result.returncode, 74, (place, result.stderr))
                self.assertIn("hint: No outbox can be there: set dlq.outbox.path to another place.", result.stderr)
            report = self.run_cli("doctor").stdout
            self.assertRegex(report, "WARN +outbox: .*\n +-> .*set dlq.outbox.path to another place", place)


@unittest.skipUnless(os.geteuid() == 0, "only root can be somebody else")
class OfSomebodyElse(dlq_support.DlqTest):
    def run_as_other(self, *arguments):
        return subprocess.run(self.command(*arguments), user=65534, group=65534, capture_output=True, text=True,
                              env=support.clean_environment(HOME="/nowhere"), timeout=60, check=False)

    def test_who_may_not_look_is_told_what_looking_needs(self):
        identity = self.dead_letter()
        os.chmod(self.directory.name, 0o711)
        for mode in (0o711, 0o700):
            os.chmod(self.path("state"), mode)
            for arguments in (("list",), ("show", identity), ("stats",), ("replay", "--exec", "true")):
                result = self.run_as_other("dlq", *arguments)
                self.assertEqual(result.returncode, 74, result.stderr)
                self.assertIn("cannot be read: Permission denied", result.stderr)
                self.assertIn("hint: Read access is enough: run this as the user who owns it.",
                              result.stderr)
        result = self.run_as_other("run", "--retry", "-m", "P1", "--", "true")
        self.assertEqual(result.returncode, 74)
        self.assertIn("write access", result.stderr)
