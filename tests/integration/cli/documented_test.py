"""The commands of README.md and of the runbook, run as they stand there, with scripts that read their stdin."""

import os
import re
import subprocess
import unittest

import dlq_support
import support

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
SCRIPT = """#!/bin/sh
[ -e cluster-is-up ] || exit 75
cat > read.tmp
grep -qx '{"rev":1}' read.tmp || exit 3
echo "$FORELOCK_MONITOR" >> propagated
"""


def document(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


class Documented(dlq_support.DlqTest):
    def setUp(self):
        super().setUp()
        os.chmod(self.write("propagate.sh", SCRIPT), 0o755)
        for name in ("a.json", "article.json"):
            self.write(name, '{"rev":1}')
        self.write("forelock.properties", f"zookeeper.servers={self.connect_string()}\n"
                   f"dlq.outbox.path={self.outbox}\nelastic.request.retry.count=1\n")

    def shell(self, line):
        environment = support.clean_environment(
            PATH=os.path.dirname(os.path.abspath(support.BINARY)) + ":" + os.environ["PATH"],
            FORELOCK_CONFIG=self.path("forelock.properties"))
        return subprocess.run(["sh", "-c", line], env=environment, cwd=self.directory.name, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, check=False)

    def run_and_replay(self, run, replay):
        result = self.shell(run)
        self.assertEqual(result.returncode, 79, result.stderr)
        self.write("cluster-is-up", "")
        result = self.shell(replay)
        self.assertEqual((result.returncode, self.lines_of("propagated")), (0, []), result.stderr)
        self.assertIn("Would replay 1 letter", result.stdout)
        result = self.shell(result.stdout.strip().splitlines()[-1])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(self.lines_of("propagated")), 1)
        self.assertEqual(self.ids(), [])

    def test_readme(self):
        lines = re.findall(r"^\$ (forelock .*)$", document("README.md"), re.MULTILINE)
        self.assertEqual([line.split()[1] for line in lines], ["dev", "run", "show"])
        dev, run, show = lines
        os.chmod(self.write("save.sh", "#!/bin/sh\ncat > /dev/null\n"), 0o755)
        for line in (dev, run):
            result = self.shell(line)
            self.assertEqual(result.returncode, 0, line + ": " + result.stderr)
        self.hold("P1")
        result = self.shell(show)
        self.assertEqual(result.returncode, 0, result.stderr)
        # The command that stands at the end takes the lock away.
        (take,) = [line.split(": ", 2)[2] for line in result.stderr.splitlines() if "to take it away" in line]
        self.assertEqual(self.shell(take).returncode, 0, take)

    def test_runbook_in_one_minute(self):
        text = document("docs/dead-letters.md")
        lines = re.search(r"## In one minute\n\n```sh\n(.*?)```", text, re.DOTALL).group(1).strip().splitlines()
        result = self.shell("forelock run --retry -m P1 -p background --payload a.json -- ./propagate.sh")
        self.assertEqual(result.returncode, 79, result.stderr)
        (identity,) = self.ids()
        self.write("cluster-is-up", "")
        done = []
        for line in lines:
            line = line.replace("ID", identity).replace("CMD", "./propagate.sh --stdin payload")
            result = self.shell(line.replace("lock_timeout", "exit_75"))
            self.assertEqual(result.returncode, 0, line + ": " + result.stderr)
            done.append(line.split()[2])
        self.assertEqual(done, ["stats", "list", "show", "replay", "replay"])
        self.assertEqual((self.ids(), self.lines_of("propagated")), ([], ["P1"]))

    def test_runbook(self):
        lines = re.findall(r"^\$ (forelock .*)$", document("docs/dead-letters.md"), re.MULTILINE)
        (run,) = [line for line in lines if " run --retry " in line]
        replay = next(line for line in lines if " dlq replay " in line and "--execute" not in line)
        self.run_and_replay(run, replay)
        for line in lines:
            result = self.shell(line)
            self.assertNotIn(result.returncode, (64, 70, 126, 127), line + ": " + result.stderr)
