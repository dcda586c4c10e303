#!/usr/bin/env python3
"""Checks that the enumerations of C++, Java and Python have the names and numbers of the C header.

These are error codes, which of them are worth a retry, the states of a lock and the reasons for its loss.
Usage: check_codes.py [ROOT]. Prints one line for each problem and exits 1 if there is one.
"""

import re
import sys
from pathlib import Path

HEADER = "include/forelock/c.h"
RESULTS = "include/forelock/c_result.h"
JAVA = "bindings/java/src/main/java/org/forelock/"
# Not in C++: the codes of the C interface alone. Not in Java: what its native library refuses while it is loaded.
OF_C_ALONE = {"INVALID_HANDLE", "OUT_OF_MEMORY", "ABI_MISMATCH"}
# Name and prefix in C; for each language the file, how it begins there, and what it lacks. Unnumbered: by their order.
ENUMERATIONS = [
    ("fl_code", "FL_", {
        "include/forelock/error.h": ("enum class ErrorCode ", OF_C_ALONE | {"OK"}),
        JAVA + "ErrorCode.java": ("public enum ErrorCode ", {"ABI_MISMATCH", "OK"}),
        "bindings/python/src/forelock/errors.py": (r"class ErrorCode\(", {"OK"}),
    }),
    ("fl_loss", "FL_LOSS_", {
        "include/forelock/lock_types.h": ("enum class LossReason ", set()),
        JAVA + "LossReason.java": ("public enum LossReason ", set()),
        "bindings/python/src/forelock/values.py": (r"class LossReason\(", set()),
    }),
    ("fl_lock_state", "FL_STATE_", {
        "include/forelock/write_lock.h": ("enum class LockState ", set()),
        JAVA + "LockState.java": ("public enum LockState ", set()),
        "bindings/python/src/forelock/values.py": (r"class LockState\(", set()),
    }),
]
CPP_RETRYABLE = "src/records/error.cc"


def read(root, file):
    return Path(root, file).read_text(encoding="utf-8")


def entries(root, file, begin, first):
    """Returns name, in capitals, to number; where a language counts by itself, from `first` on."""
    end = r"(^\}|^  (?:private|static) |\n\n\n|\Z)"
    body = re.search(rf"^{begin}.*?\n(.*?){end}", read(root, file), re.MULTILINE | re.DOTALL)
    found = re.findall(r"^ +(?:FL_)?([A-Za-z_]+)(?: = |\()?(\d+)?\)?(?: *$|[,; ] *)", body[1], re.M) if body else []
    return {name.upper(): int(number) if number else first + place for place, (name, number) in enumerate(found)}


def compare(root, name, prefix, copies):
    headers = read(root, RESULTS) + read(root, HEADER)
    header = re.search(rf"^enum {name} \{{(.*?)^\}};", headers, re.MULTILINE | re.DOTALL)
    wanted = {n: int(v) for n, v in re.findall(rf"^ +{prefix}(\w+) = (\d+)", header[1], re.M)} if header else {}
    if not wanted:
        yield f"{HEADER}: no enum {name}"
        return
    for file, (begin, lacks) in copies.items():
        has = entries(root, file, begin, min(wanted.values()))
        for entry, number in wanted.items():
            if entry not in lacks and has.get(entry) != number:
                yield f"{file}: {entry} is {has.get(entry, 'missing')}, but {prefix}{entry} is {number} in {HEADER}"
        yield from (f"{file}: {HEADER} has no {prefix}{entry}" for entry in has if entry not in wanted)


def retryable(root, file, begin, case):
    body = re.search(rf"{begin}(.*?)return true;", read(root, file), re.DOTALL)
    return {name.upper() for name in re.findall(case, body[1])} if body else set()


def check(root):
    problems = [problem for each in ENUMERATIONS for problem in compare(root, *each)]
    wanted = retryable(root, CPP_RETRYABLE, r"bool is_retryable\(", r"case ErrorCode::(\w+):")
    has = retryable(root, JAVA + "ErrorCode.java", r"boolean retryable\(", r"case (\w+):")
    if not wanted:
        problems.append(f"{CPP_RETRYABLE}: no codes that are worth a retry")
    differ = sorted(wanted ^ has)
    problems.extend(f"{JAVA}ErrorCode.java: {name} is retryable in one of C++ and Java" for name in differ)
    return problems


def main():
    problems = check(sys.argv[1] if len(sys.argv) > 1 else ".")
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problem(s)." if problems else "Codes: every language has them all.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
