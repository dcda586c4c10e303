"""forelock run and replay: all that a command has started is told to end when its lock is lost, and then ended."""

import os
import shutil
import signal
import subprocess
import unittest

import dlq_support
import hostile_test
import support
from hostile_test import DEAF, TELLS


class Descendants(hostile_test.Waiting, support.CliTest):
    def test_a_child_that_leaves_its_group_is_ended(self):
        child = self.hold("P1", "--kill-after", "200ms", script=f"exec setsid -w sh -c \"{DEAF}\"")
        self.release()
        self.assertEqual(child.wait(support.PATIENCE), 76)

    def test_a_grandchild_in_another_session_is_told_and_ended(self):
        # They keep stdout open: communicate() ends only when they are gone.
        script = (f"setsid sh -c \"trap 'echo told' TERM; echo $$ > {self.path('a')}; while :; do sleep 0.05; done\" & "
                  "echo ready; wait")
        child = self.hold("P1", "--kill-after", "500ms", script=script)
        grandchild = self.pid_in("a")
        self.release()
        output, _ = child.communicate(timeout=support.PATIENCE)
        self.assertEqual(child.returncode, 76)
        self.assertFalse(support.is_alive(grandchild))

    def test_an_orphan_is_ended(self):
        # Its parent has ended before the lock is lost.
        script = (f"sh -c \"setsid sh -c 'echo \\$\\$ > {self.path('a')}; exec sleep 1000' & \"; echo ready; "
                  "while :; do sleep 0.05; done")
        child = self.hold("P1", "--kill-after", "200ms", script=script)
        orphan = self.pid_in("a")
        self.release()
        child.communicate(timeout=support.PATIENCE)
        self.assertEqual(child.returncode, 76)
        self.assertFalse(support.is_alive(orphan))

    def test_what_is_left_in_the_background_of_a_lock_that_was_kept_goes_on(self):
        script = f"setsid sh -c 'echo $$ > {self.path('a')}; exec sleep 1000' > /dev/null 2>&1 &"
        self.ends(0, "run", "-m", "P1", "--", "sh", "-c", script)
        process = self.pid_in("a")
        self.assertTrue(support.is_alive(process))
        os.kill(process, signal.SIGKILL)

    def test_a_stopped_child_is_continued_and_told(self):
        child = self.hold("P1", "--kill-after", "20s", script=f"echo $$ > {self.path('pid')}; {TELLS}")
        os.kill(self.pid_in("pid"), signal.SIGSTOP)
        self.release()
        output, _ = child.communicate(timeout=support.PATIENCE)
        self.assertEqual((child.returncode, output), (76, "told\n"))

    def test_orphans_leave_no_zombies(self):
        script = "for i in 1 2 3 4 5; do (sh -c ': &' &) ; done; echo ready; read line"
        child = self.hold("P1", script=script)

        def zombies():
            listing = subprocess.run(["ps", "-o", "stat=", "--ppid", str(child.pid)], capture_output=True, text=True,
                                     check=False).stdout
            return listing.count("Z")
        support.wait_until(lambda: zombies() == 0, "no zombies")
        self.assertEqual(self.let_go(child)[0], 0)


class TimeToEnd(hostile_test.Waiting, dlq_support.DlqTest):
    """Who is told to end has the time of --kill-after, wherever it is, and also when the command itself has ended."""

    def tidies_up(self, script="exec sleep 1000"):
        """A process in a session of its own that needs a while when it is told; the command that starts it."""
        tidy = self.write("tidy", f"""trap 'trap "" TERM; sleep 0.3; echo tidied > {self.path("tidied")}; exit' TERM
echo $$ > {self.path("pid")}
while :; do sleep 0.05; done
""")
        return f"setsid sh {tidy} > /dev/null 2>&1 < /dev/null & echo ready; {script}"

    def assert_tidied(self, child):
        tidying = self.pid_in("pid")
        self.release()
        child.communicate(timeout=support.PATIENCE)
        self.assertEqual(self.lines_of("tidied"), ["tidied"])
        self.assertFalse(support.is_alive(tidying))

    def test_of_a_command(self):
        child = self.hold("P1", "--kill-after", "20s", script=self.tidies_up())
        self.assert_tidied(child)
        self.assertEqual(child.returncode, 76)

    def test_of_an_operation(self):
        child = self.hold("P1", "--retry", "--kill-after", "20s", script=self.tidies_up())
        self.assert_tidied(child)
        self.assertEqual(child.returncode, 79)

    def test_of_a_replay(self):
        self.dead_letter()
        child = self.start_cli("dlq", "replay", "--execute", "--exec", self.tidies_up())
        self.assert_tidied(child)
        self.assertEqual(child.returncode, 75)

    def test_in_the_commands_own_group(self):
        child = self.hold("P1", "--kill-after", "20s", script=self.tidies_up().replace("setsid ", ""))
        self.assert_tidied(child)

    def test_who_does_not_listen_is_killed(self):
        for start in (("run", "-m", "P1", "--kill-after", "300ms", "--", "sh", "-c"),
                      ("dlq", "replay", "--execute", "--exec")):
            if start[0] == "dlq":
                self.dead_letter(monitor="P1")
            self.write("pid", "")
            deaf = f"setsid sh -c 'trap \"\" TERM; echo $$ > {self.path('pid')}; exec sleep 1000' > /dev/null 2>&1 & "
            child = self.start_cli(*start, deaf + "exec sleep 1000")
            process = self.pid_in("pid")
            self.addCleanup(subprocess.run, ["kill", "-KILL", str(process)], check=False, capture_output=True)
            self.release()
            child.communicate(timeout=support.PATIENCE)
            support.wait_until(lambda: not support.is_alive(process), start[0] + ": it ends", 3)

    def leaves_stubborn(self, script):
        """A process in a session of its own that only SIGHUP ends, beside the script."""
        stubborn = self.write("stubborn", f"""trap 'echo asked > {self.path("asked")}' TERM
trap 'echo interrupted > {self.path("interrupted")}; exit' HUP
echo $$ > {self.path("pid")}
while :; do sleep 0.05; done
""")
        return f"setsid sh {stubborn} > /dev/null 2>&1 & echo $$ > {self.path('first')}; echo ready; {script}"

    def test_a_signal_meanwhile_reaches_it(self):
        child = self.hold("P1", "--kill-after", "20s", script=self.leaves_stubborn("exec sleep 1000"))
        self.pid_in("pid")
        first = self.pid_in("first")
        self.release()
        support.wait_until(lambda: not support.is_alive(first), "the command ends")
        self.assert_a_signal_reaches_it(child)

    def assert_a_signal_reaches_it(self, child, before=lambda: None):
        support.wait_until(lambda: self.lines_of("asked"), "what it has left is asked to end")
        before()
        child.send_signal(signal.SIGHUP)
        child.send_signal(signal.SIGCONT)
        child.communicate(timeout=support.PATIENCE)
        self.assertEqual((child.returncode, self.lines_of("interrupted")), (76, ["interrupted"]))

    def test_a_signal_that_comes_together_with_the_commands_end_reaches_it(self):
        child = self.hold("P1", "--kill-after", "20s", script=self.leaves_stubborn("trap '' TERM; exec sleep 1000"))
        self.pid_in("pid")
        first = self.pid_in("first")

        def end_the_command():
            child.send_signal(signal.SIGSTOP)
            support.wait_until(lambda: support.state_of(child.pid) == "T", "it reads no signals")
            os.kill(first, signal.SIGKILL)
            support.wait_until(lambda: not support.is_alive(first), "the command has ended")
        self.release()
        self.assert_a_signal_reaches_it(child, end_the_command)


@unittest.skipUnless(os.geteuid() == 0, "needs another user")
class AnotherUser(hostile_test.Waiting, support.CliTest):
    """A command that runs as another user than its guardian takes no signals from it."""

    US, THEM = 65534, 65533

    def setUp(self):
        super().setUp()
        os.chmod(self.directory.name, 0o777)
        # As sudo does: a program that may become anybody, and does.
        self.become = self.path("become")
        shutil.copy(shutil.which("setpriv"), self.become)
        os.chmod(self.become, 0o4755)
        probe = subprocess.run([*self.as_us(), self.become, f"--reuid={self.THEM}", "id", "-ru"], capture_output=True,
                               text=True, check=False)
        if probe.stdout.strip() != str(self.THEM):
            self.skipTest("programs cannot change their user here: " + probe.stderr)
        probe = subprocess.run([*self.as_us(), support.BINARY, "--version"], capture_output=True, text=True,
                               check=False)
        if probe.returncode != 0:
            self.skipTest("others cannot run the command here: " + probe.stderr)

    def as_us(self):
        return ["setpriv", f"--reuid={self.US}", f"--regid={self.US}", "--clear-groups"]

    def command(self, *arguments, server=True):
        return [*self.as_us(), *super().command(*arguments, server=server)]

    def start(self, *command):
        child = subprocess.Popen(self.command("run", "-m", "P1", "--kill-after", "100ms", "--", *command),
                                 env=support.clean_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        self.children.append(child)
        self.assertEqual(child.stdout.readline(), "ready\n")
        return child

    def test_it_is_said_that_the_command_cannot_be_ended(self):
        child = self.start(self.become, f"--reuid={self.THEM}", "sh", "-c", "echo ready; read line")
        self.release()
        self.assertIn("the command cannot be ended: it runs as another user", child.stderr.readline())
        _, errors = child.communicate("\n", timeout=support.PATIENCE)
        self.assertEqual(child.returncode, 76)
        self.assertNotIn("SIGTERM", errors)

    def test_it_is_said_of_what_the_command_has_started(self):
        child = self.start("sh", "-c", f"{self.become} --reuid={self.THEM} sh -c 'echo ready; read line'; true")
        self.release()
        self.assertRegex(child.stderr.readline(),
                         "the command gets SIGTERM; its process [0-9]+ cannot be ended: it runs as another user")
        child.communicate("\n", timeout=support.PATIENCE)
        self.assertEqual(child.returncode, 76)
