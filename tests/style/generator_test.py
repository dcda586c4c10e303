#!/usr/bin/env python3
"""Changes a copy of the C headers, and looks at what is made of them: generator_test.py ROOT."""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop() if len(sys.argv) > 1 else ".").resolve()
sys.path.insert(0, str(ROOT / "bindings" / "generator"))

import enumerations  # noqa: E402
import generate  # noqa: E402
import headers  # noqa: E402

JAVA = Path(generate.JAVA)
CPP_PROGRAM = """#include <forelock/error.h>
#include <iostream>
int main() {
  std::cout << name_of(forelock::ErrorCode::new_code) << is_retryable(forelock::ErrorCode::new_code)
            << static_cast<int>(forelock::ErrorCode::new_code);
}
"""
JAVA_PROGRAM = """package org.forelock;
class Show {
  public static void main(String[] args) {
    System.out.print(ErrorCode.of(30) + " " + ErrorCode.NEW_CODE.retryable());
  }
}
"""
PYTHON_PROGRAM = "import errors; print(str(errors.ErrorCode(30)), errors.ErrorCode.NEW_CODE.value, end='')"


class Copy(unittest.TestCase):
    """A tree of its own, with what the generator reads and writes."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        shutil.copytree(ROOT / "include", self.root / "include")
        for file, _, _ in generate.PLACES:
            (self.root / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, self.root / file)

    def change(self, file, old, new):
        path = self.root / file
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def generate(self, *options):
        return subprocess.run([sys.executable, "-B", ROOT / "bindings/generator/generate.py", "--root", self.root,
                               *options], capture_output=True, text=True, check=False)

    def output(self, *command, cwd=None):
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True).stdout


class Generate(Copy):
    def test_as_it_is(self):
        checked = self.generate("--check")
        self.assertEqual((checked.returncode, checked.stdout), (0, ""))

    def test_a_new_code_is_in_all_languages_by_one_change(self):
        self.change("include/forelock/c_result.h", "  FL_INVALID_HANDLE =",
                    "  FL_NEW_CODE = 30,  ///< a new one; retryable\n  FL_INVALID_HANDLE =")
        self.assertEqual(self.generate().returncode, 0)
        (self.root / "show.cc").write_text(CPP_PROGRAM, encoding="utf-8")
        self.output("c++", "-std=c++20", "-I", self.root / "include", self.root / "src/records/error.cc",
                    self.root / "show.cc", "-o", self.root / "show")
        self.assertEqual(self.output(self.root / "show"), "new_code130")
        self.assertEqual(self.output(sys.executable, "-B", "-c", PYTHON_PROGRAM, cwd=self.root / generate.PYTHON),
                         "new_code 30")
        if not shutil.which("javac"):
            self.skipTest("no javac")
        (self.root / "Show.java").write_text(JAVA_PROGRAM, encoding="utf-8")
        self.output("javac", "-d", self.root / "classes", self.root / JAVA / "ErrorCode.java", self.root / "Show.java")
        self.assertEqual(self.output("java", "-cp", self.root / "classes", "org.forelock.Show"), "NEW_CODE true")

    def native(self):
        self.assertEqual(self.generate("--native", self.root / "native").returncode, 0)
        return "".join(path.read_text(encoding="utf-8") for path in sorted((self.root / "native").iterdir()))

    def test_a_new_member_crosses_to_java_by_one_change(self):
        self.change("include/forelock/c_inspector.h", "  int64_t waited_ms; ", "  int64_t age_ms;\n  int64_t waited_ms; ")
        self.assertEqual(self.generate().returncode, 0)
        java = (self.root / JAVA / "Layouts.java").read_text(encoding="utf-8")
        waiter = re.search(r"class Waiter \{(.*?)\}", java, re.DOTALL)[1]
        place = int(re.search(r"AGE_MS = (\d+);", waiter)[1])
        self.assertIn(f"WAITED_MS = {place + 1};", waiter)
        stored = re.search(r"numbers_of\(const fl_waiter& of\) \{\n  return \{(.*?)\};", self.native())[1].split(", ")
        self.assertEqual(stored[place], "static_cast<jlong>(of.age_ms)")
        self.assertIn(f"NUMBERS = {len(stored)};", waiter)

    def test_a_new_parameter_reaches_java_by_one_change(self):
        self.change("include/forelock/c.h", "fl_lock_free(fl_lock lock)", "fl_lock_free(fl_lock lock, const char* why)")
        self.assertEqual(self.generate().returncode, 0)
        self.assertIn("boolean lockFree(long lock, byte[] why);", (self.root / JAVA / "Native.java").read_text())
        self.assertIn("fl_lock_free(static_cast<fl_handle>(lock), whyText.c_str())", self.native())

    def test_every_native_method_is_there(self):
        cpp = self.native() + "".join(path.read_text(encoding="utf-8") for path
                                      in (ROOT / "bindings/java/src/main/native").glob("*.cc"))
        java = (ROOT / JAVA / "Native.java").read_text(encoding="utf-8")
        self.assertEqual(sorted(re.findall(r"Java_org_forelock_Native_(\w+)\(", cpp)),
                         sorted(re.findall(r"static native [\w\[\]]+ (\w+)\(", java)))

    def test_a_code_that_is_added_by_hand_is_found_and_goes(self):
        self.change(JAVA / "ErrorCode.java", "  LOCK_REFUSED(29", "  EXTRA(30, false),\n  LOCK_REFUSED(29")
        checked = self.generate("--check")
        self.assertEqual((checked.returncode, checked.stdout.count("\n")), (1, 1))
        self.assertIn(f"{JAVA}/ErrorCode.java: ", checked.stdout)
        self.assertEqual(self.generate().returncode, 0)
        self.assertEqual((self.root / JAVA / "ErrorCode.java").read_bytes(),
                         (ROOT / JAVA / "ErrorCode.java").read_bytes())

    def test_a_place_that_is_gone(self):
        self.change(JAVA / "LockState.java", "// generated by", "// made by")
        self.assertIn("LockState.java: has no place for fl_lock_state", self.generate().stderr)

    def test_a_gap_where_java_counts_by_itself(self):
        self.change("include/forelock/c.h", "FL_STATE_LOST = 4", "FL_STATE_LOST = 5")
        self.assertIn("counts by itself", self.generate().stderr)

    def test_an_enumeration_that_lacks_what_is_left_out(self):
        self.change("include/forelock/c_result.h", "FL_ABI_MISMATCH =", "FL_ABI_OTHER =")
        self.assertIn("fl_code has no ABI_MISMATCH", self.generate().stderr)


class Headers(unittest.TestCase):
    def test_texts_of_several_lines(self):
        read = headers.Interface("enum fl_a {\n  FL_A = 1,  ///< one\n             ///< line\n  /// before\n"
                                 "  FL_B = -2\n};\nenum fl_c { FL_C = 3 };\n")
        self.assertEqual(read.enumerations["fl_a"],
                         (headers.Entry("FL_A", 1, "one line"), headers.Entry("FL_B", -2, "before")))
        self.assertEqual(read.numbers["FL_C"], 3)

    def test_structures_and_functions(self):
        read = headers.Interface("typedef uint64_t fl_h;\ntypedef struct fl_s {\n  size_t size;  ///< of it\n"
                                 "  const char* const* ids;\n  uint64_t all[FL_N];\n} fl_s;\n"
                                 "FORELOCK_EXPORT int32_t fl_f(fl_h h,\n    const fl_s* s, size_t* n);\n"
                                 "FORELOCK_EXPORT const char* fl_g(void);\n")
        self.assertEqual([(one.type, one.name, one.count) for one in read.structures["fl_s"]],
                         [("size_t", "size", ""), ("const char* const*", "ids", ""), ("uint64_t", "all", "FL_N")])
        self.assertEqual([(one.type, one.name) for one in read.functions["fl_f"].parameters],
                         [("fl_h", "h"), ("const fl_s*", "s"), ("size_t*", "n")])
        self.assertEqual(read.functions["fl_g"], headers.Function("const char*", "fl_g", ()))
        self.assertEqual(read.handles, {"fl_h"})

    def test_sentences(self):
        self.assertEqual(enumerations.sentence("the object is closed"), "The object is closed.")


if __name__ == "__main__":
    unittest.main()
