#!/usr/bin/env python3
"""Changes a copy of the enumerations and expects that to be noticed."""

import sys
import tempfile
import unittest
from pathlib import Path

import check_codes

ROOT = Path(sys.argv.pop() if len(sys.argv) > 1 else ".")
COPIES = [file for _, _, copies in check_codes.ENUMERATIONS for file in copies]
FILES = {check_codes.HEADER, check_codes.RESULTS, check_codes.CPP_RETRYABLE, *COPIES}


class CheckCodes(unittest.TestCase):
    def problems(self, file=None, old="", new=""):
        with tempfile.TemporaryDirectory() as folder:
            for name in FILES:
                text = check_codes.read(ROOT, name)
                if name == file:
                    self.assertIn(old, text)
                    text = text.replace(old, new)
                copy = Path(folder, name)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_text(text, encoding="utf-8")
            return check_codes.check(folder)

    def test_as_they_are(self):
        self.assertEqual(self.problems(), [])

    def test_a_new_code_is_missed_in_each_language(self):
        found = self.problems(check_codes.RESULTS, "FL_INVALID_HANDLE =", "FL_NEW = 30,\n  FL_INVALID_HANDLE =")
        self.assertEqual(len(found), 3, found)
        for file in check_codes.ENUMERATIONS[0][2]:
            self.assertTrue(any(line.startswith(f"{file}: NEW is missing") for line in found), found)

    def test_a_code_of_one_language_alone(self):
        for file, old, new in [
            ("include/forelock/error.h", "lock_refused = 29 ", "lock_refused = 29,\n  extra = 30 "),
            (check_codes.JAVA + "ErrorCode.java", "OUT_OF_MEMORY(1002);", "OUT_OF_MEMORY(1002),\n  EXTRA(30);"),
            ("bindings/python/src/forelock/errors.py", "ABI_MISMATCH = 1003", "ABI_MISMATCH = 1003\n    EXTRA = 30"),
        ]:
            self.assertEqual(self.problems(file, old, new), [f"{file}: {check_codes.HEADER} has no FL_EXTRA"])

    def test_another_number(self):
        java = check_codes.JAVA + "ErrorCode.java"
        self.assertEqual(len(self.problems(java, "NO_NODE(6)", "NO_NODE(66)")), 1)
        self.assertEqual(len(self.problems("bindings/python/src/forelock/errors.py", "NO_NODE = 6", "NO_NODE = 66")), 1)
        self.assertEqual(len(self.problems("include/forelock/error.h", "no_node = 6", "no_node = 66")), 1)

    def test_another_order_where_a_language_counts(self):
        self.assertEqual(len(self.problems(check_codes.JAVA + "LockState.java", "  FREE,", "  NEW,\n  FREE,")), 6)
        self.assertEqual(len(self.problems(check_codes.JAVA + "LossReason.java", "  REMOVED,", "")), 2)
        self.assertEqual(len(self.problems("include/forelock/write_lock.h", "  held,", "  other,")), 2)

    def test_what_is_worth_a_retry(self):
        java = check_codes.JAVA + "ErrorCode.java"
        self.assertIn("OUTBOX_FULL", self.problems(java, "      case OUTBOX_FULL:\n", "")[0])

    def test_enumerations_that_are_not_found(self):
        self.assertTrue(self.problems(check_codes.HEADER, "enum fl_loss {", "enum other {"))
        self.assertTrue(self.problems("bindings/python/src/forelock/errors.py", "class ErrorCode(", "class Other("))
        self.assertTrue(self.problems(check_codes.CPP_RETRYABLE, "bool is_retryable(", "bool other("))


if __name__ == "__main__":
    unittest.main()
