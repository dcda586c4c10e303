"""Programs of the documentation, copied, compiled and started: the tutorial's first page, and one that ends well."""

import os
import re
import shlex
import signal
import subprocess

import support

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
LIBRARY = os.environ.get("FORELOCK_LIBRARY", "")
COMPILER = os.environ.get("FORELOCK_CXX", "c++")
FLAGS = shlex.split(os.environ.get("FORELOCK_CXX_FLAGS", ""))


def section(document, begin, end):
    with open(os.path.join(ROOT, "docs", document), encoding="utf-8") as file:
        text = file.read()
    return text[text.index(begin):text.index(end)]


def blocks_of(language, text):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def blocks(language):
    """Up to the end of the first lock's section."""
    return blocks_of(language, section("tutorial.md", "## A server to play with", "## The two classes"))


class Compiling(support.CliTest):
    def compile(self, program):
        source = self.write("program.cc", program)
        compiled = subprocess.run([COMPILER, *FLAGS, "-std=c++20", "-pthread", "-I" + os.path.join(ROOT, "include"),
                                   source, "-o", self.path("program"), LIBRARY,
                                   "-Wl,-rpath," + os.path.dirname(LIBRARY)],
                                  capture_output=True, text=True, check=False)
        self.assertEqual(compiled.returncode, 0, compiled.stderr)


class Ending(Compiling):
    """The program of docs/operating.md that frees its locks when it is told to end."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("config"))
        self.write("config/elasticsearch-details.properties",
                   f"zookeeper.servers={self.connect_string()}\nzookeeper.session.timeout=60000\n")
        (program,) = blocks_of("cpp", section("operating.md", "## Ending a program", "## Limits of the servers"))
        self.compile(program)

    def start(self):
        child = subprocess.Popen([self.path("program")], cwd=self.directory.name)
        self.children.append(child)
        return child

    def ends(self, child, number):
        child.send_signal(number)
        self.assertEqual(child.wait(support.PATIENCE), 128 + number)

    def test_who_holds_it_frees_it(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            child = self.start()
            support.wait_until(lambda: self.holder("P1"), "it holds")
            self.ends(child, number)
            support.wait_until(lambda: not self.holder("P1"), "it is free long before the session's end")

    def test_who_waits_leaves_the_queue(self):
        self.hold("P1")
        child = self.start()
        support.wait_until(lambda: self.queue("P1"), "it waits")
        self.ends(child, signal.SIGTERM)
        support.wait_until(lambda: not self.queue("P1"), "nobody waits long before the session's end")


class Tutorial(Compiling):
    def setUp(self):
        super().setUp()
        self.compile(next(block for block in blocks("cpp") if "int main(" in block))

    def test_the_first_program_reaches_the_server_that_dev_has_started(self):
        (shell,) = blocks("sh")
        self.assertEqual(shell.strip(), "forelock dev -- bash")
        # What a reader types into that shell. Two seconds for the lock are few on a busy machine.
        typed = "\n".join(["set -e", "cat $FORELOCK_CONFIG",
                           "echo zookeeper.foregound.task.timeout=60000 >> $FORELOCK_CONFIG",
                           "echo zookeeper.monitor.linger=0 >> $FORELOCK_CONFIG",  # so that it can be listed
                           self.path("program"), "forelock config", "forelock ls --all"])
        binary = os.path.dirname(os.path.abspath(support.BINARY))
        result = subprocess.run(["sh", "-c", shell], input=typed, env=support.clean_environment(
            TMPDIR=self.directory.name, PATH=binary + ":" + os.environ["PATH"]), capture_output=True, text=True,
                                timeout=200, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"(?m)^P1\b")
        (properties,) = blocks("properties")
        shape = re.sub(r"\d+$", "", properties.strip())
        self.assertRegex(result.stdout, "(?m)^" + re.escape(shape) + r"\d+$")
