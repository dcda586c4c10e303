"""What scripts/evidence.py takes for due, and what it records: evidence_test.py ROOT."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(sys.argv.pop(1)) / "scripts" / "evidence.py"


class EvidenceTest(unittest.TestCase):
    """In a repository of its own, with the parts "lock" and "page"."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        spec = importlib.util.spec_from_file_location("evidence", SOURCE)
        self.evidence = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.evidence)
        self.evidence.ROOT = self.root
        self.evidence.PARTS = {
            "lock": ("the lock", ["src/lock"], [["echo", '{"schedules":7}']], self.evidence.json_line),
            "page": ("the page", ["docs/page"], [["false"]], self.evidence.json_line),
        }
        for name, value in {"NAME": "A", "EMAIL": "a@example.org"}.items():
            os.environ[f"GIT_AUTHOR_{name}"] = os.environ[f"GIT_COMMITTER_{name}"] = value
        self.git("init", "-q")
        self.write("src/lock/engine.cc", "1")
        self.write("docs/page/page.md", "1")
        self.write("docs/evidence.md", "Before\n" + self.evidence.BEGIN + self.evidence.END + "Behind\n")
        self.commit()

    def git(self, *arguments):
        subprocess.run(["git", *arguments], cwd=self.root, check=True)

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text, encoding="utf-8")

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-qm", "a change")

    def due(self):
        record = self.evidence.load()
        return {name: why for name in self.evidence.PARTS if (why := self.evidence.changed(name, record))}

    def test_a_part_that_has_passed_is_not_due_until_what_it_covers_changes(self):
        self.assertEqual(self.due(), {"lock": ["never recorded"], "page": ["never recorded"]})
        self.assertTrue(self.evidence.prove("lock"))
        self.commit()
        self.assertNotIn("lock", self.due())
        self.write("docs/page/page.md", "2")
        self.commit()
        self.assertNotIn("lock", self.due())
        self.write("src/lock/engine.cc", "2")
        self.commit()
        self.assertEqual(self.due()["lock"], ["src/lock"])

    def test_the_same_files_under_another_commit_are_not_due(self):
        self.assertTrue(self.evidence.prove("lock"))
        record = json.loads((self.root / "docs/evidence.json").read_text(encoding="utf-8"))
        record["lock"]["commit"] = "0" * 12
        self.write("docs/evidence.json", json.dumps(record))
        self.assertNotIn("lock", self.due())

    def test_a_part_that_fails_is_not_recorded(self):
        self.assertFalse(self.evidence.prove("page"))
        self.assertEqual(self.evidence.load(), {})

    def test_what_is_not_committed_is_not_recorded(self):
        self.write("src/lock/engine.cc", "2")
        self.assertTrue(self.evidence.prove("lock"))
        self.assertEqual(self.evidence.load(), {})

    def test_the_page_shows_the_counts(self):
        self.assertTrue(self.evidence.prove("lock"))
        page = (self.root / "docs/evidence.md").read_text(encoding="utf-8")
        self.assertTrue(page.startswith("Before\n") and page.endswith("Behind\n"))
        self.assertRegex(page, r"\| `lock` \| the lock \| .* \| schedules: 7 \|")


if __name__ == "__main__":
    unittest.main()
