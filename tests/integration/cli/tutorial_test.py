"""The tutorial's first page, copied: its commands run, and its program is compiled and started, as it says."""

import os
import re
import shlex
import subprocess

import support

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
LIBRARY = os.environ.get("FORELOCK_LIBRARY", "")
COMPILER = os.environ.get("FORELOCK_CXX", "c++")
FLAGS = shlex.split(os.environ.get("FORELOCK_CXX_FLAGS", ""))


def first_page():
    """Up to the end of the first lock's section."""
    with open(os.path.join(ROOT, "docs", "tutorial.md"), encoding="utf-8") as file:
        text = file.read()
    return text[text.index("## A server to play with"):text.index("## The two classes")]


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", first_page(), re.MULTILINE | re.DOTALL)


class Tutorial(support.CliTest):
    def setUp(self):
        super().setUp()
        program = next(block for block in blocks("cpp") if "int main(" in block)
        source = self.write("program.cc", program)
        compiled = subprocess.run([COMPILER, *FLAGS, "-std=c++20", "-I" + os.path.join(ROOT, "include"), source, "-o",
                                   self.path("program"), LIBRARY, "-Wl,-rpath," + os.path.dirname(LIBRARY)],
                                  capture_output=True, text=True, check=False)
        self.assertEqual(compiled.returncode, 0, compiled.stderr)

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


if __name__ == "__main__":
    support.main()
