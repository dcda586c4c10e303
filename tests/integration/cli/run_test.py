"""forelock run: exit codes, environment, signals, order, and what happens when the lock is lost."""

import json
import os
import signal
import subprocess
import threading
import time
import unittest

import support


class ExitCodes(support.CliTest):
    def test_gives_the_childs_exact_code_and_output(self):
        result = self.run_cli("run", "-m", "P1", "--", "sh", "-c", "echo out; echo err >&2; exit 37")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (37, "out\n", "err\n"))

    def test_succeeds_silently(self):
        result = self.run_cli("run", "-m", "P1", "--", "true")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_leaves_nothing_behind(self):
        self.run_cli("run", "-m", "P1", "--", "true")
        self.assertEqual(self.json_of("ls"), {"monitors": []})

    def test_gives_128_plus_the_signal_that_ended_the_child(self):
        self.assertEqual(self.run_cli("run", "-m", "P1", "--", "sh", "-c", "kill -9 $$").returncode, 137)

    def test_a_command_that_is_missing_is_127(self):
        self.ends(127, "run", "-m", "P1", "--", "/no/such/command", says="/no/such/command")

    def test_a_line_for_a_shell_needs_one(self):
        self.ends(127, "run", "-m", "P1", "--", "echo a | cat", says="sh -c 'echo a | cat'")

    def test_a_command_that_cannot_be_executed_is_126(self):
        self.assertEqual(self.run_cli("run", "-m", "P1", "--", self.write("data", "x")).returncode, 126)
        self.assertEqual(self.run_cli("run", "-m", "P1", "--", "/").returncode, 126)

    def test_not_in_time_is_75_and_says_who_holds_it(self):
        holder = self.hold("P1", "--info", "Save Content")
        result = self.run_cli("run", "-m", "P1", "--timeout", "300ms", "--", "echo", "never")
        self.assertEqual((result.returncode, result.stdout), (75, ""))
        self.assertIn("Save Content", result.stderr)
        self.assertIn("forelock show P1", result.stderr)
        self.assertEqual(self.queue("P1"), [])
        self.assertEqual(self.let_go(holder)[0], 0)

    def test_not_in_time_gives_a_command_to_copy_whatever_the_monitor(self):
        for monitor, quoted in (("x$(id); rm y", "'x$(id); rm y'"), ("it's", "'it'\\''s'"), ("-x", "-- -x")):
            self.hold(monitor)
            for options in (["--timeout", "50ms"], ["--timeout", "0"], ["-m", "b", "--timeout", "2s"]):
                result = self.ends(75, "run", f"--monitor={monitor}", *options, "-o", "json", "--", "true")
                self.assertEqual(self.error_of(result)["hint"], "forelock show " + quoted, options)

    def test_not_in_time_takes_another_code_from_E(self):
        self.hold("P1")
        self.assertEqual(self.run_cli("run", "-m", "P1", "-E", "9", "--timeout", "100", "--", "true").returncode, 9)
        self.assertEqual(self.run_cli("run", "-m", "P1", "-E", "0", "--timeout", "0", "--", "true").returncode, 0)

    def test_without_a_timeout_the_configured_one_holds(self):
        self.hold("P1")
        begin = time.monotonic()
        self.ends(75, "--set", "zookeeper.backgound.task.timeout=400", "run", "-p", "background", "-m", "P1",
                      "--", "true")
        self.assertGreaterEqual(time.monotonic() - begin, 0.4)

    def test_a_timeout_of_nothing_asks_once(self):
        self.assertEqual(self.run_cli("run", "-m", "P1", "--timeout", "0", "--", "true").returncode, 0)
        self.hold("P1")
        result = self.ends(75, "run", "-m", "P1", "--timeout", "0", "-o", "json", "--", "true")
        self.assertEqual(self.error_of(result)["code"], "lock_unavailable")

    def test_nor_does_a_configured_one_ask_more_often(self):
        nothing = ("--set", "zookeeper.foregound.task.timeout=0")
        self.assertEqual(self.run_cli("run", *nothing, "-m", "P1", "--", "true").returncode, 0)
        self.assertEqual(self.run_cli("run", *nothing, "-m", "P1", "--retry", "--", "true").returncode, 64)
        self.hold("P1")
        result = self.run_cli("run", *nothing, "-m", "P1", "-o", "json", "--", "true")
        self.assertEqual((result.returncode, self.error_of(result)["code"]), (75, "lock_unavailable"))
        little = ("--set", "zookeeper.foregound.task.timeout=1")
        self.ends(75, "run", *little, "-m", "P1", "--", "true", says="within 1 ms")

    def test_not_in_time_is_one_json_object_on_stderr(self):
        self.hold("P1")
        result = self.ends(75, "-o", "json", "run", "-m", "P1", "--timeout", "100", "--", "true")
        error = self.error_of(result)
        self.assertEqual((error["code"], error["monitor"], error["retryable"]), ("lock_timeout", "P1", True))
        self.assertEqual(list(error), ["code", "message", "hint", "monitor", "retryable"])

    def test_no_server_is_69(self):
        result = self.run_cli("run", "-m", "P1", "--zookeeper", "127.0.0.1:1", "-o", "json", "--", "true", server=False)
        self.assertEqual(result.returncode, 69)
        self.assertEqual(self.error_of(result)["code"], "connection_loss")


class Environment(support.CliTest):
    NAMES = ["FORELOCK_MONITOR", "FORELOCK_TOKEN", "FORELOCK_SESSION", "FORELOCK_PRIORITY", "FORELOCK_OWNER",
             "FORELOCK_EXPIRES_IN_MS", "FORELOCK_HELD"]

    def child_environment(self, *options, **environment):
        result = self.ends(0, "run", "-m", "a/b ä", *options, "--", "env", "-0", **environment)
        return dict(entry.split("=", 1) for entry in result.stdout.split("\0") if entry)

    def test_the_child_knows_its_lock(self):
        found = self.child_environment("-p", "background")
        self.assertEqual(found["FORELOCK_MONITOR"], "a/b ä")
        self.assertEqual(found["FORELOCK_PRIORITY"], "background")
        self.assertGreater(int(found["FORELOCK_TOKEN"]), 0)
        self.assertEqual(found["FORELOCK_HELD"], "a%2Fb%20%C3%A4=" + found["FORELOCK_TOKEN"])
        self.assertRegex(found["FORELOCK_SESSION"], "^0x[0-9a-f]+$")
        self.assertRegex(found["FORELOCK_OWNER"], "^[^/]+/[0-9]+/[^/]+$")
        self.assertTrue(0 < int(found["FORELOCK_EXPIRES_IN_MS"]) <= 5000)

    def test_inherited_values_are_overridden(self):
        found = self.child_environment(**{name: "stale" for name in self.NAMES})
        for name in self.NAMES:
            self.assertNotEqual(found[name], "stale", name)

    def test_tokens_rise(self):
        tokens = [int(self.child_environment()["FORELOCK_TOKEN"]) for _ in range(3)]
        self.assertEqual(tokens, sorted(set(tokens)))

    def test_the_child_gets_stdin_and_our_descriptors_but_no_sockets(self):
        result = self.run_cli("run", "-m", "P1", "--", "sh", "-c", "cat; ls /proc/self/fd | wc -l", stdin="text\n")
        self.assertEqual(result.stdout.split(), ["text", "4"])  # 0, 1, 2 and the directory that ls reads

    def test_the_child_has_a_process_group_of_its_own(self):
        result = self.run_cli("run", "-m", "P1", "--", "sh", "-c", "echo $$; ps -o pgid= -p $$")
        self.assertEqual(*result.stdout.split())

    def test_options_of_the_command_stay_its_own(self):
        result = self.run_cli("run", "-m", "P1", "--", "printf", "%s|", "-o", "json", "--", "--help", "-m", "ls", "")
        self.assertEqual(result.stdout, "-o|json|--|--help|-m|ls||")


class Signals(support.CliTest):
    def test_a_signal_is_forwarded_to_the_whole_group(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
            name = number.name[3:]
            child = self.hold("P1",
                              script=f"trap 'echo got {name}; exit 5' {name}; echo ready; while :; do sleep 0.05; done")
            child.send_signal(number)
            output, _ = child.communicate(timeout=support.PATIENCE)
            self.assertEqual((child.returncode, output), (5, f"got {name}\n"))

    def test_a_child_that_dies_of_it_gives_128_plus_n_and_frees_the_lock(self):
        child = self.hold("P1")
        child.send_signal(signal.SIGTERM)
        self.assertEqual(child.wait(support.PATIENCE), 143)
        self.assertIsNone(self.holder("P1"))

    def test_a_signal_while_waiting_removes_the_node(self):
        holder = self.hold("P1")
        for number in (signal.SIGINT, signal.SIGTERM):
            waiter = self.start_cli("run", "-m", "P1", "--timeout", "5m", "--", "echo", "never")
            support.wait_until(lambda: self.queue("P1"), "a waiter")
            waiter.send_signal(number)
            output, errors = waiter.communicate(timeout=support.PATIENCE)
            self.assertEqual((waiter.returncode, output, errors), (128 + number, "", ""))
            self.assertEqual(self.queue("P1"), [])
        self.assertEqual(self.let_go(holder)[0], 0)

    def test_a_signal_while_there_is_no_server_ends_it(self):
        child = subprocess.Popen([support.BINARY, "run", "-m", "P1", "--timeout", "5m", "--zookeeper", "127.0.0.1:1",
                                  "--set", "zookeeper.connection.retry=100000", "--",
                                  "true"], env=support.clean_environment())
        self.children.append(child)
        # Blocked signals show that it listens to them.
        support.wait_until(lambda: self.blocks_signals(child.pid), "the program is up")
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(support.PATIENCE), 130)

    @staticmethod
    def blocks_signals(process):
        with open(f"/proc/{process}/status", encoding="ascii") as file:
            for line in file:
                if line.startswith("SigBlk:"):
                    return int(line.split()[1], 16) & (1 << (signal.SIGINT - 1))
        return False

    def test_a_child_whose_guardian_is_killed_is_told_to_end(self):
        marker = self.path("ended")
        child = self.hold("P1", script=f"trap 'echo x > {marker}; exit' TERM; echo ready; while :; do sleep 0.05; done")
        child.kill()
        support.wait_until(lambda: os.path.exists(marker), "the child ends")


# Says so when it is told to end.
TELLS = "trap 'echo told; exit 0' TERM; echo ready; while :; do sleep 0.05; done"


class LostLock(support.CliTest):
    def release(self, monitor="P1"):
        node = self.holder(monitor)["node"]
        self.ends(0, "release", monitor, "--holder", node, "--reason", "test")

    def test_the_child_gets_term_and_the_code_is_76(self):
        child = self.hold("P1", script=TELLS)
        self.release()
        output, errors = child.communicate(timeout=support.PATIENCE)
        self.assertEqual((child.returncode, output), (76, "told\n"))
        self.assertIn("P1", errors)

    def test_who_took_it_away_and_why_is_said(self):
        for with_token in (False, True):
            child = self.hold("P1", script=TELLS)
            view = self.holder("P1")
            holder = view["node"] + (f"@{view['token']}" if with_token else "")
            self.assertEqual(self.run_cli("release", "P1", "--holder", holder, "--reason", "it hangs").returncode, 0)
            _, errors = child.communicate(timeout=support.PATIENCE)
            self.assertRegex(errors, "released by force .* by .*: it hangs")

    def test_who_took_it_from_an_earlier_holder_is_not_blamed(self):
        for with_token in (False, True):
            first = self.hold("P1", script=TELLS)
            view = self.holder("P1")
            holder = view["node"] + (f"@{view['token']}" if with_token else "")
            self.assertEqual(self.run_cli("release", "P1", "--holder", holder, "--reason", "it hangs").returncode, 0)
            self.assertEqual(first.wait(support.PATIENCE), 76)
            child = self.hold("P1", "--set", "zookeeper.session.timeout=1000", script=TELLS)
            child.send_signal(signal.SIGSTOP)
            support.wait_until(lambda: self.holder("P1") is None, "its session ends", 60)
            child.send_signal(signal.SIGCONT)
            _, errors = child.communicate(timeout=support.PATIENCE)
            self.assertEqual(child.returncode, 76)
            self.assertIn("the lock on P1 was lost", errors)
            self.assertNotIn("it hangs", errors)

    def test_a_child_that_does_not_listen_is_killed(self):
        child = self.hold("P1", "--kill-after", "200ms",
                          script="trap '' TERM; echo ready; while :; do sleep 0.05; done")
        self.release()
        self.assertEqual(child.wait(support.PATIENCE), 76)

    def test_the_whole_group_ends(self):
        # The grandchild keeps stdout open: communicate() ends only when it is gone too.
        child = self.hold("P1", "--kill-after", "200ms", script="(trap '' TERM; sleep 1000) & echo ready; wait")
        self.release()
        child.communicate(timeout=support.PATIENCE)
        self.assertEqual(child.returncode, 76)

    def test_warn_lets_it_go_on_and_the_code_is_76_all_the_same(self):
        child = self.hold("P1", "--on-lost", "warn", script="echo ready; read line; echo went on")
        self.release()
        support.wait_until(lambda: self.holder("P1") is None, "the lock is free")
        output, _ = child.communicate("\n", timeout=support.PATIENCE)
        self.assertEqual((child.returncode, output), (76, "went on\n"))

    def test_no_control_character_of_a_monitor_reaches_the_terminal(self):
        monitor = "P\x1b[31m\x9b32m"
        child = self.hold(monitor, script=TELLS)
        self.release(monitor)
        _, errors = child.communicate(timeout=support.PATIENCE)
        self.assertEqual(child.returncode, 76)
        self.assertIn("the command gets SIGTERM", errors)
        self.assertNotRegex(errors, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")

    def test_as_json(self):
        child = self.hold("P1", "-o", "json",
                          script="exec 2>&-; trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done")
        self.release()
        _, errors = child.communicate(timeout=support.PATIENCE)
        self.assertEqual(json.loads(errors)["error"]["code"], "lock_unhealthy")  # one object, and nothing else


class SilentServer(support.OwnServerTest):
    """The lock ends without anybody saying so: the server stops answering."""

    def hold_and_silence(self, *options, script):
        child = self.hold("P1", "--set", "zookeeper.session.timeout=3000", *options, script=script)
        return child, self.silence_server()

    def test_the_child_is_told_to_end_and_gone_before_the_session_could_end(self):
        child, begin = self.hold_and_silence(script="trap '' TERM; echo ready; while :; do sleep 0.05; done")
        _, errors = child.communicate(timeout=support.PATIENCE)
        self.assertEqual(child.returncode, 76, errors)
        self.assertIn("about to be lost", errors)
        # The session's end is counted from the last request that was answered, which was before the silence.
        self.assertGreater(time.monotonic() - begin, 0.5)

    def test_term_comes_first(self):
        child, _ = self.hold_and_silence(script=TELLS)
        output, _ = child.communicate(timeout=support.PATIENCE)
        self.assertEqual((child.returncode, output), (76, "told\n"))

    def test_a_short_silence_does_no_harm(self):
        child, _ = self.hold_and_silence(script="echo ready; read line; echo went on")
        silence = threading.Event()
        silence.wait(0.5)  # the silence itself: nothing happens that could be waited for
        self.wake_server()
        output, errors = child.communicate("\n", timeout=support.PATIENCE)
        self.assertEqual((child.returncode, output, errors), (0, "went on\n", ""))


class Terminal(support.CliTest):
    """The program at a keyboard."""

    def test_the_child_reads_the_keyboard(self):
        process, terminal = self.at_terminal("run", "-m", "P1", "--", "sh", "-c",
                                             "echo ready; read x; echo got $x; exit 4")
        self.read_until(terminal, b"ready")
        os.write(terminal, b"hello\n")
        self.read_until(terminal, b"got hello")
        self.assertEqual(self.code_of(process), 4)

    def test_control_c_reaches_the_child(self):
        # A trap, because a shell that is just starting another program may miss the signal.
        script = "trap 'exit 9' INT; echo ready; while :; do sleep 0.05; done"
        process, terminal = self.at_terminal("run", "-m", "P1", "--", "sh", "-c", script)
        self.read_until(terminal, b"ready")
        os.write(terminal, b"\x03")
        self.assertEqual(self.code_of(process), 9)

    def test_control_c_ends_the_waiting(self):
        self.hold("P1")
        process, terminal = self.at_terminal("run", "-m", "P1", "--timeout", "5m", "--", "true")
        support.wait_until(lambda: self.queue("P1"), "a waiter")
        os.write(terminal, b"\x03")
        self.assertEqual(self.code_of(process), 130)
        self.assertEqual(self.queue("P1"), [])

    def test_the_child_cannot_be_suspended(self):
        process, terminal = self.at_terminal("run", "-m", "P1", "--", "sh", "-c", "echo ready; read x; exit 6")
        self.read_until(terminal, b"ready")
        os.write(terminal, b"\x1a")
        self.read_until(terminal, b"cannot be suspended")
        os.write(terminal, b"\n")
        self.assertEqual(self.code_of(process), 6)

    def test_watch_redraws(self):
        self.hold("P1", "--info", "Save it")
        process, terminal = self.at_terminal("watch", "--count", "2", "--interval", "100")
        seen = self.read_until(terminal, b"Save it")
        seen += self.read_until(terminal, b"Save it")
        self.assertIn(b"\x1b[H", seen)
        self.assertEqual(self.code_of(process), 0)


class Order(support.CliTest):
    def test_foreground_goes_before_background_that_came_first(self):
        holder = self.hold("P1")
        order = self.path("order")

        def waiter(name, priority, already):
            child = self.start_cli("run", "-m", "P1", "-p", priority, "--info", name, "--timeout", "1m", "--", "sh",
                                   "-c", f"echo {name} >> {order}")
            support.wait_until(lambda: len(self.queue("P1")) == already + 1, name + " waits")
            return child

        waiters = [waiter("b1", "background", 0), waiter("b2", "background", 1), waiter("f1", "foreground", 2),
                   waiter("f2", "foreground", 3)]
        queue = self.queue("P1")
        self.assertEqual([entry["owner"]["lockInfo"] for entry in queue], ["f1", "f2", "b1", "b2"])
        self.assertEqual([entry["position"] for entry in queue], [1, 2, 3, 4])
        self.assertEqual([entry["behind"] for entry in queue], ["privateLock"] + [entry["node"] for entry in queue[:3]])
        self.assertEqual(self.let_go(holder)[0], 0)
        for child in waiters:
            self.assertEqual(child.wait(support.PATIENCE), 0)
        with open(order, encoding="ascii") as file:
            self.assertEqual(file.read().split(), ["f1", "f2", "b1", "b2"])

    def test_nobody_works_at_the_same_time(self):
        counter = self.write("counter", "0")
        script = f"n=$(cat {counter}); sleep 0.02; echo $((n + 1)) > {counter}"
        children = [self.start_cli("run", "-m", "P1", "--timeout", "1m", "--", "sh", "-c", script) for _ in range(8)]
        for child in children:
            self.assertEqual(child.wait(60), 0)
        with open(counter, encoding="ascii") as file:
            self.assertEqual(file.read().strip(), "8")
