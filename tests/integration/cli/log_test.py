"""The log: --log-file, --log-format, --log-level, -vvv."""

import json
import os
import re
import resource
import stat
import subprocess
import unittest

import support

LINE = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (error|warning|info|debug) \d+ .+$")
SECRET = "hunter2-payload"


class LogFile(support.CliTest):
    def setUp(self):
        super().setUp()
        self.log = self.path("forelock.log")

    def lines(self):
        with open(self.log, encoding="utf-8") as file:
            return file.read().splitlines()

    def messages(self, *arguments):
        result = self.run_cli("--log-file", self.log, "--log-format", "json", *arguments)
        objects = [json.loads(line) for line in self.lines()]
        for one in objects:
            self.assertEqual(list(one), ["time", "level", "pid", "message"])
            self.assertRegex(one["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        return result, objects

    def test_without_the_option_nothing_changes(self):
        plain = self.run_cli("show", "P1")
        logged = self.run_cli("--log-file", self.log, "--log-level", "debug", "show", "P1")
        self.assertEqual((plain.returncode, plain.stdout, plain.stderr),
                         (logged.returncode, logged.stdout, logged.stderr))

    def test_text_lines_have_time_level_and_process(self):
        result = self.run_cli("--log-file", self.log, "--log-level", "debug", "run", "-m", "P1", "--", "true")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for line in self.lines():
            self.assertRegex(line, LINE)
        self.assertIn("forelock run, version", self.lines()[0])
        self.assertEqual(stat.S_IMODE(os.stat(self.log).st_mode), 0o600)

    def test_debug_explains_the_course_of_a_lock_without_secrets(self):
        payload = self.write("payload", SECRET)
        digest = self.write("digest", "user:" + SECRET + "\n")
        os.chmod(digest, 0o600)
        result, lines = self.messages("--log-level", "debug", "--set", "zookeeper.auth.digest.file=" + digest, "--set",
                                      "dlq.outbox.path=" + self.path("outbox/o.db"), "run", "--retry", "-m", "P1",
                                      "--info", SECRET, "--payload", payload, "--type", "t", "--", "true")
        self.assertEqual(result.returncode, 0, result.stderr)
        text = "\n".join(line["message"] for line in lines if line["level"] == "debug")
        position = 0
        for part in ("monitor P1, contender 1: asks for the lock", "goes first, proved by", "is granted the lock as A-",
                     "is released", "has left nothing on the server"):
            self.assertIn(part, text[position:], text)
            position = text.index(part, position)
        with open(self.log, encoding="utf-8") as file:
            self.assertNotIn(SECRET, file.read())

    def test_a_waiter_says_whom_it_waits_for(self):
        holder = self.hold("P1")
        node = self.holder("P1")["node"]
        result, lines = self.messages("--log-level", "debug", "run", "-m", "P1", "--timeout", "300ms", "--", "true")
        self.assertEqual(result.returncode, 75)
        text = "\n".join(line["message"] for line in lines)
        self.assertRegex(text, r"is in the queue as A-\d+")
        self.assertIn("waits behind " + node, text)
        self.assertIn("is refused: its time is over", text)
        self.assertEqual([line["level"] for line in lines if "lock_timeout: " in line["message"]], ["error"])
        self.assertEqual(self.let_go(holder)[0], 0)

    def test_vvv_explains_it_on_stderr(self):
        self.ends(0, "-vvv", "run", "-m", "P1", "--", "true",
                     says="forelock: debug: monitor P1, contender 1: is granted the lock")
        self.assertNotIn("debug", self.run_cli("-vv", "run", "-m", "P1", "--", "true").stderr)

    def test_the_level_bounds_what_is_logged(self):
        for level in ("error", "warning"):
            result, lines = self.messages("--log-level", level, "run", "-m", "P1", "--", "true")
            self.assertEqual((result.returncode, lines), (0, []))

    def test_a_run_says_what_it_has_got_and_for_how_long(self):
        result, lines = self.messages("run", "-m", "P1", "--", "sh", "-c", "echo $FORELOCK_TOKEN")
        token = result.stdout.strip()
        said = [line["message"] for line in lines if line["level"] == "info"]
        self.assertRegex(said[1], rf"^got P1 \(token {token}\) after \d+.* m?s$")
        self.assertRegex(said[2], r"^released P1 after \d+.* m?s$")

    def test_a_lock_that_is_lost_is_named_with_the_reason(self):
        child = self.hold("P1", "--log-file", self.log, "--log-level", "warning", script="echo ready; exec sleep 1000")
        node = self.holder("P1")["node"]
        self.assertEqual(self.run_cli("release", "P1", "--holder", node, "--reason", "x").returncode, 0)
        child.communicate(timeout=support.PATIENCE)
        self.assertRegex("\n".join(self.lines()), r"(?m) warning \d+ the lock on P1 .*\(removed\)")

    def test_it_is_renamed_at_ten_mebibytes(self):
        for _ in range(7):
            with open(self.log, "ab") as file:
                file.truncate(10 * 1024 * 1024)
            self.run_cli("--log-file", self.log, "config", server=False)
        names = sorted(name for name in os.listdir(self.directory.name) if name.startswith("forelock.log"))
        self.assertEqual(names, ["forelock.log"] + [f"forelock.log.{i}" for i in range(1, 5)])
        self.assertLess(os.path.getsize(self.log), 1024)
        self.assertEqual(stat.S_IMODE(os.stat(self.log).st_mode), 0o600)

    def test_a_file_that_cannot_be_written_is_an_error_at_the_start(self):
        os.mkfifo(self.path("fifo"))
        for path in ("/dev/full", self.path("none/log"), self.directory.name, self.path("fifo")):
            result = self.run_cli("--log-file", path, "-o", "json", "run", "-m", "P1", "--", "touch",
                                  self.path("touched"))
            self.assertEqual((result.returncode, result.stdout), (74, ""), path)
            error = self.error_of(result)
            self.assertEqual(error["code"], "output")
            self.assertIn(path, error["message"])
            self.assertIn("--log-file", error["hint"])
        self.assertFalse(os.path.exists(self.path("touched")))

    def test_options_of_the_file_need_the_file(self):
        for arguments in (("--log-format", "json"), ("--log-level", "debug"),
                          ("--log-file", self.log, "--log-format", "xml")):
            self.assertEqual(self.run_cli(*arguments, "ls", server=False).returncode, 64, arguments)

    def test_a_file_that_fills_up_later_ends_nothing(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (200, resource.RLIM_INFINITY))

        child = self.hold("P1", "--log-file", self.log, "--log-level", "debug", preexec_fn=limit)
        self.assertIsNotNone(self.holder("P1"))
        code, errors = self.let_go(child)
        self.assertEqual(code, 0, errors)
        self.assertEqual(errors.count("cannot be written"), 1, errors)
        self.assertLessEqual(os.path.getsize(self.log), 200)

    def test_a_child_does_not_inherit_it(self):
        result = self.ends(0, "--log-file", self.log, "run", "-m", "P1", "--", "sh", "-c", "ls -l /proc/$$/fd")
        self.assertNotIn("forelock.log", result.stdout)

    def test_processes_share_a_file(self):
        options = ("--log-file", self.log, "--log-format", "json", "--log-level", "debug")
        children = [subprocess.Popen(self.command(*options, "run", "-m", f"P{i}", "--", "true"),
                                     env=support.clean_environment()) for i in range(8)]
        self.assertEqual([child.wait(timeout=60) for child in children], [0] * 8)
        pids = {json.loads(line)["pid"] for line in self.lines()}
        self.assertEqual(pids, {child.pid for child in children})
