"""forelock run --retry: attempts, what becomes of the last one, payloads, signals."""

import json
import os
import signal
import subprocess
import unittest

import dlq_support
import support

RECORD_KEYS = ["schema", "id", "type", "monitor", "priority", "lockInfo", "payload", "attempts", "max_attempts",
               "enqueued_at", "failed_at", "replay_count", "client"]


class Succeeding(dlq_support.DlqTest):
    RETRIES = 3

    def test_is_silent_and_leaves_nothing(self):
        result = self.operate(script="exit 0")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assertEqual(self.letters(), [])
        self.assertEqual(self.json_of("ls"), {"monitors": []})

    def test_the_command_knows_operation_attempt_and_lock(self):
        result = self.operate("--id", "op-1", script="env")
        found = dict(line.split("=", 1) for line in result.stdout.splitlines() if line.startswith("FORELOCK_"))
        self.assertEqual((found["FORELOCK_OPERATION"], found["FORELOCK_ATTEMPT"]), ("op-1", "1"))
        self.assertEqual((found["FORELOCK_MONITOR"], found["FORELOCK_PRIORITY"]), ("P1", "foreground"))
        self.assertGreater(int(found["FORELOCK_TOKEN"]), 0)

    def test_without_a_payload_stdin_is_inherited(self):
        self.assertEqual(self.operate(script="cat", stdin="text").stdout, "text")

    def test_stdin_that_is_read_once_is_said_before_it_is_missed(self):
        result = self.operate(script="cat; [ $FORELOCK_ATTEMPT = 2 ] || exit 75", stdin="text")
        self.assertEqual((result.returncode, result.stdout), (0, "text"))
        self.assertIn("--payload -", result.stderr)
        for options, stdin in (((), None), (("--payload", "-"), "text")):
            result = self.operate(*options, script="[ $FORELOCK_ATTEMPT = 2 ] || exit 75", stdin=stdin)
            self.assertEqual(result.returncode, 0)
            self.assertNotIn("stdin", result.stderr)

    def test_only_75_is_tried_again(self):
        for code in (1, 2, 74, 76):
            seen = self.path(f"seen-{code}")
            result = self.operate(script=f"echo x >> {seen}; exit {code}")
            self.assertEqual(result.returncode, 79, result.stderr)
            self.assertEqual(self.lines_of(f"seen-{code}"), ["x"])

    def test_the_payload_comes_anew_at_each_attempt(self):
        seen = self.path("seen")
        file = self.write("payload", "line 1\nline 2\n")
        result = self.operate("--payload", file,
                              script=f"cat >> {seen}; [ $FORELOCK_ATTEMPT = 3 ] || exit 75; echo done")
        self.assertEqual((result.returncode, result.stdout), (0, "done\n"))
        self.assertEqual(self.lines_of("seen"), ["line 1", "line 2"] * 3)
        self.assertIn("attempt 1 of 4: exit_75", result.stderr)
        self.assertIn("attempt 2 of 4: exit_75", result.stderr)
        self.assertEqual(self.letters(), [])

    def test_a_payload_may_come_from_stdin_and_be_large(self):
        large = "x" * (1024 * 1024)
        result = self.operate("--payload", "-", script="wc -c", stdin=large)
        self.assertEqual((result.returncode, result.stdout.strip()), (0, str(len(large))), result.stderr)

    def test_a_lock_that_is_lost_is_one_attempt(self):
        script = "[ $FORELOCK_ATTEMPT = 2 ] && exit 0; echo ready; while :; do sleep 0.05; done"
        child = self.hold("P1", "--retry", script=script)
        self.ends(0, "release", "P1", "--holder", self.holder("P1")["node"], "--reason", "test")
        _, errors = child.communicate(timeout=support.PATIENCE)
        self.assertEqual(child.returncode, 0, errors)
        self.assertIn("attempt 1 of 4: lock_unhealthy", errors)


class Failing(dlq_support.DlqTest):
    RETRIES = 2

    def test_out_of_retries_it_is_a_dead_letter(self):
        file = self.write("payload", "body \0 ä")
        result = self.operate("-p", "background", "--type", "saveContent", "--info", "Bulk", "--payload", file,
                              script="echo $FORELOCK_ATTEMPT; exit 75")
        self.assertEqual((result.returncode, result.stdout), (79, "1\n2\n3\n"))
        (letter,) = self.letters()
        self.assertIn("out of retries after 3 attempts", result.stderr)
        self.assertIn("forelock dlq show " + letter["id"], result.stderr)
        self.assertNotIn("body", result.stderr)
        record = self.record(letter["id"])
        self.assertEqual([key for key in record if key in RECORD_KEYS], RECORD_KEYS)
        self.assertEqual((record["type"], record["monitor"], record["priority"], record["lockInfo"]),
                         ("saveContent", "P1", "background", "Bulk"))
        self.assertEqual([(attempt["n"], attempt["code"]) for attempt in record["attempts"]],
                         [(1, "exit_75"), (2, "exit_75"), (3, "exit_75")])
        self.assertEqual(record["max_attempts"], 3)
        self.assertEqual(self.payload(letter["id"]), "body \0 ä".encode())

    def test_a_long_description_is_shortened_and_said(self):
        result = self.operate("--info", "ä" * 3000, script="exit 75")
        self.assertEqual(result.returncode, 79, result.stderr)
        self.assertIn("--info has 6000 bytes", result.stderr)
        (letter,) = self.letters()
        self.assertEqual(self.record(letter["id"])["lockInfo"], "ä" * 512)

    def test_the_trace_goes_with_it(self):
        trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        for given, kept in ((trace, trace), ("nonsense", None)):
            result = self.run_cli("run", "--retry", "-m", "P1", "-o", "json", "--", "false", TRACEPARENT=given)
            identity = self.error_of(result)["dead_letter"]["id"]
            self.assertEqual(self.record(identity).get("traceparent"), kept)
        self.ends(0, "dlq", "replay", "--execute", "--exec",
                     f"echo \"${{TRACEPARENT-none}}\" >> {self.path('traces')}")
        self.assertEqual(self.lines_of("traces"), [trace, "none"])

    def test_as_json_it_is_one_object(self):
        result = self.operate("-o", "json", "--id", "op-7")
        self.assertEqual(result.returncode, 79)
        error = self.error_of(result)
        self.assertEqual(list(error), ["code", "message", "hint", "monitor", "retryable", "dead_letter"])
        self.assertEqual((error["code"], error["monitor"], error["retryable"]), ("dead_lettered", "P1", False))
        self.assertEqual(error["hint"], "forelock dlq show op-7")
        self.assertEqual((error["dead_letter"]["id"], error["dead_letter"]["reason"]), ("op-7", "exit_75"))
        self.assertEqual([attempt["n"] for attempt in error["dead_letter"]["attempts"]], [1, 2, 3])

    def test_what_is_not_worth_a_retry_goes_at_once(self):
        for script, reason in (("exit 1", "exit_1"), ("exit 3", "exit_3"),
                               ("exit 137", "exit_137"), ("kill -9 $$", "signal_9")):
            result = self.operate("-o", "json", script=f"echo x; {script}")
            self.assertEqual((result.returncode, result.stdout), (79, "x\n"))
            error = self.error_of(result)
            self.assertEqual((error["dead_letter"]["reason"], len(error["dead_letter"]["attempts"])), (reason, 1))
            self.assertIn("not worth another attempt", error["message"])

    def test_the_last_attempt_may_be_one_that_is_not_worth_another(self):
        result = self.operate(script="test $FORELOCK_ATTEMPT = 3 && exit 1; exit 75")
        self.assertEqual(result.returncode, 79)
        self.assertIn("not worth another attempt: exit_1", result.stderr)

    def test_a_command_that_cannot_be_executed_is_a_dead_letter_too(self):
        for command, reason in (("/no/such/command", "command_not_found"), ("/", "cannot_execute")):
            result = self.ends(79, "run", "--retry", "-m", "P1", "-o", "json", "--", command)
            self.assertEqual(self.error_of(result)["dead_letter"]["reason"], reason)

    def test_a_lock_that_is_never_free(self):
        self.hold("P1", "--info", "Save Content")
        result = self.operate("--timeout", "150ms", "-o", "json")
        self.assertEqual(result.returncode, 79)
        attempts = self.error_of(result)["dead_letter"]["attempts"]
        self.assertEqual([attempt["code"] for attempt in attempts], ["lock_timeout"] * 3)
        for attempt in attempts:
            self.assertGreaterEqual(attempt["waited_ms"], 150)
            self.assertIn("Save Content", attempt["message"])
        self.assertEqual(self.queue("P1"), [])

    def test_the_holders_words_do_not_steer_the_terminal(self):
        self.hold("P1", "--info", "\x1b[2Jevil")
        result = self.operate("--timeout", "50ms")
        self.assertEqual(result.returncode, 79)
        self.assertIn("evil", result.stderr)
        self.assertNotIn("\x1b", result.stderr)

    def test_a_server_that_is_not_there(self):
        result = self.ends(79, "run", "--retry", "-m", "P1", "-o", "json", "--zookeeper", "127.0.0.1:1", "--set",
                               "zookeeper.connection.retry=0", "--", "true", server=False)
        self.assertEqual(self.error_of(result)["dead_letter"]["reason"], "connection_loss")

    def test_the_type_is_the_commands_name(self):
        self.ends(79, "run", "--retry", "-m", "P1", "--", "/bin/false")
        self.assertEqual([letter["type"] for letter in self.letters()], ["false"])


class NotStored(dlq_support.DlqTest):
    """The operation has failed, and the queue does not take it: the caller must not overlook that."""

    def assert_not_stored(self, result, code):
        self.assertEqual(result.returncode, 73, result.stderr)
        error = self.error_of(result)
        self.assertEqual(error["code"], code)
        self.assertIn("IS IN NO QUEUE", error["message"])
        self.assertIsNotNone(error["hint"])
        self.assertEqual(error["operation"]["attempts"][0]["code"], "exit_75")

    def test_a_full_outbox(self):
        file = self.write("payload", "x" * 900_000)
        options = ("--set", "dlq.outbox.max.bytes=1MiB", "-o", "json", "--payload", file)
        self.assert_not_stored(self.operate(*options), "outbox_full")
        self.assertEqual(self.letters(), [])

    def test_an_id_that_is_used_again_is_another_letter(self):
        for body in ("one", "two", "two"):
            self.dead_letter("--id", "op-1", "--payload", "-", stdin=body)
        self.assertEqual(self.ids(), ["op-1", "op-1", "op-1"])
        self.assertEqual(self.payload("op-1"), b"one")

    def test_an_outbox_that_cannot_be_opened_is_said_before_anything_is_tried(self):
        self.outbox = self.path(".")
        result = self.operate("-o", "json", script="echo ran")
        self.assertEqual((result.returncode, result.stdout), (74, ""))
        self.assertEqual(self.error_of(result)["code"], "outbox_unavailable")


class Signals(dlq_support.DlqTest):
    RETRIES = 1000

    def assert_withdrawn(self, child, code):
        child.wait(support.PATIENCE)  # not communicate(): the end of its stdin would end the command, too
        self.assertEqual(child.returncode, code, child.stderr.read())
        self.assertEqual(self.letters(), [])
        self.assertEqual(self.queue("P1"), [])

    def test_while_waiting(self):
        self.hold("P1")
        for number in (signal.SIGINT, signal.SIGTERM):
            child = self.start_cli("run", "--retry", "-m", "P1", "--timeout", "5m", "--", "echo", "never")
            support.wait_until(lambda: self.queue("P1"), "a waiter")
            child.send_signal(number)
            self.assert_withdrawn(child, 128 + number)

    def test_between_attempts(self):
        child = self.start_cli("run", "--retry", "-m", "P1", "--", "sh", "-c",
                               f"echo x >> {self.path('attempts')}; exit 75")
        support.wait_until(lambda: len(self.lines_of("attempts")) >= 3, "some attempts")
        child.send_signal(signal.SIGTERM)
        self.assert_withdrawn(child, 143)

    def test_a_command_that_dies_of_it_was_not_the_operations_failure(self):
        child = self.hold("P1", "--retry")
        child.send_signal(signal.SIGTERM)
        self.assert_withdrawn(child, 143)

    def test_a_command_that_wants_to_be_tried_again_is_not(self):
        child = self.hold("P1", "--retry", script="trap 'exit 75' INT; echo ready; while :; do sleep 0.05; done")
        child.send_signal(signal.SIGINT)
        self.assert_withdrawn(child, 130)

    def test_a_command_that_succeeds_all_the_same_has_succeeded(self):
        child = self.hold("P1", "--retry", script="trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done")
        child.send_signal(signal.SIGTERM)
        self.assertEqual(child.wait(support.PATIENCE), 0)

    def test_nor_is_one_that_says_that_it_was_interrupted(self):
        child = self.hold("P1", "--retry", script="trap 'exit 3' TERM; echo ready; while :; do sleep 0.05; done")
        child.send_signal(signal.SIGTERM)
        _, errors = child.communicate(timeout=support.PATIENCE)
        self.assertEqual((child.returncode, self.letters()), (143, []))
        self.assertIn("exit_3", errors)
        self.assertIn("its caller owns it", errors)

    def test_what_is_no_wish_to_end_goes_to_the_command_alone(self):
        script = "trap 'echo got it; exit 75' USR1; [ $FORELOCK_ATTEMPT = 2 ] && exit 0; echo ready; " \
                 "while :; do sleep 0.05; done"
        child = self.hold("P1", "--retry", script=script)
        child.send_signal(signal.SIGUSR1)
        output, errors = child.communicate(timeout=support.PATIENCE)
        self.assertEqual((child.returncode, output), (0, "got it\n"), errors)


class Terminal(dlq_support.DlqTest):
    """At a keyboard, the interrupt key reaches the command alone."""

    def test_the_interrupt_key_withdraws(self):
        process, terminal = self.at_terminal("run", "--retry", "-m", "P1", "--", "sh", "-c",
                                             "echo ready; while :; do sleep 0.05; done")
        self.read_until(terminal, b"ready")
        os.write(terminal, b"\x03")
        self.assertEqual(self.code_of(process), 130)
        self.assertEqual(self.letters(), [])


class Usage(dlq_support.DlqTest):
    def usage_error(self, *arguments):
        result = self.run_cli("run", "-m", "P1", *arguments, "--", "echo", "ran")
        self.assertEqual((result.returncode, result.stdout), (64, ""), (arguments, result.stderr))
        return result.stderr

    def test_what_needs_retry(self):
        for option in ("--type", "--payload", "--id"):
            self.assertIn(option + " needs --retry", self.usage_error(option, "x"))

    def test_what_does_not_go_with_retry(self):
        self.usage_error("--retry", "-E", "9")
        self.usage_error("--retry", "--timeout", "0")

    def test_payloads_that_cannot_be(self):
        self.assertIn("/no/such/file", self.usage_error("--retry", "--payload", "/no/such/file"))
        self.assertIn("larger than", self.usage_error("--retry", "--payload", self.write("large", "x" * 1048577)))
        self.assertIn("Is a directory", self.usage_error("--retry", "--payload", self.directory.name))

    def test_names_that_cannot_be(self):
        self.usage_error("--retry", "--id", "x" * 129)
        self.usage_error("--retry", "--type", "x" * 129)
        self.assertFalse(os.path.exists(self.path("ran")))
        error = json.loads(self.usage_error("-o", "json", "--retry", "--id", "a b\n"))["error"]
        self.assertFalse(error["retryable"])


class StoppedBeforeTheCommand(dlq_support.DlqTest):
    """The process is stopped between the grant and the making of its command, for longer than its session."""

    RETRIES = 3

    def stop_before_the_command(self, *arguments):
        """It has ended then; what it said."""
        shim = {"LD_PRELOAD": os.environ["FORELOCK_FAULT_SHIM"], "FAULT_SHIM_ACTION": "stop_before",
                "FAULT_SHIM_PATH": "/memfd:forelock-input", "FAULT_SHIM_PROGRAM": "forelock",
                "ASAN_OPTIONS": "verify_asan_link_order=0"}
        child = subprocess.Popen(self.command("--set", "zookeeper.session.timeout=1000", *arguments),
                                 env=support.clean_environment(**shim), stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.children.append(child)
        support.wait_until(lambda: support.state_of(child.pid) == "T", "it is stopped")
        self.assertIsNotNone(self.holder("P1"))
        support.wait_until(lambda: self.holder("P1") is None, "its session ends", 60)
        child.send_signal(signal.SIGCONT)
        _, errors = child.communicate(timeout=support.PATIENCE)
        return child.returncode, errors

    def test_an_attempt_is_not_begun(self):
        code, errors = self.stop_before_the_command(
            "run", "--retry", "-m", "P1", "--payload", self.write("payload", "x"), "--", "sh", "-c",
            f"echo $FORELOCK_ATTEMPT >> {self.path('begun')}")
        self.assertEqual((code, self.lines_of("begun")), (0, ["2"]), errors)
        self.assertRegex(errors, "attempt 1 of 4: lock_unhealthy: .*the command was not begun; trying again")

    def test_a_replay_does_not_begin(self):
        identity = self.dead_letter("--set", "elastic.request.retry.count=0")
        code, errors = self.stop_before_the_command("dlq", "replay", "--execute", "--exec",
                                                    f"echo x >> {self.path('begun')}")
        self.assertEqual((code, self.lines_of("begun"), self.ids()), (76, [], [identity]), errors)
