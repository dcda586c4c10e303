"""What the command line's tests share: running the binary, waiting for things, and looking at nodes.

The server is the one that `forelock dev -- …` has started around the tests (see CMakeLists.txt).
"""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

BINARY = os.environ.get("FORELOCK_BINARY", "forelock")
SERVER = os.environ.get("FORELOCK_ZOOKEEPER", "")
# An unused monitor stays until the server removes it, some minutes later.
LEFT_TO_THE_SERVER = ("--set", "zookeeper.monitor.linger=0")
PATIENCE = 20  # seconds; generous, because machines are busy: nothing waits so long unless it is broken


def clean_environment(**changes):
    """This process's environment without anything of Forelock's own, and without colours."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("FORELOCK_")}
    environment.update(changes)
    return environment


def wait_until(condition, what, patience=PATIENCE):
    """The first true value of the condition."""
    deadline = time.monotonic() + patience
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError("did not happen: " + what)
        time.sleep(0.02)


class CliTest(unittest.TestCase):
    """One namespace (chroot) of its own for each test."""

    makes_namespace = True  # what only looks does not

    def setUp(self):
        self.namespace = "/t" + uuid.uuid4().hex[:12]
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.children = []
        self.addCleanup(self.end_children)
        if self.makes_namespace:
            subprocess.run([BINARY, "--zookeeper", SERVER + self.namespace, "run", "-m", "first", "--", "true"],
                           env=clean_environment(), check=True)

    def end_children(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
            child.wait()
            for stream in (child.stdin, child.stdout, child.stderr):
                if stream:
                    stream.close()

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def connect_string(self):
        return SERVER + self.namespace

    def command(self, *arguments, server=True):
        return [BINARY] + (["--zookeeper", self.connect_string()] if server else []) + list(arguments)

    def run_cli(self, *arguments, server=True, stdin=None, **environment):
        return subprocess.run(self.command(*arguments, server=server), env=clean_environment(**environment),
                              input=stdin,
                              stdin=subprocess.DEVNULL if stdin is None else None, capture_output=True, text=True,
                              timeout=60, check=False)

    def ends(self, code, *arguments, says="", **options):
        """run_cli(), which is to end with this code and with that on stderr; its result."""
        result = self.run_cli(*arguments, **options)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertIn(says, result.stderr)
        return result

    def start_cli(self, *arguments, **options):
        child = subprocess.Popen(self.command(*arguments), env=clean_environment(), stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        self.children.append(child)
        return child

    def at_terminal(self, *arguments):
        """Runs it at a keyboard; the process, and the terminal's other end."""
        process, terminal = pty.fork()
        if process == 0:
            os.execve(BINARY, self.command(*arguments), clean_environment(TERM="xterm"))
        self.addCleanup(os.close, terminal)
        return process, terminal

    def read_until(self, terminal, text, times=1):
        seen = b""
        while seen.count(text) < times:
            ready, _, _ = select.select([terminal], [], [], PATIENCE)
            self.assertTrue(ready, (text, seen))
            try:
                seen += os.read(terminal, 4096)
            except OSError:
                self.fail(f"{text} did not come: {seen}")
        return seen

    def code_of(self, process):
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

    def json_of(self, *arguments):
        result = self.run_cli("-o", "json", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def error_of(self, result):
        """The last of the JSON objects on stderr, one a line."""
        return [json.loads(line) for line in result.stderr.splitlines()][-1]["error"]

    def show(self, monitor):
        result = self.run_cli("show", monitor, "-o", "json")
        return json.loads(result.stdout) if result.returncode == 0 else None

    def holder(self, monitor):
        view = self.show(monitor)
        return view and view["holder"]

    def queue(self, monitor):
        view = self.show(monitor)
        return view["queue"] if view else []

    def hold(self, monitor, *options, script="echo ready; read forever", **popen):
        """Starts a holder whose command says "ready" and then waits for its stdin.

        communicate() closes that stdin: who waits for an end from elsewhere gives a script that does not read it.
        """
        child = subprocess.Popen(self.command("run", "-m", monitor, *options, "--", "sh", "-c", script),
                                 env=clean_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, **popen)
        self.children.append(child)
        self.assertEqual(child.stdout.readline(), "ready\n", "the holder does not start")
        return child

    def let_go(self, child):
        """Ends a holder's command; its exit code, and what it said."""
        _, errors = child.communicate("\n", timeout=PATIENCE)
        return child.returncode, errors


class OwnServerTest(CliTest):
    """A server of its own, which can be made silent."""

    java_options = ()  # settings of the server, "maxSessionTimeout=2000" say
    java_properties = ()  # of its Java, "jute.maxbuffer=65536" say

    def setUp(self):
        super().setUp()
        changes = {"TMPDIR": self.directory.name}
        if self.java_options or self.java_properties:
            changes["JAVA_HOME"] = self.changed_java()
        self.dev = subprocess.Popen([BINARY, "dev", "-o", "json"], env=clean_environment(**changes),
                                    stdout=subprocess.PIPE, text=True)
        self.children.append(self.dev)
        self.address = json.loads(self.dev.stdout.readline())["zookeeper"]
        with open(f"/proc/{self.dev.pid}/task/{self.dev.pid}/children", encoding="ascii") as file:
            self.server = int(file.read().split()[0])
        self.addCleanup(self.wake_server)

    def changed_java(self):
        """A Java that adds to the configuration which `dev` has written."""
        os.makedirs(self.path("java/bin"))
        java = os.path.join(os.environ["JAVA_HOME"], "bin/java") if "JAVA_HOME" in os.environ else "java"
        lines = "".join(f"echo {option} >> $last\n" for option in self.java_options)
        properties = " ".join("-D" + each for each in self.java_properties)
        script = self.write("java/bin/java", f'#!/bin/sh\nfor last; do :; done\n{lines}exec {java} {properties} "$@"\n')
        os.chmod(script, 0o755)
        return self.path("java")

    def silence_server(self):
        os.kill(self.server, signal.SIGSTOP)
        return time.monotonic()

    def wake_server(self):
        try:
            os.kill(self.server, signal.SIGCONT)
        except ProcessLookupError:
            pass

    def connect_string(self):
        return self.address


def full_pipe():
    """Both ends of a pipe that takes no byte more, and that nobody reads."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    for size in (4096, 1):
        try:
            while True:
                os.write(writing, b"x" * size)
        except BlockingIOError:
            pass
    os.set_blocking(writing, True)
    return reading, writing


def state_of(process):
    """One letter, as ps shows it; nothing for a process that is gone."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return None


def is_alive(process):
    """Whether it runs; a zombie does not."""
    return state_of(process) not in (None, "Z", "X")


def main(module="__main__"):
    if not SERVER:
        sys.exit("start these tests with: forelock dev -- python3 " + " ".join(sys.argv))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    unittest.main(module=module, argv=[module, *sys.argv[1 if module == "__main__" else 2:]], verbosity=1)


if __name__ == "__main__":
    main(sys.argv[1])  # support.py run_test [TEST...]
