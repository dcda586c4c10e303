"""The session file: forelock recover, and forelock run whose command outlives it."""

import json
import os
import signal
import subprocess
import threading
import unittest

import support
import tap

SESSION = "60s"  # longer than anything here waits


def sealed(text):
    """The text of a session file, with the sum over the lines before it made anew."""
    body = text[:text.index("sum ")]
    total = 14695981039346656037
    for byte in body.encode():
        total = (total ^ byte) * 1099511628211 % 2**64
    return f"{body}sum {total:016x}\n"


class Recover(support.CliTest):
    def setUp(self):
        super().setUp()
        self.file = self.path("app.session")
        self.settings = ("--set", "zookeeper.session.file=" + self.file,
                         "--set", "zookeeper.session.timeout=" + SESSION)

    def hold_with_file(self, *options, script="echo ready; read forever"):
        return self.hold("P1", *self.settings, *options, script=script)

    def kill(self, child):
        child.kill()
        child.wait()

    def leave_a_session(self):
        """That of a `forelock run` that has been killed, and its command with it. Returns its record."""
        self.kill(self.hold_with_file())
        support.wait_until(lambda: not self.in_use(), "nothing of it is left")
        self.assertTrue(self.holder("P1"))
        return self.read()

    def in_use(self):
        """Asks with another chroot, so that nothing is ended."""
        result = self.run_cli("--zookeeper", support.SERVER + "/nowhere", "-o", "json", "recover", self.file,
                              server=False)
        return "session_file_in_use" in result.stderr

    def refused(self, code, exit_code):
        result = self.run_cli("-o", "json", "recover", self.file)
        self.assertEqual((self.error_of(result)["code"], result.returncode), (code, exit_code), result.stderr)
        return result

    def read(self):
        with open(self.file, encoding="ascii") as file:
            return file.read()

    def rewrite(self, text):
        """In place: a copy would not count."""
        with open(self.file, "r+", encoding="ascii") as file:
            file.truncate(0)
            file.write(text)

    def test_the_session_of_a_killed_process_is_ended(self):
        record = self.leave_a_session()
        password = record.split("session ")[1].split()[1]
        result = self.ends(0, "-vv", "-o", "json", "recover", self.file)
        view = json.loads(result.stdout)
        self.assertEqual((view["file"], view["state"]), (self.file, "recovered"))
        self.assertEqual([each["outcome"] for each in view["sessions"]], ["ended"])
        self.assertIn(view["sessions"][0]["session"][2:], record)
        self.assertNotIn(password, result.stdout + result.stderr)
        self.assertIsNone(self.holder("P1"))
        # Nothing is left to be done; a record that comes again is of a session that is over.
        self.assertEqual(self.json_of("recover", self.file)["state"], "empty")
        self.rewrite(record)
        self.assertEqual(self.json_of("recover", self.file)["sessions"][0]["outcome"], "was_over")
        self.assertIn("nothing to recover", self.run_cli("recover", self.file).stderr)

    def test_the_successor_has_the_lock_at_once(self):
        self.leave_a_session()
        result = self.run_cli("run", "-m", "P1", "--timeout", "20s", *self.settings, "--", "echo", "mine")
        self.assertEqual((result.returncode, result.stdout), (0, "mine\n"), result.stderr)

    def test_a_command_that_lives_on_keeps_the_lock(self):
        # With what it has started; it is not told that its guardian has been killed.
        script = (f"sleep 600 & echo $! > {self.path('child')}; echo $$ > {self.path('command')}; echo ready; "
                  "exec sleep 600")
        guardian = self.hold_with_file("--on-lost=warn", script=script)
        command, child = self.process_in("command"), self.process_in("child")
        self.kill(guardian)
        self.refused("session_file_in_use", 1)
        successor = self.start_cli("run", "-m", "P1", "--timeout", "40s", *self.settings, "--", "echo", "mine")
        support.wait_until(lambda: self.queue("P1"), "the successor waits")
        os.kill(command, signal.SIGKILL)
        support.wait_until(lambda: not support.is_alive(command), "the command has ended")
        self.refused("session_file_in_use", 1)
        self.assertTrue(self.holder("P1"), "a child of the command works on")
        self.assertIsNone(successor.poll())
        os.kill(child, signal.SIGKILL)
        output, errors = successor.communicate(timeout=support.PATIENCE)
        self.assertEqual((successor.returncode, output), (0, "mine\n"), errors)

    def test_a_command_does_not_keep_what_it_has_not_inherited(self):
        """A later take-over would be no proof for the command: there is none once it runs."""
        first = self.hold_with_file()
        second = self.hold("P2", *self.settings)
        self.let_go(first)
        self.assertEqual(self.recovered_by_the_next(), {"state": "empty", "outcomes": []})
        self.let_go(second)

    def recovered_by_the_next(self):
        support.wait_until(lambda: not self.in_use(), "the file is free")
        view = self.json_of("recover", self.file)
        return {"state": view["state"], "outcomes": [each["outcome"] for each in view["sessions"]]}

    def test_those_that_only_look_do_not_touch_it(self):
        record = self.leave_a_session()
        for looks in (("ls",), ("show", "P1"), ("doctor",)):
            self.assertEqual(self.run_cli(*looks, *self.settings).returncode, 0, looks)
        self.assertEqual(self.read(), record)
        self.assertTrue(self.holder("P1"))

    def test_what_proves_nothing_is_not_acted_on(self):
        record = self.leave_a_session()
        self.rewrite(record[:-4])
        self.refused("session_file_damaged", 1)
        self.rewrite(sealed(record.replace("\nboot ", "\nboot 0")))
        self.assertEqual(self.json_of("recover", self.file)["state"], "other_boot")
        self.rewrite(sealed(record.replace("\nfile ", "\nfile 1")))
        self.refused("session_file_copied", 1)
        self.rewrite(record)
        result = self.run_cli("--zookeeper", support.SERVER + "/elsewhere", "-o", "json", "recover", self.file,
                              server=False)
        self.assertEqual((self.error_of(result)["code"], result.returncode), ("other_ensemble", 1))
        self.assertEqual(json.loads(result.stdout)["sessions"][0]["outcome"], "other_ensemble")
        self.assertTrue(self.holder("P1"))
        self.assertEqual(self.read(), record)

    def test_files_of_others_are_refused(self):
        record = self.leave_a_session()
        os.chmod(self.file, 0o640)
        self.refused("session_file_unusable", 78)
        os.chmod(self.file, 0o600)
        self.rewrite("# a file of somebody else\n")
        self.refused("session_file_unusable", 78)
        self.assertEqual(self.read(), "# a file of somebody else\n")
        self.rewrite(record)
        os.rename(self.file, self.path("moved"))
        os.symlink(self.path("moved"), self.file)
        self.refused("session_file_unusable", 78)
        os.remove(self.file)
        self.assertEqual(self.json_of("recover", self.file)["state"], "absent")
        self.assertFalse(os.path.exists(self.file), "it makes none")
        self.assertTrue(self.holder("P1"))

    def test_without_a_server_the_record_is_kept(self):
        record = self.leave_a_session()
        nowhere = sealed(record.replace(support.SERVER, "127.0.0.1:1"))
        self.rewrite(nowhere)
        result = self.run_cli("--zookeeper", "127.0.0.1:1" + self.namespace, "-o", "json", "recover", self.file,
                              server=False)
        error = self.error_of(result)
        self.assertEqual((error["code"], error["retryable"], result.returncode), ("connection_loss", True, 69))
        self.assertEqual(json.loads(result.stdout)["sessions"][0]["outcome"], "unknown")
        self.assertEqual(self.read(), nowhere)

    def process_in(self, name):
        with open(self.path(name), encoding="ascii") as file:
            process = int(file.read())
        self.addCleanup(lambda: support.is_alive(process) and os.kill(process, signal.SIGKILL))
        return process

    def test_a_zombie_has_nothing_left(self):
        child = self.hold_with_file()
        child.kill()
        support.wait_until(lambda: support.state_of(child.pid) == "Z" and not self.in_use(), "it is not waited for")
        self.assertEqual(self.json_of("recover", self.file)["sessions"][0]["outcome"], "ended")
        self.assertIsNone(self.holder("P1"))

    @unittest.skipUnless(os.geteuid() == 0, "needs root, for namespaces")
    def test_another_container_sees_that_it_lives(self):
        """It has its own processes and mounts, is the process 1 in them, and the file has another name there."""
        os.mkdir(self.path("volume"))
        self.file = self.path("volume/app.session")
        self.settings = ("--set", "zookeeper.session.file=" + self.file, *self.settings[2:])
        self.hold_with_file()
        os.mkdir(self.path("elsewhere"))
        inside = f"mount --bind {self.path('volume')} {self.path('elsewhere')} && exec \"$@\""
        command = ["unshare", "--pid", "--mount", "--fork", "sh", "-c", inside, "sh",
                   *self.command("-o", "json", "recover", self.path("elsewhere/app.session"))]
        result = subprocess.run(command, env=support.clean_environment(), capture_output=True, text=True, check=False,
                                timeout=support.PATIENCE)
        self.assertEqual((self.error_of(result)["code"], result.returncode), ("session_file_in_use", 1), result.stderr)
        self.assertTrue(self.holder("P1"))

    def test_what_the_dead_process_has_sent_comes_too_late(self):
        """A claim that is still on its way when its session has been ended: it makes no node."""
        line = tap.Tap(support.SERVER)
        self.addCleanup(line.close)
        passed_on = threading.Event()
        results = []

        def die():
            child.kill()
            child.wait()
            support.wait_until(lambda: not self.in_use(), "nothing of it is left")
            results.append(self.run_cli("--zookeeper", line.address + self.namespace, "-o", "json", "recover",
                                        self.file, server=False))
            passed_on.set()

        line.before_request(tap.TRANSACTION, die, about=b"/P1")
        command = [support.BINARY, "--zookeeper", line.address + self.namespace, "run", "-m", "P1", *self.settings,
                   "--", "true"]
        child = subprocess.Popen(command, env=support.clean_environment(), stderr=subprocess.DEVNULL)
        self.children.append(child)
        self.assertTrue(passed_on.wait(60))
        self.assertEqual(json.loads(results[0].stdout)["sessions"][0]["outcome"], "ended", results[0].stderr)
        self.assertTrue(line.acted.wait(support.PATIENCE), "the request is passed on")
        self.assertIsNone(self.holder("P1"))
        self.assertEqual(self.queue("P1"), [])
        self.assertEqual(self.run_cli("run", "-m", "P1", "--timeout", "20s", "--", "true").returncode, 0)
