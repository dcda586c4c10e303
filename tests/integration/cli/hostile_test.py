"""forelock run where everything else fails: streams that block, files that are never written, silence, lack.

Each case says when the command must have ended, its bound; it may take half a second more. On a machine that is busy
with other things one try in three has to.
"""

import os
import signal
import subprocess
import time
import unittest

import support

# Seconds: up to 0.45 of them the command gives to its end, which a silent server does not confirm.
SLACK = 0.75
TRIES = 3
# Says so when it is told to end.
TELLS = "exec 2>&-; trap 'echo told; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
# Does not listen; ends by itself, in case nothing else does.
DEAF = "trap '' TERM; echo ready; exec sleep 60"


def ends_by(case, bound, attempt):
    """Asserts that `attempt`, which returns the seconds that it took, keeps to the bound."""
    taken = []
    while len(taken) < TRIES:
        taken.append(attempt())
        if taken[-1] <= bound + SLACK:
            return
    case.fail(f"took {taken} s; bound {bound} s")


class Waiting:
    """What the cases share: starting it, timing its end."""

    def seconds_to_end(self, child, begin, code):
        child.communicate(timeout=support.PATIENCE)
        self.assertEqual(child.returncode, code)
        return time.monotonic() - begin

    def pid_in(self, name):
        def read():
            try:
                with open(self.path(name), encoding="ascii") as file:
                    return int(file.read())
            except (FileNotFoundError, ValueError):
                return 0
        return support.wait_until(read, name)

    def release(self, monitor="P1"):
        node = self.holder(monitor)["node"]
        self.ends(0, "release", monitor, "--holder", node, "--reason", "test")

    def blocks_signals(self, child):
        """Blocked signals show that it listens to them."""
        def blocked():
            with open(f"/proc/{child.pid}/status", encoding="ascii") as file:
                lines = [line for line in file if line.startswith("SigBlk:")]
            return int(lines[0].split()[1], 16) & (1 << (signal.SIGTERM - 1))
        support.wait_until(blocked, "the program listens to signals")


class StderrNobodyReads(Waiting, support.CliTest):
    def start(self, *arguments, **options):
        reading, writing = support.full_pipe()
        self.addCleanup(os.close, reading)
        child = subprocess.Popen(self.command(*arguments), env=support.clean_environment(), stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=writing, text=True, **options)
        os.close(writing)
        self.children.append(child)
        return child

    def hold_deaf(self, *options):
        child = self.start("run", "-m", "P1", *options, "--", "sh", "-c", f"echo $$ > {self.path('pid')}; {DEAF}")
        self.assertEqual(child.stdout.readline(), "ready\n")
        return child, self.pid_in("pid")

    def test_the_child_of_a_lost_lock_is_ended_all_the_same(self):
        def attempt():
            child, process = self.hold_deaf("--kill-after", "200ms")
            begin = time.monotonic()
            self.release()
            taken = self.seconds_to_end(child, begin, 76)
            self.assertFalse(support.is_alive(process))
            return taken
        ends_by(self, 0.2, attempt)

    def test_term_comes_first(self):
        child = self.start("run", "-m", "P1", "--kill-after", "20s", "--", "sh", "-c", TELLS)
        self.assertEqual(child.stdout.readline(), "ready\n")
        self.release()
        output, _ = child.communicate(timeout=support.PATIENCE)
        self.assertEqual((child.returncode, output), (76, "told\n"))

    def test_the_next_holder_is_alone(self):
        child, process = self.hold_deaf("--kill-after", "100ms")
        self.release()
        self.seconds_to_end(child, time.monotonic(), 76)
        result = self.run_cli("run", "-m", "P1", "--", "sh", "-c", f"kill -0 {process} && echo beside")
        self.assertEqual(result.stdout, "")

    def test_what_cannot_be_said_delays_no_error(self):
        def attempt():
            begin = time.monotonic()
            child = self.start("run", "-m", "P1", "--timeout", "300ms", "--", "true")
            return self.seconds_to_end(child, begin, 75)
        self.hold("P1")
        ends_by(self, 0.3, attempt)

    def test_the_librarys_log_blocks_nothing(self):
        child = self.start("run", "-v", "-v", "-m", "P1", "--kill-after", "20s", "--", "sh", "-c", TELLS)
        self.assertEqual(child.stdout.readline(), "ready\n")
        child.send_signal(signal.SIGTERM)
        output, _ = child.communicate(timeout=support.PATIENCE)
        self.assertEqual((child.returncode, output), (0, "told\n"))

    def test_an_error_that_is_read_late_is_whole(self):
        reading, writing = support.full_pipe()
        child = subprocess.Popen(self.command("show", "nothing"), env=support.clean_environment(),
                                 stdin=subprocess.DEVNULL, stderr=writing)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            text = pipe.read()
        self.assertEqual(child.wait(support.PATIENCE), 1)
        self.assertIn(b"there is no monitor", text)


class SilentStream(Waiting, support.CliTest):
    """A FIFO that nobody writes, a stdin that stays open."""

    def ended_by_signal(self, number, *arguments, stdin=subprocess.DEVNULL):
        def attempt():
            child = subprocess.Popen(self.command(*arguments), env=support.clean_environment(), stdin=stdin,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.children.append(child)
            self.blocks_signals(child)
            begin = time.monotonic()
            child.send_signal(number)
            return self.seconds_to_end(child, begin, 128 + number)
        ends_by(self, 0, attempt)

    def test_as_the_payload(self):
        os.mkfifo(self.path("fifo"))
        for number in (signal.SIGTERM, signal.SIGINT):
            self.ended_by_signal(number, "run", "-m", "P1", "--retry", "--payload", self.path("fifo"), "--", "true")

    def test_as_stdin(self):
        reading, writing = os.pipe()
        self.addCleanup(os.close, writing)
        self.addCleanup(os.close, reading)
        self.ended_by_signal(signal.SIGTERM, "run", "-m", "P1", "--retry", "--payload", "-", "--", "true",
                             stdin=reading)

    def test_as_the_configuration(self):
        os.mkfifo(self.path("fifo.properties"))
        self.ended_by_signal(signal.SIGTERM, "run", "--config", self.path("fifo.properties"), "-m", "P1", "--", "true")
        self.ended_by_signal(signal.SIGINT, "run", "--config", self.path("fifo.properties"), "-m", "P1", "--retry",
                             "--", "true")


class SilentServer(Waiting, support.OwnServerTest):
    """The server stops answering; the server grants shorter sessions than are asked for."""

    java_options = ("maxSessionTimeout=2000",)

    def test_the_end_is_bound_to_the_session_that_was_granted(self):
        def attempt():
            self.wake_server()
            child = self.hold("P1", "--set", "zookeeper.session.timeout=15000", "--kill-after", "300ms", script=DEAF)
            begin = self.silence_server()
            return self.seconds_to_end(child, begin, 76)
        ends_by(self, 2.0, attempt)

    def test_no_alarm_while_the_server_answers(self):
        child = self.hold("P1", "--set", "zookeeper.session.timeout=15000", script="echo ready; read line; sleep 2.5")
        self.assertEqual(self.let_go(child), (0, ""))

    def test_a_timeout_holds(self):
        def attempt():
            self.wake_server()
            holder = self.hold("P1", "--set", "zookeeper.session.timeout=60000")
            waiter = self.start_cli("run", "-m", "P1", "--timeout", "1s", "--", "true")
            begin = time.monotonic()
            support.wait_until(lambda: self.queue("P1"), "a waiter")
            self.silence_server()
            taken = self.seconds_to_end(waiter, begin, 75)
            self.wake_server()
            self.let_go(holder)
            return taken
        ends_by(self, 1.0, attempt)

    def test_a_signal_ends_the_waiting(self):
        def attempt():
            self.wake_server()
            holder = self.hold("P1")
            waiter = self.start_cli("run", "-m", "P1", "--timeout", "1m", "--", "true")
            support.wait_until(lambda: self.queue("P1"), "a waiter")
            begin = self.silence_server()
            waiter.send_signal(signal.SIGTERM)
            taken = self.seconds_to_end(waiter, begin, 143)
            self.wake_server()
            self.let_go(holder)
            return taken
        ends_by(self, 0, attempt)

    def test_a_look_ends_with_its_patience(self):
        def attempt():
            begin = self.silence_server()
            self.ends(69, "ls", "--set", "zookeeper.session.timeout=1000")
            self.wake_server()
            return time.monotonic() - begin
        ends_by(self, 1.0, attempt)


class StoppedGuardian(Waiting, support.OwnServerTest):
    """A guardian that is stopped for longer than its session, and continued."""

    def test_its_child_is_ended_at_once_when_it_goes_on(self):
        def attempt():
            process = None
            child = self.hold("P1", "--set", "zookeeper.session.timeout=1000", "--kill-after", "100ms",
                              script=f"echo $$ > {self.path('pid')}; {DEAF}")
            process = self.pid_in("pid")
            child.send_signal(signal.SIGSTOP)
            # The next one gets the lock when the session has ended, and works beside the child of the stopped one:
            # nothing on this machine watches a watcher. That is what fencing tokens are for.
            self.ends(0, "run", "-m", "P1", "--timeout", "20s", "--", "sh", "-c", f"kill -0 {process}")
            begin = time.monotonic()
            child.send_signal(signal.SIGCONT)
            taken = self.seconds_to_end(child, begin, 76)
            self.assertFalse(support.is_alive(process))
            return taken
        ends_by(self, 0.1, attempt)

    def test_who_waits_queues_again_when_its_session_has_ended(self):
        holder = self.hold("P1")
        waiter = self.start_cli("run", "-m", "P1", "--set", "zookeeper.session.timeout=1000", "--timeout", "60s", "--",
                                "true")
        support.wait_until(lambda: self.queue("P1"), "it waits")
        waiter.send_signal(signal.SIGSTOP)
        support.wait_until(lambda: not self.queue("P1"), "its session ends")
        waiter.send_signal(signal.SIGCONT)
        support.wait_until(lambda: self.queue("P1") or waiter.poll() is not None, "it waits again")
        self.assertEqual(self.let_go(holder), (0, ""))
        _, errors = waiter.communicate(timeout=support.PATIENCE)
        self.assertEqual(waiter.returncode, 0, errors)

    def test_the_time_of_one_who_queues_again_is_the_same(self):
        self.hold("P1")

        def attempt():
            begin = time.monotonic()
            waiter = self.start_cli("run", "-m", "P1", "--set", "zookeeper.session.timeout=1000", "--timeout", "6s",
                                    "--", "true")
            support.wait_until(lambda: self.queue("P1"), "it waits")
            waiter.send_signal(signal.SIGSTOP)
            support.wait_until(lambda: not self.queue("P1"), "its session ends")
            waiter.send_signal(signal.SIGCONT)
            return self.seconds_to_end(waiter, begin, 75)
        ends_by(self, 6, attempt)

    def test_a_short_stop_does_no_harm(self):
        child = self.hold("P1", "--set", "zookeeper.session.timeout=20000")
        child.send_signal(signal.SIGSTOP)
        self.assertIsNotNone(self.holder("P1"))
        child.send_signal(signal.SIGCONT)
        self.assertEqual(self.let_go(child), (0, ""))


class KilledGuardian(support.CliTest):
    def test_with_warn_the_child_goes_on(self):
        child = self.hold("P1", "--on-lost", "warn", script="echo ready; read line; echo went on")
        child.kill()
        child.wait()
        output, _ = child.communicate("\n", timeout=support.PATIENCE)
        self.assertEqual(output, "went on\n")


class Lack(Waiting, support.CliTest):
    def test_ten_descriptors_are_enough_or_too_few_but_never_half(self):
        for limit in range(4, 24):
            with self.subTest(limit=limit):
                result = subprocess.run(["sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh",
                                         *self.command("run", "-m", "P1", "--timeout", "2s", "--", "echo", "worked")],
                                        env=support.clean_environment(), stdin=subprocess.DEVNULL, capture_output=True,
                                        text=True, timeout=30, check=False)
                if result.returncode == 0:
                    self.assertEqual(result.stdout, "worked\n")
                else:
                    self.assertNotEqual(result.stderr, "")
                    self.assertEqual(result.stdout, "")
                    self.assertLess(result.returncode, 128, result.stderr)
                self.assertTrue(limit < 20 or result.returncode == 0, result.stderr)

    def test_closed_standard_streams(self):
        for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            result = subprocess.run(["sh", "-c", f'exec "$@" {closed}', "sh",
                                     *self.command("run", "-m", "P1", "--", "sh", "-c",
                                                   f"echo worked > {self.path('out')}; exit 7")],
                                    env=support.clean_environment(), timeout=60, check=False)
            self.assertEqual(result.returncode, 7, closed)
            with open(self.path("out"), encoding="ascii") as file:
                self.assertEqual(file.read(), "worked\n")
            os.remove(self.path("out"))

    def test_a_result_that_nobody_gets_is_no_success(self):
        for arguments in (("ls", "-o", "json"), ("config",), ("manpage",)):
            result = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *self.command(*arguments)],
                                    env=support.clean_environment(), stderr=subprocess.PIPE, text=True, timeout=60,
                                    check=False)
            self.assertEqual(result.returncode, 74, (arguments, result.stderr))

    def test_without_a_terminal_or_a_session_of_its_own(self):
        result = subprocess.run(["setsid", "-w", *self.command("run", "-m", "P1", "--", "sh", "-c", "exit 9")],
                                env=support.clean_environment(), stdin=subprocess.DEVNULL, timeout=60, check=False)
        self.assertEqual(result.returncode, 9)

    def test_without_an_environment(self):
        result = subprocess.run(self.command("run", "-m", "P1", "--", "/bin/sh", "-c", "exit 9"), env={},
                                stdin=subprocess.DEVNULL, timeout=60, check=False)
        self.assertEqual(result.returncode, 9)


class FirstProcess(Waiting, support.CliTest):
    """As PID 1, as in a container without an init."""

    def start(self, *arguments):
        unshare = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
        if os.geteuid() != 0:
            unshare.append("--map-root-user")
        child = subprocess.Popen(unshare + self.command(*arguments), env=support.clean_environment(),
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.children.append(child)
        return child

    def inner(self, child):
        def first():
            with open(f"/proc/{child.pid}/task/{child.pid}/children", encoding="ascii") as file:
                return int((file.read().split() or ["0"])[0])
        return support.wait_until(first, "the program in its namespace")

    def test_signals_end_what_only_looks(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            child = self.start("watch", "-o", "ndjson", "--all", "--interval", "60s")
            self.hold("P" + str(number))
            process = self.inner(child)
            support.wait_until(lambda: self.handles(process, number), "it handles signals")
            os.kill(process, number)
            child.communicate(timeout=support.PATIENCE)
            self.assertEqual(child.returncode, 128 + number)

    @staticmethod
    def handles(process, number):
        with open(f"/proc/{process}/status", encoding="ascii") as file:
            caught = [line.split()[1] for line in file if line.startswith("SigCgt:")]
        return int(caught[0], 16) & (1 << (number - 1))

    def test_signals_end_what_waits(self):
        self.hold("P1")
        for number in (signal.SIGTERM, signal.SIGINT):
            child = self.start("wait", "P1")
            process = self.inner(child)
            support.wait_until(lambda: self.handles(process, number), "it handles signals")
            os.kill(process, number)
            child.communicate(timeout=support.PATIENCE)
            self.assertEqual(child.returncode, 128 + number)

    def test_what_waits_ends_by_itself(self):
        child = self.start("wait", "P1")
        child.communicate(timeout=support.PATIENCE)
        self.assertEqual(child.returncode, 0)

    def test_the_childs_code_comes_through(self):
        child = self.start("run", "-m", "P1", "--", "sh", "-c", "exit 37")
        child.communicate(timeout=support.PATIENCE)
        self.assertEqual(child.returncode, 37)

    def test_a_signal_is_forwarded(self):
        child = self.start("run", "-m", "P1", "--", "sh", "-c", TELLS)
        self.assertEqual(child.stdout.readline(), "ready\n")
        os.kill(self.inner(child), signal.SIGTERM)
        output, _ = child.communicate(timeout=support.PATIENCE)
        self.assertEqual((child.returncode, output), (0, "told\n"))

    def test_a_lost_lock_ends_it(self):
        child = self.start("run", "-m", "P1", "--kill-after", "100ms", "--", "sh", "-c", DEAF)
        self.assertEqual(child.stdout.readline(), "ready\n")
        self.release()
        child.communicate(timeout=support.PATIENCE)
        self.assertEqual(child.returncode, 76)
