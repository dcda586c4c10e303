"""forelock dlq: replay, park, purge; what may happen to them, and what must not."""

import base64
import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import unittest

import dlq_support
import support


class DrainTest(dlq_support.DlqTest):
    def replay(self, command, *options):
        return self.run_cli("dlq", "replay", "--exec", command, "--execute", *options)

    def report(self, command, *options, code=0):
        result = self.replay(command, *options, "-o", "json")
        self.assertEqual(result.returncode, code, result.stderr)
        return json.loads(result.stdout)

    def start_replay(self, command, *options):
        return self.start_cli("dlq", "replay", "--exec", command, "--execute", *options)

    def noting(self, then="exit 0"):
        """A command that notes which letter it got."""
        return f"cat > /dev/null; echo $FORELOCK_DLQ_ID >> {self.path('seen')}; {then}"


class DryRun(DrainTest):
    def test_says_what_it_would_do_and_does_nothing(self):
        for monitor in ("P1", "P1", "P2"):
            self.dead_letter("--type", "save", monitor=monitor)
        made = self.ids()
        result = self.run_cli("dlq", "replay", "--type", "save", "--exec", "touch it's-run; false", "--rate", "2.5")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for text in ("Would replay 3 letters", "exit_75        3", "P1             2", "Nothing was done",
                     "forelock dlq replay --type save", "--exec 'touch it'\\''s-run; false' --rate 2.5 --execute"):
            self.assertIn(text, result.stdout)
        self.assertEqual(self.ids(), made)
        self.assertEqual(self.letters()[0]["tries"], 0)

    def test_its_next_command_is_one_that_works(self):
        self.dead_letter("--type", "a b")
        kept = self.dead_letter("--type", "other")
        command = json.loads(self.run_cli("dlq", "replay", "--type", "a b", "--exec", "grep -q 'a b'", "-o",
                                          "json").stdout)["next"]
        environment = support.clean_environment(PATH=os.path.dirname(support.BINARY) + ":" + os.environ["PATH"])
        subprocess.run(command, shell=True, env=environment, check=True, capture_output=True)
        self.assertEqual(self.ids(), [kept])

    def test_as_json(self):
        self.dead_letter()
        found = self.json_of("dlq", "replay", "--max", "7")
        self.assertEqual((found["dry_run"], found["letters"], found["would_try"], found["by_monitor"]),
                         (True, 1, 1, {"P1": 1}))
        self.assertIsNone(self.json_of("dlq", "replay", "--type", "none")["next"])

    def test_secrets_are_not_repeated(self):
        self.dead_letter()
        result = self.ends(0, "dlq", "replay", "--set", "kafka.sasl.password=hunter2")
        self.assertIn("kafka.sasl.password=", result.stdout)
        self.assertNotIn("hunter2", result.stdout)

    def test_counts_what_would_be_overtaken(self):
        for kind, monitor in (("index", "P1"), ("index", "P1"), ("save", "P1"), ("index", "P1"), ("save", "P2")):
            self.dead_letter("--type", kind, monitor=monitor)
        self.assertEqual(self.json_of("dlq", "replay", "--type", "save")["would_overtake"], 2)
        self.assertIn("2 letters do not match and stand before", self.run_cli("dlq", "replay", "--type", "save").stdout)
        self.assertEqual(self.json_of("dlq", "replay", "--monitor", "P1")["would_overtake"], 0)


class Replay(DrainTest):
    def test_of_nothing_is_done(self):
        self.assertEqual(self.report("exit 1")["replayed"], 0)

    def test_the_command_gets_record_lock_and_letter(self):
        identity = self.dead_letter("--type", "save", "--payload", "-", stdin="body")
        script = f"cat > {self.path('record')}; env > {self.path('environment')}; echo on stdout"
        result = self.replay(script)
        self.assertEqual((result.returncode, result.stdout.split()[:3]), (0, ["replayed", "1", "letter"]))
        self.assertIn("on stdout", result.stderr)
        record = json.loads(self.lines_of("record")[0])
        self.assertEqual((record["id"], record["payload"]["data"]), (identity, "Ym9keQ=="))
        found = dict(line.split("=", 1) for line in self.lines_of("environment") if line.startswith("FORELOCK_"))
        expected = {"FORELOCK_DLQ_ID": identity, "FORELOCK_OPERATION": identity, "FORELOCK_DLQ_TYPE": "save",
                    "FORELOCK_DLQ_REASON": "exit_75", "FORELOCK_DLQ_TRIES": "0", "FORELOCK_DLQ_REPLAY_COUNT": "0",
                    "FORELOCK_MONITOR": "P1", "FORELOCK_PRIORITY": "background"}
        self.assertEqual({key: found.get(key) for key in expected}, expected)
        self.assertGreater(int(found["FORELOCK_TOKEN"]), 0)
        self.assertEqual(self.ids(), [])

    def test_one_script_for_run_and_for_replay(self):
        script = f"cat >> {self.path('input')}; echo \" $FORELOCK_OPERATION $FORELOCK_ATTEMPT\" >> {self.path('input')}"
        identity = self.dead_letter("--payload", "-", stdin="body", script=script + "; exit 75")
        result = self.replay(script, "--stdin", "payload")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.lines_of("input"), [f"body {identity} 1", f"body {identity} 0"])
        self.assertEqual(self.replay("true", "--stdin", "letter").returncode, 64)

    def test_a_record_is_one_line_however_it_is_stored(self):
        identity = self.dead_letter()
        exported = json.loads(self.run_cli("dlq", "export").stdout)
        self.rewrite(identity, json.dumps(exported, indent=2))
        lines = self.run_cli("dlq", "export").stdout.splitlines()
        self.assertEqual([json.loads(line) for line in lines], [exported])
        self.report(f"head -n 1 > {self.path('record')}")
        self.assertEqual(json.loads(self.lines_of("record")[0]), exported)

    def test_replays_what_matches_in_order(self):
        made = [self.dead_letter("--type", kind) for kind in ("save", "index", "save", "save")]
        self.assertEqual(self.report(self.noting(), "--type", "save", "--max", "2")["replayed"], 2)
        self.assertEqual(self.lines_of("seen"), [made[0], made[2]])
        self.assertEqual(self.ids(), [made[1], made[3]])

    def test_one_that_fails_keeps_the_later_ones_of_its_monitor(self):
        first, second = self.dead_letter(), self.dead_letter()
        other = self.dead_letter(monitor="P2")
        command = self.noting(f"[ $FORELOCK_DLQ_ID != {first} ]")
        result = self.replay(command)
        self.assertEqual(result.returncode, 1)
        self.assertIn("failed: " + first, result.stderr)
        self.assertEqual(sorted(self.lines_of("seen")), sorted([first, other]))
        self.assertEqual([(letter["id"], letter["tries"]) for letter in self.letters()], [(first, 1), (second, 0)])

    def test_one_that_fails_too_often_is_parked_and_blocks_nobody(self):
        poison, second = self.dead_letter(), self.dead_letter()
        command = self.noting(f"[ $FORELOCK_DLQ_ID != {poison} ]")
        self.assertEqual(self.report(command, "--max-replays", "2", code=1)["failed"], 1)
        found = self.report(command, "--max-replays", "2", code=1)
        self.assertEqual((found["parked"], found["replayed"]), (1, 1))
        self.assertEqual(self.lines_of("seen"), [poison, poison, second])
        self.assertEqual((self.ids(), self.ids("--parked")), ([], [poison]))
        self.assertEqual(self.record(poison)["state"], "parked")
        self.assertEqual(self.report("exit 0", "--parked")["replayed"], 1)
        self.assertEqual(self.ids("--parked"), [])

    def test_later_is_75_and_not_counted(self):
        identity = self.dead_letter()
        self.dead_letter()
        for _ in range(4):
            found = self.report("exit 75", code=75)
            self.assertEqual((found["later"], found["failed"], found["parked"]), (1, 0, 0))
        self.assertEqual(self.letters("--id", identity)[0]["tries"], 0)

    def test_a_monitor_that_is_held_is_later_and_the_message_says_who_holds_it(self):
        self.hold("P1", "--info", "Save Content")
        self.dead_letter("--timeout", "50ms")
        other = self.dead_letter(monitor="P2")
        result = self.replay(self.noting(), "--lock-timeout", "100ms")
        self.assertEqual(result.returncode, 75, result.stderr)
        self.assertIn("Save Content", result.stderr)
        self.assertEqual(self.lines_of("seen"), [other])

    def test_different_monitors_go_on_at_the_same_time(self):
        for monitor in ("P1", "P2"):
            self.dead_letter(monitor=monitor)
        # Each waits for the other one to have begun.
        begun, other = self.path("begun-$FORELOCK_MONITOR"), self.path("begun-$other")
        command = (f"touch {begun}; other=P1; [ $FORELOCK_MONITOR = P1 ] && other=P2; "
                   f"while ! [ -e {other} ]; do sleep 0.02; done")
        self.assertEqual(self.report(command)["replayed"], 2)

    def test_a_command_that_cannot_be_executed_is_no_letters_fault(self):
        for monitor in ("P1", "P2", "P3"):
            self.dead_letter(monitor=monitor)
        for command, code in (("/no/such/command", 127), (self.directory.name, 126)):
            result = self.replay(command, "--max-replays", "1", "-o", "json")
            self.assertEqual(result.returncode, code)
            self.assertIn(command, json.loads(result.stderr.splitlines()[-1])["error"]["message"])
        self.assertEqual([letter["tries"] for letter in self.letters()], [0, 0, 0])

    def test_unreadable_records_stay_and_block_nobody(self):
        bad = self.dead_letter()
        self.rewrite(bad, "{}")
        self.dead_letter()
        found = self.report(self.noting())
        self.assertEqual((found["replayed"], found["unreadable"]), (1, 1))
        (left,) = self.letters()
        self.assertTrue(left["unreadable"])

    def test_the_command_loses_its_lock(self):
        identity = self.dead_letter()
        replay = self.start_replay(f"touch {self.path('begun')}; sleep 1000")
        support.wait_until(lambda: os.path.exists(self.path("begun")), "the command runs")
        self.ends(0, "release", "P1", "--holder", self.holder("P1")["node"], "--reason", "test")
        _, errors = replay.communicate(timeout=support.PATIENCE)
        self.assertEqual(replay.returncode, 75, errors)
        self.assertIn("lock", errors)
        self.assertEqual([(letter["id"], letter["tries"]) for letter in self.letters()], [(identity, 0)])


class Terminal(DrainTest):
    def test_shows_how_far_it_is(self):
        for monitor in ("P1", "P2", "P3"):
            self.dead_letter(monitor=monitor)
        process, terminal = self.at_terminal("dlq", "replay", "--execute", "--concurrency", "1", "--exec",
                                             "[ $FORELOCK_MONITOR != P2 ]")
        seen = self.read_until(terminal, b"1 failed: the next replay")
        self.assertEqual(self.code_of(process), 1)
        for text in (b"\r[", b"1 of 3 replayed", b"########] 2 of 3 replayed, 1 failed", b"failed: "):
            self.assertIn(text, seen)
        self.assertIn(b"\r\x1b[Kforelock: audit:", seen)  # the bar is gone before the report


class Interrupted(DrainTest):
    SESSION = ("--set", "zookeeper.session.timeout=2000")

    def test_the_first_signal_lets_what_runs_come_to_its_end(self):
        first, second = self.dead_letter(), self.dead_letter()
        go_on = self.path("go-on")
        replay = self.start_replay(self.noting(f"while ! [ -e {go_on} ]; do sleep 0.02; done"))
        support.wait_until(lambda: self.lines_of("seen"), "the command runs")
        replay.send_signal(signal.SIGTERM)
        line = "".join(replay.stderr.readline() for _ in range(3))
        self.assertIn("a second signal ends them at once", line)
        self.write("go-on", "")
        output, errors = replay.communicate(timeout=support.PATIENCE)
        self.assertEqual(replay.returncode, 143, errors)
        self.assertIn("replayed 1 letter", output)
        self.assertIn("stopped before the end", output)
        self.assertEqual((self.lines_of("seen"), self.ids()), ([first], [second]))

    def test_the_second_signal_kills_and_nothing_is_counted(self):
        identity = self.dead_letter()
        replay = self.start_replay(self.noting("trap '' TERM INT; sleep 1000 & wait"))
        support.wait_until(lambda: self.lines_of("seen"), "the command runs")
        replay.send_signal(signal.SIGINT)
        for _ in range(3):
            replay.stderr.readline()
        replay.send_signal(signal.SIGINT)
        _, errors = replay.communicate(timeout=support.PATIENCE)  # ends when the whole group is gone
        self.assertEqual(replay.returncode, 130, errors)
        self.assertEqual([(letter["id"], letter["tries"]) for letter in self.letters()], [(identity, 0)])

    def test_killed_and_run_again_nothing_is_lost(self):
        made = [self.dead_letter() for _ in range(3)]
        second_waits = f"[ $FORELOCK_DLQ_ID != {made[1]} ] || while ! [ -e {self.path('go-on')} ]; do sleep 0.05; done"
        replay = self.start_replay(self.noting(second_waits), *self.SESSION)
        support.wait_until(lambda: len(self.lines_of("seen")) == 2, "the second command runs")
        replay.kill()
        replay.communicate(timeout=support.PATIENCE)
        self.assertEqual([(letter["id"], letter["tries"]) for letter in self.letters()], [(made[1], 1), (made[2], 0)])
        self.write("go-on", "")
        # The dead drainer's session ends by itself; until then its locks are held.
        found = self.report(self.noting(second_waits), "--lock-timeout", "20s", *self.SESSION)
        self.assertEqual(found["replayed"], 2)
        self.assertEqual(self.lines_of("seen"), [made[0], made[1], made[1], made[2]])
        self.assertEqual(self.ids(), [])

    def test_there_is_one_drainer(self):
        identity = self.dead_letter()
        # Long enough for a server that is slow now and then; who comes second waits a little longer than a session.
        session = ("--set", "zookeeper.session.timeout=6000")
        replay = self.start_replay(self.noting("while :; do sleep 0.05; done"), *session)
        support.wait_until(lambda: self.lines_of("seen"), "the command runs")
        for arguments in (("replay", "--exec", "true", "--execute"), ("park", identity), ("purge", identity, "--yes")):
            result = self.run_cli("dlq", *arguments, "-o", "json", *session)
            self.assertEqual((result.returncode, result.stdout), (75, ""), arguments)
            error = self.error_of(result)
            self.assertIn(f"/{replay.pid}/", error["message"])
            self.assertIn("replay", error["message"])
            self.assertTrue(error["retryable"])
        self.assertEqual(self.ids(), [identity])
        self.assertEqual(self.run_cli("dlq", "stats").returncode, 0)  # looking is free


    def test_a_signal_ends_the_look_before_a_replay(self):
        # Nobody answers there: it looks for long.
        replay = self.start_replay("true", "--set", "kafka.bootstrap.servers=127.0.0.1:1")
        support.wait_until(lambda: os.listdir(f"/proc/{replay.pid}/task")[1:], "it has begun")
        replay.send_signal(signal.SIGTERM)
        self.assertEqual(replay.wait(5), -signal.SIGTERM)


class SameId(DrainTest):
    """An id that fails again later is another letter, whatever becomes of the first."""

    def test_that_fails_while_a_replay_has_the_first(self):
        self.dead_letter("--id", "nightly")
        go_on = self.path("go-on")
        replay = self.start_replay(self.noting(f"while ! [ -e {go_on} ]; do sleep 0.02; done"))
        support.wait_until(lambda: self.lines_of("seen"), "the command runs")
        self.dead_letter("--id", "nightly", "--timeout", "200ms")
        self.write("go-on", "")
        _, errors = replay.communicate(timeout=support.PATIENCE)
        self.assertEqual(replay.returncode, 0, errors)
        self.assertEqual([(letter["id"], letter["reason"]) for letter in self.letters()], [("nightly", "lock_timeout")])
        self.assertEqual(self.report(self.noting())["replayed"], 1)
        self.assertEqual((self.lines_of("seen"), self.ids()), (["nightly", "nightly"], []))

    def test_that_fails_while_the_first_is_parked(self):
        self.dead_letter("--id", "nightly", "--payload", "-", stdin="first")
        self.assertEqual(self.run_cli("dlq", "park", "nightly").returncode, 0)
        self.dead_letter("--id", "nightly", "--payload", "-", stdin="second")
        self.assertEqual((self.ids(), self.ids("--parked")), (["nightly"], ["nightly"]))
        self.assertEqual(self.payload("nightly"), b"second")
        self.assertEqual(self.json_of("dlq", "unpark", "nightly")["restored"], 1)
        self.assertEqual((self.ids(), self.ids("--parked")), (["nightly", "nightly"], []))
        self.assertEqual(self.report(f"cat >> {self.path('done')}; echo >> {self.path('done')}", "--stdin",
                                     "payload")["replayed"], 2)
        self.assertEqual(self.lines_of("done"), ["first", "second"])

    def test_that_was_exported_comes_back_beside_it(self):
        self.dead_letter("--id", "nightly", "--payload", "-", stdin="first")
        kept = self.path("kept")
        self.assertEqual(self.run_cli("dlq", "export", "--output", kept).returncode, 0)
        self.assertEqual(self.run_cli("dlq", "purge", "nightly", "--yes").returncode, 0)
        self.dead_letter("--id", "nightly", "--payload", "-", stdin="second")
        self.assertEqual(self.json_of("dlq", "import", kept, "--execute")["restored"], 1)
        self.assertEqual(self.json_of("dlq", "import", kept, "--execute")["there_already"], 1)
        self.assertEqual(self.ids(), ["nightly", "nightly"])

    def test_that_was_edited_is_refused_beside_the_original_and_the_rest_comes_back(self):
        self.dead_letter("--id", "nightly", "--payload", "-", stdin="first")
        self.dead_letter("--id", "other")
        kept = self.path("kept")
        self.assertEqual(self.run_cli("dlq", "export", "--output", kept).returncode, 0)
        self.assertEqual(self.run_cli("dlq", "purge", "other", "--yes").returncode, 0)
        payload = {"encoding": "base64", "data": base64.b64encode(b"edited").decode()}
        records = [json.loads(line) for line in self.lines_of("kept")]
        changes = ({"payload": payload}, {"lockInfo": "edited"}, {"priority": "background"}, {"max_attempts": 9})
        for restored, change in zip((1, 0, 0, 0), changes):
            edited = [json.dumps(record | change if record["id"] == "nightly" else record) for record in records]
            self.write("kept", "\n".join(edited) + "\n")
            result = self.run_cli("dlq", "import", kept, "--execute", "-o", "json")
            self.assertEqual(result.returncode, 1, (change, result.stderr))
            counts = json.loads(result.stdout)
            self.assertEqual((counts["restored"], counts["refused"]), (restored, 1))
            self.assertIn("nightly", result.stderr)
        self.assertEqual((sorted(self.ids()), self.payload("nightly")), (["nightly", "other"], b"first"))


class Park(DrainTest):
    def test_ids_at_once(self):
        first, second, third = (self.dead_letter() for _ in range(3))
        result = self.run_cli("dlq", "park", first, third)
        self.assertEqual((result.returncode, result.stdout), (0, "parked 2 letters\n"), result.stderr)
        self.assertEqual((self.ids(), self.ids("--parked")), ([second], [first, third]))
        self.assertEqual(self.run_cli("dlq", "park", first).stdout, "parked 0 letters\n")

    def test_an_unknown_id_is_1_and_nothing_is_done(self):
        identity = self.dead_letter()
        result = self.run_cli("dlq", "park", identity, "unknown", "-o", "json")
        self.assertEqual((result.returncode, self.error_of(result)["code"]), (1, "unknown_letter"))
        self.assertEqual(self.ids(), [identity])

    def test_a_filter_says_what_it_would_be_unless_executed(self):
        self.dead_letter("--type", "save")
        kept = self.dead_letter("--type", "index")
        result = self.ends(0, "dlq", "park", "--type", "save")
        self.assertIn("Would park 1 letter", result.stdout)
        self.assertIn("forelock dlq park --type save", result.stdout)
        self.assertEqual(len(self.ids()), 2)
        found = self.json_of("dlq", "park", "--type", "save", "--execute")
        self.assertEqual((found["parked"], self.ids()), (1, [kept]))


    def test_what_a_replay_has_done_meanwhile_is_not_parked(self):
        identity = self.dead_letter()
        replay = self.start_replay(self.noting(f"while ! [ -e {self.path('go-on')} ]; do sleep 0.02; done"))
        support.wait_until(lambda: self.lines_of("seen"), "the command runs")
        park = self.start_cli("dlq", "park", identity, "-o", "json")
        drainer = next(view["monitor"] for view in self.json_of("ls")["monitors"] if "forelock-dlq" in view["monitor"])
        support.wait_until(lambda: self.queue(drainer), "it waits for its turn")
        self.write("go-on", "")
        replay.communicate(timeout=support.PATIENCE)
        _, errors = park.communicate(timeout=support.PATIENCE)
        self.assertEqual(park.returncode, 1, errors)
        self.assertIn("unknown_letter", errors)
        self.assertEqual((self.ids(), self.ids("--parked")), ([], []))


class Audit(DrainTest):
    def audit_lines(self, errors):
        return [json.loads(line.split("audit:", 1)[1]) for line in errors.splitlines() if "audit:" in line]

    def test_says_who_did_what_in_whose_name(self):
        first, second = self.dead_letter(), self.dead_letter()
        third = self.dead_letter("--type", "save")
        for arguments, which, result in (
                (("park", first), first, "parked 1"), (("purge", second, "--yes"), second, "purged 1"),
                (("replay", "--type", "save", "--exec", "true", "--execute"), "--type save",
                 "replayed 1, failed 0, parked 0")):
            lines = self.audit_lines(self.run_cli("dlq", *arguments, SUDO_USER="alice").stderr)
            self.assertEqual([(line["action"], line["which"], line["result"]) for line in lines],
                             [(arguments[0], which, "begun"), (arguments[0], which, result)])
            self.assertEqual(lines[0]["token"], lines[1]["token"])
            self.assertGreater(lines[0]["token"], 0)
            self.assertIn(self.outbox, lines[0]["store"])
            if os.geteuid() == 0 and login_user() is None:
                self.assertTrue(lines[0]["by"].startswith("alice (as root)@"), lines[0])
        self.assertEqual(self.ids(), [], third)

    def test_says_at_the_end_that_it_failed(self):
        identity = self.dead_letter()
        replay = self.start_replay(self.noting(f"while ! [ -e {self.path('go-on')} ]; do sleep 0.02; done"))
        support.wait_until(lambda: self.lines_of("seen"), "the command runs")
        with contextlib.closing(sqlite3.connect(self.outbox)) as other:
            other.execute("BEGIN EXCLUSIVE")
            self.write("go-on", "")
            _, errors = replay.communicate(timeout=support.PATIENCE)
        self.assertEqual(replay.returncode, 74, errors)
        self.assertEqual([line["result"] for line in self.audit_lines(errors)], ["begun", "failed"])
        self.assertEqual(self.ids(), [identity])


def login_user():
    """Nothing where the system does not know who logged in."""
    with open("/proc/self/loginuid", encoding="ascii") as file:
        user = int(file.read())
    return None if user == 0xFFFFFFFF else user


class Back(DrainTest):
    def test_unparked_letters_are_in_the_queue_again(self):
        first, second, third = (self.dead_letter() for _ in range(3))
        self.assertEqual(self.run_cli("dlq", "park", first, second).returncode, 0)
        dry = self.run_cli("dlq", "unpark", "--all")
        self.assertIn("Would put 2 letters back", dry.stdout)
        self.assertEqual(self.ids(), [third])
        self.assertEqual(self.run_cli("dlq", "unpark", second, "unknown").returncode, 1)
        self.assertEqual(self.json_of("dlq", "unpark", second)["restored"], 1)
        self.assertEqual((self.ids(), self.ids("--parked")), ([second, third], [first]))
        self.assertEqual(self.json_of("dlq", "unpark", "--all", "--execute")["restored"], 1)
        self.assertEqual(self.ids(), [first, second, third])

    def test_what_was_exported_and_purged_comes_back(self):
        made = [self.dead_letter("--payload", "-", stdin=body) for body in ("one", "two")]
        records = self.run_cli("dlq", "export").stdout
        file = self.write("letters.ndjson", records)
        self.assertEqual(self.json_of("dlq", "purge", "--all", "--yes")["purged"], 2)
        self.assertIn("Would import 2 letters", self.run_cli("dlq", "import", file).stdout)
        for wrong, reason in (("-", "read twice"), (self.path("nowhere"), "No such file or directory")):
            refused = self.ends(64, "dlq", "import", wrong)
            self.assertIn(reason, refused.stderr)
        self.assertEqual(self.json_of("dlq", "import", file, "--execute")["restored"], 2)
        self.assertEqual(self.ids(), made)
        self.assertEqual(self.run_cli("dlq", "export").stdout, records)
        again = self.json_of("dlq", "import", file, "--execute")
        self.assertEqual((again["restored"], again["there_already"]), (0, 2))

    def test_a_file_that_is_broken_imports_nothing(self):
        self.dead_letter()
        file = self.write("letters.ndjson", self.run_cli("dlq", "export").stdout + "{\n")
        self.assertEqual(self.run_cli("dlq", "purge", "--all", "--yes").returncode, 0)
        self.ends(1, "dlq", "import", file, "--execute", says="letters.ndjson:2")
        self.assertEqual(self.ids(), [])


class Purge(DrainTest):
    def test_nothing_of_it_is_left_on_the_disk(self):
        self.dead_letter("--payload", "-", stdin="x")
        self.dead_letter("--type", "MARK-OF-THIS-LETTER")
        self.assertEqual(self.run_cli("dlq", "purge", "--all", "--yes").returncode, 0)
        for name in os.listdir(self.path("state")):
            with open(os.path.join(self.path("state"), name), "rb") as file:
                self.assertNotIn(b"MARK-OF-THIS-LETTER", file.read(), name)

    def test_says_what_it_would_be_unless_meant(self):
        first, second = self.dead_letter("--type", "save"), self.dead_letter("--type", "index")
        for arguments in ((first,), ("--type", "save"), ("--all",)):
            result = self.ends(0, "dlq", "purge", *arguments)
            self.assertIn("Would purge", result.stdout)
            self.assertIn("--yes", result.stdout)
            self.assertIn("forelock dlq export", result.stdout)
        self.assertEqual(self.ids(), [first, second])

    def test_deletes_for_good(self):
        made = [self.dead_letter("--type", kind) for kind in ("save", "index", "save", "other")]
        self.assertEqual(self.run_cli("dlq", "purge", made[1], "--yes").stdout, "purged 1 letter\n")
        self.assertEqual(self.json_of("dlq", "purge", "--type", "save", "--yes")["purged"], 2)
        self.assertEqual(self.ids(), [made[3]])
        self.assertEqual(self.run_cli("dlq", "show", made[1]).returncode, 1)
        self.assertEqual(self.json_of("dlq", "purge", "--all", "--yes")["purged"], 1)
        self.assertEqual(self.json_of("dlq", "stats")["outbox"]["rows"], 0)

    def test_a_limit_that_says_nothing_is_refused(self):
        made = self.dead_letter()
        for limit in ("--until", "--since", "--type", "--reason", "--monitor", "--id"):
            result = self.run_cli("dlq", "purge", "--reason", "exit_75", limit, "", "--yes")
            self.assertEqual(result.returncode, 64, (limit, result.stdout))
            self.assertIn(limit + ": is empty", result.stderr)
        self.assertEqual(self.ids(), [made])

    def test_the_parked_ones(self):
        first, second = self.dead_letter(), self.dead_letter()
        self.run_cli("dlq", "park", first)
        self.assertEqual(self.json_of("dlq", "purge", "--parked", "--all", "--yes")["purged"], 1)
        self.assertEqual((self.ids(), self.ids("--parked")), ([second], []))

    def test_records_that_cannot_be_read_go_by_their_position(self):
        bad, good = self.dead_letter(), self.dead_letter()
        position = self.rewrite(bad, "{}")
        found = self.json_of("dlq", "purge", position, "--yes")
        self.assertEqual((found["purged"], found["unreadable"]), (0, 1))
        self.assertEqual(self.ids(), [good])
