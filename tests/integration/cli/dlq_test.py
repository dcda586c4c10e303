"""forelock dlq: list, show, stats, export, watch; what they find, and their shapes."""

import fcntl
import json
import os
import signal
import stat
import subprocess
import unittest

import dlq_support
import support

LETTER_KEYS = ["id", "type", "monitor", "priority", "reason", "message", "attempts", "max_attempts", "failed_at",
               "enqueued_at", "age_ms", "replay_count", "tries", "state", "position", "payload_bytes"]


class List(dlq_support.DlqTest):
    def test_of_nothing(self):
        self.assertEqual(self.json_of("dlq", "list"), {"letters": []})
        result = self.run_cli("dlq", "list")
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        self.assertIn("no dead letter", result.stderr)
        self.assertEqual(self.run_cli("dlq", "list", "-q").stderr, "")
        self.assertEqual(self.run_cli("dlq", "list", "-o", "ndjson").stdout, "")

    def test_is_as_in_the_contract(self):
        identity = self.dead_letter("--type", "saveContent", "-p", "background", "--payload", "-", stdin="12345",
                                    script="exit 3")
        (letter,) = self.letters()
        self.assertEqual(list(letter), LETTER_KEYS)
        expected = {"id": identity, "type": "saveContent", "monitor": "P1", "priority": "background",
                    "reason": "exit_3", "attempts": 1, "max_attempts": 1, "replay_count": 0, "tries": 0,
                    "state": "queued", "payload_bytes": 5}
        self.assertEqual({key: letter[key] for key in expected}, expected)
        self.assertTrue(0 <= letter["age_ms"] < 60_000)
        self.assertEqual(self.json_lines(self.run_cli("dlq", "list", "-o", "ndjson").stdout)[0]["id"], identity)

    def test_is_in_the_order_of_failing(self):
        made = [self.dead_letter(monitor=monitor) for monitor in ("P1", "P2", "P1")]
        self.assertEqual(self.ids(), made)
        self.assertEqual(self.ids("--limit", "2"), made[:2])
        text = self.run_cli("dlq", "list", "--limit", "2")
        self.assertEqual(len(text.stdout.splitlines()), 3)
        self.assertIn("--limit", text.stderr)

    def test_text_has_what_people_look_for(self):
        identity = self.dead_letter("--type", "saveContent")
        result = self.run_cli("dlq", "list")
        heading, row = result.stdout.splitlines()
        self.assertEqual(heading.split(), ["ID", "TYPE", "MONITOR", "REASON", "ATTEMPTS", "FAILED", "REPLAYS"])
        for word in (identity, "saveContent", "P1", "exit_75", "1 of 1", "ago"):
            self.assertIn(word, row)
        self.assertIn("1 letter in the outbox " + self.outbox, result.stderr)

    def test_filters(self):
        first = self.dead_letter("--type", "save", monitor="P1")
        second = self.dead_letter("--type", "index", monitor="P1", script="exit 3")
        third = self.dead_letter("--type", "index", monitor="P2")
        for options, found in ((("--type", "index"), [second, third]),
                               (("--monitor", "P1"), [first, second]),
                               (("--reason", "exit_75"), [first, third]),
                               (("--reason", "exit_75", "--type", "index"), [third]),
                               (("--type", "save", "--type", "index", "--monitor", "P2"), [third]),
                               (("--id", first, "--id", third), [first, third]),
                               (("--type", "nothing"), []),
                               (("--since", "1h"), [first, second, third]),
                               (("--until", "1h"), []),
                               (("--until", "2999-01-01T00:00:00Z"), [first, second, third]),
                               (("--since", "2999-01-01T00:00:00Z"), []),
                               (("--parked",), []),
                               (("--outbox",), [first, second, third])):
            self.assertEqual(self.ids(*options), found, options)
        since = self.letters("--id", second)[0]["failed_at"]
        self.assertEqual(self.ids("--since", since, "--type", "index"), [second, third])
        self.assertEqual(self.ids("--until", since), [first])

    def test_a_time_that_is_none_is_64(self):
        for text in ("yesterday", "90", "h", "-1h", "1w", "2025-13-01T00:00:00Z", "99999999999999999999d"):
            result = self.run_cli("dlq", "list", "--since=" + text)
            self.assertEqual((result.returncode, result.stdout), (64, ""), text)
            self.assertIn("2h", result.stderr)

    def test_hostile_text_does_not_reach_the_terminal(self):
        self.dead_letter("--info", "\x1b[2Jevil", monitor="\u009b31m\x07")
        (identity,) = self.ids()
        text = "".join(self.run_cli("dlq", *arguments).stdout
                       for arguments in (("list",), ("show", identity), ("stats",), ("replay",)))
        for character in "\x1b\x07\u009b":
            self.assertNotIn(character, text)

    def test_nor_in_a_form_for_programs(self):
        hostile = "P\u009b31m\u007f\u0085"
        identity = self.dead_letter(monitor=hostile)
        for command in (("list",), ("list", "-o", "ndjson"), ("list", "-o", "json"), ("show", identity, "-o", "json"),
                        ("export",), ("stats", "-o", "json"), ("show", "no\u009bone", "-o", "json")):
            result = self.run_cli("dlq", *command)
            for text in (result.stdout, result.stderr):
                self.assertEqual([c for c in text if "\u007f" <= c <= "\u009f"], [], command)
        self.assertEqual(self.record(identity)["monitor"], hostile)
        self.assertEqual(self.json_lines(self.run_cli("dlq", "export").stdout)[0]["monitor"], hostile)

    def test_a_record_that_cannot_be_read_is_shown_as_such(self):
        good, bad = self.dead_letter(), self.dead_letter()
        position = self.rewrite(bad, '{"schema":99,"id":"x"}')
        letter, unreadable = self.letters()
        self.assertEqual(letter["id"], good)
        self.assertEqual((unreadable["unreadable"], unreadable["position"]), (True, position))
        self.assertEqual(unreadable["code"], "record_too_new")
        self.assertIn("99", unreadable["message"])
        result = self.run_cli("dlq", "list")
        self.assertIn("(unreadable)", result.stdout)
        self.assertIn("1 record that cannot be read", result.stderr)
        self.assertIn(unreadable["code"], self.run_cli("dlq", "show", position).stdout)
        self.assertEqual(self.json_of("dlq", "show", position)["record"], '{"schema":99,"id":"x"}')
        self.assertEqual(self.json_of("dlq", "stats")["unreadable"], 1)


class Show(dlq_support.DlqTest):
    RETRIES = 1

    def test_everything_but_the_payload(self):
        identity = self.dead_letter("--type", "saveContent", "--info", "Bulk propagation", "--payload", "-",
                                    stdin="secret")
        result = self.run_cli("dlq", "show", identity)
        for word in (identity, "saveContent", "P1", "Bulk propagation", "exit_75", "2 of 2", "6 bytes", "queued"):
            self.assertIn(word, result.stdout)
        self.assertEqual(result.stdout.count("the command ended with 75"), 2)
        self.assertNotIn("secret", result.stdout + result.stderr)
        self.assertIn("forelock dlq replay --id " + identity, result.stderr)

    def test_json_is_the_record_and_where_it_stands(self):
        record = self.record(self.dead_letter())
        self.assertEqual((record["schema"], record["state"], record["tries"]), (1, "queued", 0))
        self.assertIn("position", record)

    def test_the_payload_as_it_is(self):
        data = bytes(range(256)) * 10
        with open(self.path("binary"), "wb") as file:
            file.write(data)
        identity = self.dead_letter("--payload", self.path("binary"))
        shown = support.subprocess.run(self.command("dlq", "show", identity, "--payload"), capture_output=True,
                                       env=support.clean_environment(), check=True)
        self.assertEqual((shown.stdout, shown.stderr), (data, b""))

    def test_an_unknown_id_is_1(self):
        for identity in ("no-such-letter", "999", "1/2"):
            result = self.run_cli("dlq", "show", identity, "-o", "json")
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            error = self.error_of(result)
            self.assertEqual(error["code"], "unknown_letter")
            self.assertIn("forelock dlq list", error["hint"])


class Ids(dlq_support.DlqTest):
    def setUp(self):
        super().setUp()
        for name in ("abcd-1", "abcd-2", "abce-1", "abce"):
            self.dead_letter("--id", name)

    def test_a_beginning_stands_for_the_only_one(self):
        identity = self.dead_letter(monitor="P2")
        short = identity[:8]
        self.assertEqual(self.record(short)["id"], identity)
        self.assertEqual(self.ids("--id", short), [identity])
        self.assertIn(identity, self.run_cli("dlq", "export", "--id", short).stdout)
        self.assertEqual(self.json_of("dlq", "replay", "--id", short, "--exec", "true")["would_try"], 1)
        for command in (("purge", short), ("purge", "--id", short), ("park", "--id", short)):
            self.assertIn(identity, self.json_of("dlq", *command)["next"])
        self.assertEqual(self.json_of("dlq", "park", identity)["parked"], 1)
        self.assertEqual(self.ids("--parked", "--id", short), [identity])

    def test_the_command_of_a_dry_run_has_the_whole_id(self):
        for command in (("purge", "--id", "abce-"), ("replay", "--id", "abce-", "--exec", "true")):
            self.assertIn(" --id abce-1 ", self.json_of("dlq", *command)["next"])
        self.json_of("dlq", "park", "abce-1")
        self.assertIn(" --id abce-1 ", self.json_of("dlq", "unpark", "--id", "abce-")["next"])

    def test_a_beginning_is_not_enough_for_a_change(self):
        self.json_of("dlq", "park", "abcd-2")
        for command in (("purge", "abce-", "--yes"), ("purge", "--id", "abce-", "--yes"), ("park", "abce-"),
                        ("park", "--id", "abce-", "--execute"), ("unpark", "abcd-"),
                        ("unpark", "--id", "abcd-", "--execute"),
                        ("replay", "--id", "abce-", "--exec", "true", "--execute")):
            result = self.run_cli("dlq", *command, "-o", "json")
            error = self.error_of(result)
            self.assertEqual((result.returncode, error["code"]), (1, "unknown_letter"), command)
            self.assertIn("abcd-2" if "unpark" in command else "abce-1", error["message"])
        self.assertEqual((self.ids(), self.ids("--parked")), (["abcd-1", "abce-1", "abce"], ["abcd-2"]))

    def test_a_purge_that_is_repeated_deletes_no_other_letter(self):
        self.assertEqual(self.json_of("dlq", "purge", "abce", "--yes")["purged"], 1)
        self.assertEqual(self.run_cli("dlq", "purge", "abce", "--yes").returncode, 1)
        self.dead_letter("--id", "1234-5")  # nor where a position was meant
        self.assertEqual(self.run_cli("dlq", "purge", "1234", "--yes").returncode, 1)
        self.assertEqual(self.ids(), ["abcd-1", "abcd-2", "abce-1", "1234-5"])

    def test_the_beginning_of_several_is_refused(self):
        for command in (("show", "abcd"), ("list", "--id", "abcd"), ("export", "--id", "abcd"), ("purge", "abcd"),
                        ("park", "--id", "abcd-"), ("unpark", "--id", "abcd"),
                        ("replay", "--id", "abcd", "--exec", "true")):
            result = self.run_cli("dlq", *command, "-o", "json")
            self.assertEqual((result.returncode, self.error_of(result)["code"]), (64, "ambiguous_id"), command)
            self.assertIn("abcd-1, abcd-2", self.error_of(result)["message"])
        self.assertEqual(len(self.ids()), 4)

    def test_a_whole_id_is_no_beginning(self):
        self.assertEqual(self.record("abce")["id"], "abce")
        self.assertEqual(self.json_of("dlq", "purge", "abce", "--yes")["purged"], 1)
        self.assertEqual(self.record("abce")["id"], "abce-1")

    def test_three_characters_are_too_few(self):
        self.assertEqual(self.run_cli("dlq", "show", "abc").returncode, 1)


class Stats(dlq_support.DlqTest):
    def test_of_nothing(self):
        found = self.json_of("dlq", "stats")
        self.assertEqual((found["letters"], found["oldest_age_ms"], found["outbox"]["rows"]), (0, None, 0))
        self.assertIn("letters     0", self.run_cli("dlq", "stats").stdout)

    def test_counts_kinds_and_the_outbox(self):
        for monitor, kind, code in (("P1", "save", 75), ("P1", "index", 3), ("P2", "index", 3)):
            self.dead_letter("--type", kind, monitor=monitor, script=f"exit {code}")
        parked = self.ids()[0]
        self.assertEqual(self.run_cli("dlq", "park", parked).returncode, 0)
        found = self.json_of("dlq", "stats")
        self.assertEqual((found["letters"], found["parked"], found["unreadable"]), (2, 1, 0))
        self.assertEqual((found["by_reason"], found["by_type"], found["by_monitor"]),
                         ({"exit_3": 2}, {"index": 2}, {"P1": 1, "P2": 1}))
        self.assertEqual((found["outbox"]["path"], found["outbox"]["rows"], found["outbox"]["parked"]),
                         (self.outbox, 3, 1))
        self.assertGreater(found["outbox"]["bytes"], 0)
        self.assertGreaterEqual(found["oldest_age_ms"], 0)
        self.assertIsNone(found["topic"])
        self.assertEqual(self.json_of("dlq", "stats", "--monitor", "P2")["letters"], 1)
        text = self.run_cli("dlq", "stats").stdout
        for word in ("letters     2", "parked      1", "outbox      3 rows", "exit_3", "index", "P2", "256 MiB"):
            self.assertIn(word, text)


    def test_may_fail_for_a_monitoring_system(self):
        limits = ("--fail-older", "1h", "--fail-more", "1")
        self.assertEqual(self.run_cli("dlq", "stats", *limits).returncode, 0)
        self.dead_letter()
        self.assertEqual(self.run_cli("dlq", "stats", *limits).returncode, 0)
        old = self.ends(1, "dlq", "stats", "--fail-older", "0s", "-q")
        self.assertRegex(old.stderr, r"^forelock: the oldest failed .* ago \(--fail-older 0s\)\n$")
        self.dead_letter()
        many = self.run_cli("dlq", "stats", *limits, "-q")
        self.assertEqual((many.returncode, many.stderr), (1, "forelock: there are 2 letters (--fail-more 1)\n"))
        result = self.run_cli("dlq", "stats", *limits, "-o", "json")
        self.assertEqual((result.returncode, json.loads(result.stdout)["letters"]), (1, 2))


class Export(dlq_support.DlqTest):
    def test_is_one_record_a_line_as_stored(self):
        made = [self.dead_letter(), self.dead_letter("--type", "other")]
        records = self.json_lines(self.run_cli("dlq", "export").stdout)
        self.assertEqual([record["id"] for record in records], made)
        self.assertEqual((records[0]["schema"], records[0]["attempts"][0]["code"]), (1, "exit_75"))
        self.assertNotIn("position", records[0])
        self.assertEqual(len(self.run_cli("dlq", "export", "--type", "other").stdout.splitlines()), 1)

    def test_into_a_file_of_ones_own(self):
        self.dead_letter("--payload", "-", stdin="secret")
        file = self.path("letters.ndjson")
        result = self.run_cli("dlq", "export", "--output", file)
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        self.assertIn("1 letter", result.stderr)
        self.assertEqual(stat.S_IMODE(os.stat(file).st_mode), 0o600)
        self.assertEqual(len(self.lines_of("letters.ndjson")), 1)
        self.assertEqual(sorted(os.listdir(self.directory.name)), ["letters.ndjson", "state"])

    def test_a_file_that_cannot_be_written_is_74(self):
        self.ends(74, "dlq", "export", "--output", "/no/such/folder/file", says="/no/such/folder/file")

    def test_a_file_that_is_there_is_not_replaced_unasked(self):
        self.dead_letter()
        file = self.write("kept", "mine")
        result = self.run_cli("dlq", "export", "--output", file)
        self.assertEqual((result.returncode, self.lines_of("kept")), (64, ["mine"]))
        self.assertIn("--force", result.stderr)
        self.assertEqual(self.run_cli("dlq", "export", "--output", file, "--force").returncode, 0)
        self.assertEqual(len(self.json_lines("\n".join(self.lines_of("kept")))), 1)
        self.assertEqual(sorted(os.listdir(self.directory.name)), ["kept", "state"])

    def test_what_is_no_ordinary_file_stays_what_it_is(self):
        identity = self.dead_letter()
        target = self.path("target")
        os.symlink(target, self.path("link"))
        self.assertEqual(self.run_cli("dlq", "export", "--output", self.path("link")).returncode, 0)
        self.assertTrue(os.path.islink(self.path("link")))
        self.assertEqual([record["id"] for record in self.json_lines("\n".join(self.lines_of("target")))], [identity])
        os.mkfifo(self.path("pipe"))
        with subprocess.Popen(["cat", self.path("pipe")], stdout=subprocess.PIPE, text=True) as reader:
            self.assertEqual(self.run_cli("dlq", "export", "--output", self.path("pipe")).returncode, 0)
            self.assertEqual(json.loads(reader.communicate(timeout=support.PATIENCE)[0])["id"], identity)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode))
        if os.geteuid() == 0:
            os.mknod(self.path("null"), 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            self.assertEqual(self.run_cli("dlq", "export", "--output", self.path("null")).returncode, 0)
            self.assertTrue(stat.S_ISCHR(os.stat(self.path("null")).st_mode))

    def test_into_the_stream_that_it_has_anyway(self):
        identity = self.dead_letter()
        for name in ("-", "/dev/stdout", "/proc/self/fd/1"):
            for options in ((), ("--force",), ("-o", "json")):
                result = self.run_cli("dlq", "export", "--output", name, *options)
                self.assertEqual((result.returncode, result.stderr), (0, ""), (name, options))
                self.assertEqual([record["id"] for record in self.json_lines(result.stdout)], [identity])
        # A file behind stdout is the caller's: it is written to, not replaced.
        file = self.write("letters.ndjson", "mine\n")
        with open(file, "a", encoding="utf-8") as stream:
            result = subprocess.run(self.command("dlq", "export", "--output", "/dev/stdout"), stdout=stream,
                                    env=support.clean_environment(), timeout=60, check=False)
        self.assertEqual((result.returncode, len(self.lines_of("letters.ndjson"))), (0, 2))
        self.assertEqual(self.lines_of("letters.ndjson")[0], "mine")

    def test_into_a_pipe_of_another_descriptor(self):
        identity = self.dead_letter()
        reading, writing = os.pipe()
        result = subprocess.run(self.command("dlq", "export", "--output", f"/dev/fd/{writing}"), pass_fds=[writing],
                                env=support.clean_environment(), timeout=60, check=False, capture_output=True)
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as stream:
            self.assertEqual([record["id"] for record in self.json_lines(stream.read())], [identity])
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_link_that_leads_nowhere_is_no_file(self):
        self.dead_letter()
        os.symlink("loop", self.path("loop"))
        os.symlink("no/such/folder/file", self.path("nowhere"))
        for name, reason in (("loop", "symbolic links"), ("nowhere", "No such file")):
            for options in ((), ("--force",)):
                result = self.ends(74, "dlq", "export", "--output", self.path(name), *options)
                self.assertIn(reason, result.stderr)
                self.assertTrue(os.path.islink(self.path(name)))

    def test_interrupted_it_leaves_nothing(self):
        file = self.path("letters.ndjson")
        # Nobody answers there, so that it goes on for long.
        child = self.start_cli("dlq", "export", "--output", file, "--set", "kafka.bootstrap.servers=127.0.0.1:1")
        descriptors = f"/proc/{child.pid}/fd"
        support.wait_until(lambda: any(os.path.realpath(os.path.join(descriptors, name)).startswith(self.directory.name)
                                       for name in os.listdir(descriptors)), "the file is open")
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=support.PATIENCE)
        self.assertEqual([name for name in os.listdir(self.directory.name) if name.startswith("letters")], [])

    def test_a_form_is_no_file(self):
        self.assertEqual(self.run_cli("dlq", "export", "--output", "json").returncode, 64)
        self.assertFalse(os.path.exists("json"))

    def test_leaves_out_and_names_what_cannot_be_read(self):
        good, bad = self.dead_letter(), self.dead_letter()
        position = self.rewrite(bad, "no JSON\nat all")
        result = self.run_cli("dlq", "export")
        self.assertEqual([record["id"] for record in self.json_lines(result.stdout)], [good])
        self.assertIn("left out: " + position, result.stderr)


class Watch(dlq_support.DlqTest):
    def test_has_a_line_for_each_change(self):
        watch = self.start_cli("dlq", "watch", "-o", "ndjson", "--interval", "100")
        self.assertEqual(json.loads(watch.stdout.readline())["letters"], 0)
        identity = self.dead_letter()
        found = json.loads(watch.stdout.readline())
        self.assertEqual((found["letters"], found["by_reason"]), (1, {"exit_75": 1}))
        self.assertEqual(self.run_cli("dlq", "park", identity).returncode, 0)
        found = json.loads(watch.stdout.readline())
        self.assertEqual((found["letters"], found["parked"]), (0, 1))
        watch.send_signal(signal.SIGINT)
        self.assertEqual(watch.wait(support.PATIENCE), -signal.SIGINT)

    def test_text_and_count(self):
        self.dead_letter()
        lines = self.run_cli("dlq", "watch", "--count", "2", "--interval", "100").stdout.splitlines()
        self.assertEqual(len(lines), 1)
        self.assertIn("1 letter  parked 0  outbox 1  exit_75 1", lines[0])

    def test_redraws_on_a_terminal(self):
        self.dead_letter("--type", "saveContent")
        process, terminal = self.at_terminal("dlq", "watch", "--count", "2", "--interval", "100")
        seen = self.read_until(terminal, b"saveContent", times=2)
        self.assertIn(b"\x1b[H", seen)
        self.assertEqual(self.code_of(process), 0)


class WithoutKafka(dlq_support.DlqTest):
    def test_what_needs_it_says_so(self):
        for arguments in (("forward",), ("init",), ("replay", "--to-topic", "T", "--execute")):
            result = self.run_cli("dlq", *arguments, "-o", "json")
            self.assertEqual((result.returncode, result.stdout), (78, ""), arguments)
            error = self.error_of(result)
            self.assertIn("kafka.bootstrap.servers", error["message"])
            self.assertIn("--set kafka.bootstrap.servers=", error["hint"])

    @unittest.skipUnless(os.geteuid() == 0, "only root can lock others out")
    def test_root_does_not_lock_the_service_out(self):
        self.dead_letter()
        for name in ("", "outbox.db", "outbox.db.lock", "outbox.db-journal"):
            os.chown(os.path.join(self.path("state"), name), 65534, 65534)
        self.run_cli("dlq", "forward", "--timeout", "200ms", "--set", "kafka.bootstrap.servers=127.0.0.1:1")
        owners = {entry.name: entry.stat().st_uid for entry in os.scandir(self.path("state"))}
        self.assertIn("outbox.db.forwarder", owners)
        self.assertEqual(set(owners.values()), {65534}, owners)

    def test_who_forwards_is_known_and_not_guessed(self):
        self.dead_letter()
        arguments = ("dlq", "forward", "--set", "kafka.bootstrap.servers=127.0.0.1:1", "--timeout", "600ms")
        alone = self.ends(69, *arguments)
        self.assertNotIn("another process", alone.stderr)
        with open(self.outbox + ".forwarder", "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            waiting = self.run_cli(*arguments)
            error = self.error_of(self.run_cli(*arguments, "-o", "json"))
        self.assertEqual(waiting.returncode, 69)
        self.assertEqual(waiting.stderr.count("another process forwards this outbox; waiting for it"), 1)
        self.assertEqual(error["message"], "1 letter not forwarded in time: another process forwards this outbox")

    def test_settings_of_kafka_are_checked_with_their_file(self):
        for line, code in (("kafka.linger.ms=5", 0), ("kafka.linger.msec=5", 78), ("kafka.acks=1", 78)):
            file = self.write("checked.properties", line + "\n")
            result = self.run_cli("config", "check", file, server=False)
            self.assertEqual(result.returncode, code, result.stderr)
            if code:
                self.assertIn("checked.properties:1", result.stderr)
        self.write("checked.properties", "kafka.sasl.pasword=hunter2\n")
        shown = self.run_cli("config", "--config", self.path("checked.properties"), server=False)
        self.assertIn("kafka.sasl.pasword", shown.stdout)
        self.assertNotIn("hunter2", shown.stdout)

    def test_looking_makes_nothing(self):
        for arguments in (("list",), ("stats",), ("export",), ("watch", "--count", "1"), ("replay",), ("park", "--all"),
                          ("purge", "--all")):
            self.assertEqual(self.run_cli("dlq", *arguments).returncode, 0, arguments)
        self.assertFalse(os.path.exists(self.path("state")))
