#!/usr/bin/env python3
"""Checks that the suites of all languages have the cases of tests/cases.txt, and mention the codes of each.

Usage: check_cases.py [ROOT]. Prints one line for each problem and exits 1 if there is one.
"""

import re
import sys
from pathlib import Path


def camel(name):
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


# The file, what a case begins and ends with, and, if that alone does not make it run, what does besides.
SUITES = {
    "C++": ("tests/integration/cases_test.cc", lambda name: rf"^TEST_F\(Cases, {name}\)", r"^\}", None),
    "C": ("tests/capi/cases.c", lambda name: rf"^static int {name}\(", r"^\}", lambda name: f"CASE({name})"),
    "Java": (
        "bindings/java/src/test/java/org/forelock/CasesTest.java",
        lambda name: rf"^  @Test\n  void {camel(name)}\(",
        r"^  \}",
        None,
    ),
    "Python": ("tests/python/cases_test.py", lambda name: rf"^def test_{name}\(", r"\n\n\n", None),
}
# What holds in the documentation as well.
TABLE = "docs/embedding.md"


def cases(root):
    for line in Path(root, "tests/cases.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, *codes = line.split()
            yield name, codes


def body(text, begin, end):
    """The text between the two; nothing if it does not begin."""
    found = re.search(begin, text, re.MULTILINE)
    if not found:
        return None
    return re.split(end, text[found.end() :], maxsplit=1, flags=re.MULTILINE)[0]


def bare(text):
    """Letters alone, so that lock_timeout, LOCK_TIMEOUT and LockTimeout are the same."""
    return re.sub(r"[^a-z]", "", text.lower())


def check(root):
    problems = []
    wanted = dict(cases(root))
    if not wanted:
        problems.append("tests/cases.txt: there is no case")
    for language, (file, begin, end, listed) in SUITES.items():
        text = Path(root, file).read_text(encoding="utf-8")
        for name, codes in wanted.items():
            part = body(text, begin(name), end)
            if part is None:
                problems.append(f"{file}: {language} has no case {name}")
                continue
            if listed and listed(name) not in text:
                problems.append(f"{file}: the case {name} is not in the list of what is run")
            said = bare(part)
            problems.extend(f"{file}: the case {name} does not show {code}" for code in codes if bare(code) not in said)
    rows = set(re.findall(r"^\| (\w+) \|", Path(root, TABLE).read_text(encoding="utf-8"), re.MULTILINE))
    problems.extend(f"{TABLE}: no row for the case {name}" for name in wanted if name not in rows)
    return problems


def main():
    problems = check(sys.argv[1] if len(sys.argv) > 1 else ".")
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problem(s)." if problems else "Cases: every language has them all.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
