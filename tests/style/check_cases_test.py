#!/usr/bin/env python3
"""Takes things out of a copy of the suites and expects that to be noticed."""

import sys
import tempfile
import unittest
from pathlib import Path

import check_cases

ROOT = Path(sys.argv.pop() if len(sys.argv) > 1 else ".")


class CheckCases(unittest.TestCase):
    def problems(self, file=None, old="", new=""):
        with tempfile.TemporaryDirectory() as folder:
            for name in ["tests/cases.txt", check_cases.TABLE, *(suite[0] for suite in check_cases.SUITES.values())]:
                text = (ROOT / name).read_text(encoding="utf-8")
                if name == file:
                    self.assertIn(old, text)
                    text = text.replace(old, new)
                copy = Path(folder, name)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_text(text, encoding="utf-8")
            return check_cases.check(folder)

    def refuses(self, *change, message):
        found = self.problems(*change)
        self.assertEqual(len(found), 1, found)
        self.assertIn(message, found[0])

    def test_as_they_are(self):
        self.assertEqual(self.problems(), [])

    def test_a_case_that_is_missing(self):
        missing = "has no case foreground_first"
        self.refuses("tests/integration/cases_test.cc", "TEST_F(Cases, foreground_first)", "TEST_F(Cases, x)",
                     message=missing)
        self.refuses("tests/capi/cases.c", "int foreground_first(", "int x(", message=missing)
        self.refuses("tests/python/cases_test.py", "def test_foreground_first(", "def foreground_first(", message=missing)
        java = "bindings/java/src/test/java/org/forelock/CasesTest.java"
        self.refuses(java, "  @Test\n  void foregroundFirst(", "  void foregroundFirst(", message=missing)
        self.refuses("docs/embedding.md", "| foreground_first |", "| x |", message="no row for the case")

    def test_a_case_that_is_not_run(self):
        self.refuses("tests/capi/cases.c", 'CASE(removed),', "", message="not in the list")

    def test_a_code_that_is_not_shown(self):
        self.refuses("tests/python/cases_test.py", "ErrorCode.CANCELLED", "ErrorCode.CLOSED",
                     message="does not show cancelled")


if __name__ == "__main__":
    unittest.main()
