#!/usr/bin/env python3
"""Checks what a compiler does not: who may include whom, how long a file may be, and a few habits.

Usage: check_style.py [ROOT [--changed]]. Prints one line for each problem and exits 1 if there is one. With --changed
only scripts that differ from HEAD are checked as such. The rules are the tables and the check_* functions below;
docs/architecture.md has the reasons for the arrows between rooms.
"""

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
import sizes  # noqa: E402

MAX_LINE = 120
MAX_FILE = 400
MOST = {"function": (60, "lines"), "class": (30, "fields")}

# Which rooms a room may include besides itself: those that its CMakeLists.txt links. include/forelock is open to all.
ROOM = re.compile(r"\bforelock_room\((?P<name>\w+)(?P<rest>[^)]*)\)")
USED = re.compile(r"\bforelock_room_(\w+)")

# Libraries with a wall around them: only these rooms may include their headers.
WALLS = {
    re.compile(r"<zookeeper[./]"): {"workload", "zookeeper"},
    re.compile(r"<openssl/"): {"web", "zookeeper"},
    re.compile(r"<yaml-cpp/"): {"config"},
    re.compile(r"<CLI/"): {"cli"},
    re.compile(r"<spdlog/"): {"cli"},
    re.compile(r"<sqlite3"): {"outbox"},
    re.compile(r"<librdkafka/"): {"kafka"},
    re.compile(r"<curl/"): {"http"},
    re.compile(r"<boost/"): {"web"},
    re.compile(r"<prometheus/"): {"cli"},
}

# What the pure protocol must not touch: it is told the time and never waits.
IMPURE = re.compile(
    r"#include <(thread|mutex|shared_mutex|condition_variable|future|random|iostream|fstream|unistd\.h|sys/.*)>"
    r"|_clock::now\b|\bgetenv\b|#include \"base/thread_start\.h\""
)
PURE = Path("src/core")

SLEEP = re.compile(r"\bsleep_(for|until)\b|\b(u|nano)?sleep\s*\(|\btime\.sleep\b|\bThread\.sleep\b")
# The places that poll, one a language, for conditions that nothing announces; and workloads in which time is to pass.
POLLING = {
    Path("tests/support/wait_until.h"),
    Path("tests/integration/cli/support.py"),
    Path("bench/peers/kazoo_worker.py"),
}
SHELL_SLEEP = re.compile(r"^\s*sleep\b|[;&|]\s*sleep\b")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?P<what>"[^"]+"|<[^>]+>)')
# Public headers for programs that have such a library; no other public header includes them.
ADAPTERS = {"spdlog_sink.h": re.compile(r"<spdlog/")}
FOREIGN_IN_PUBLIC = re.compile(r"zookeeper\.h|rdkafka|spdlog|fmt/|yaml-cpp|nlohmann|boost/|CLI/|sqlite")
MARKDOWN_LINK = re.compile(r"\]\((?P<target>[^)#\s]+)(#[^)\s]*)?\)")
# A source file by its path: in the repository, or as it is included.
NAMED_SOURCE = re.compile(r"`(?P<path>[\w.-]+(/[\w.-]+)+\.(c|cc|h|java|py|sh))`")

# Plain English: a header begins with the name of the thing. Public headers, README and the texts that the command prints
# speak of contenders, callers and operators.
QUESTION = re.compile(r"// (What|Who|Whom|Which|How|Where|When|Whether)\b")
VAGUE = re.compile(
    r"\b(somebody|nobody|everybody|whoever|whom|mended|in one breath|cannot be right|no more than so many|so many looks)\b",
    re.IGNORECASE,
)
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')

CODE = {".h", ".cc", ".c", ".java", ".py", ".sh", ".cmake"}
OURS = Path("tests/style")


class Tree:
    """The files under a root as lines, and the problems found in them."""

    def __init__(self, root):
        self.root = Path(root).resolve()
        self.problems = []
        self.arrows = {}
        for name in self.files():
            if name.name == "CMakeLists.txt" and room_of(name):
                self.read_arrows(name)

    def read_arrows(self, name):
        text = (self.root / name).read_text(encoding="utf-8")
        for room in ROOM.finditer(text):
            if room["name"] == room_of(name):
                self.arrows[room["name"]] = set(USED.findall(room["rest"].partition("USES")[2]))

    def files(self):
        listed = subprocess.run(
            ["git", "-C", str(self.root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True,
            check=False,
        )
        if listed.returncode == 0:
            names = {Path(name) for name in listed.stdout.decode().split("\0") if name}
        else:  # an unpacked archive: there is no list of what belongs to it, so take all but what is built
            names = {path.relative_to(self.root) for path in self.root.rglob("*") if path.is_file()}
            names = {name for name in names if name.parts[0] not in {"build", ".git"}}
        return sorted(name for name in names if (self.root / name).is_file())

    def report(self, name, line, message):
        self.problems.append(f"{name}:{line}: {message}")


def is_code(name):
    return name.suffix in CODE or name.name == "CMakeLists.txt"


def room_of(name):
    """The room that a file belongs to: the folder below one of these."""
    if {"java", "python"} & set(name.parts[:2]):
        return None
    for above in (PURE, Path("src"), Path("dlq"), Path("bindings"), Path("command")):
        if above in name.parents and len(name.parts) > len(above.parts) + 1:
            return name.parts[len(above.parts)]
    return None


def check_text(tree, name, raw, lines):
    if b"\r" in raw:
        tree.report(name, 1, "has carriage returns")
    if raw and not raw.endswith(b"\n"):
        tree.report(name, len(lines), "does not end with a newline")
    code = is_code(name)
    for number, line in enumerate(lines, 1):
        if code and len(line) > MAX_LINE:
            tree.report(name, number, f"line of {len(line)} characters; at most {MAX_LINE}")
        if code and line != line.rstrip(" "):
            tree.report(name, number, "white space at the end of the line")
        if code and "\t" in line:
            tree.report(name, number, "tab")
        if UNFINISHED.search(line):
            tree.report(name, number, "mark of unfinished work")


def check_length(tree, name, lines):
    if name.parts[0] in {"tests", "third_party"} or "test" in name.parts or not is_code(name):
        return
    if len(lines) > MAX_FILE:
        tree.report(name, len(lines), f"{len(lines)} lines; at most {MAX_FILE}: a file has one reason to change")
    for kind, part, line, size in sizes.sizes(name, "\n".join(lines)):
        most, unit = MOST[kind]
        if size > most:
            tree.report(name, line, f"{kind} {part} has {size} {unit}; at most {most}")


def check_header(tree, name, lines):
    if name.suffix != ".h":
        return
    if "#pragma once" not in lines and name.parts[:2] != ("tests", "package"):
        tree.report(name, 1, "no #pragma once")
    for number, line in enumerate(lines, 1):
        if re.match(r"\s*using namespace\b", line):
            tree.report(name, number, "using namespace in a header")
    if name.parts[0] == "include" and not (lines and lines[0].startswith("/// \\file")):
        tree.report(name, 1, "a public header begins with /// \\file and what it is for")


def check_includes(tree, name, lines):
    room = room_of(name)
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        what = match["what"]
        if name.parts[0] == "include":
            adapted = name.name in ADAPTERS and ADAPTERS[name.name].match(what)
            if FOREIGN_IN_PUBLIC.search(what) and not adapted:
                tree.report(name, number, f"a public header must not include {what}")
            if what.startswith('"') and not what.startswith('"forelock/'):
                tree.report(name, number, f"a public header includes only public headers, not {what}")
        if name.parts[0] == "examples" and what.startswith('"') and not what.startswith('"forelock/'):
            tree.report(name, number, f"an example includes only public headers, not {what}")
        if room is None:
            continue
        for wall, rooms in WALLS.items():
            if wall.search(what) and room not in rooms:
                tree.report(name, number, f"only {', '.join(sorted(rooms))} may include {what}")
        target = what.strip('"').split("/")[0]
        if what.startswith('"') and target not in {room, "forelock"}:
            if "/" not in what:
                tree.report(name, number, f"write the room into the include: \"{room}/{what.strip(chr(34))}\"")
            elif room not in tree.arrows:
                tree.report(name, number, f"room '{room}' is not declared by forelock_room() in its CMakeLists.txt")
            elif target not in tree.arrows[room]:
                allowed = ", ".join(sorted(tree.arrows[room])) or "no other room"
                tree.report(name, number, f"room '{room}' may include {allowed}, not '{target}'")


def is_read_by_users(name):
    return name.parts[0] == "include" or name == Path("README.md")


def has_texts_for_users(name):
    return name.parts[:2] == ("command", "cli") or name == Path("src/config/option_table.cc")


def check_english(tree, name, lines):
    if name.suffix == ".h" and lines and QUESTION.match(lines[0]):
        tree.report(name, 1, "begin with a noun that names the thing, not with a question")
    for number, line in enumerate(lines, 1):
        if has_texts_for_users(name):
            line = " ".join(QUOTED.findall(line))
        elif not is_read_by_users(name):
            return
        if word := VAGUE.search(line):
            tree.report(name, number, f"say it plainly: a contender, a caller, an operator, invalid; not '{word[0]}'")


def check_purity(tree, name, lines):
    if PURE not in name.parents:
        return
    for number, line in enumerate(lines, 1):
        if IMPURE.search(line.split("//")[0]):
            tree.report(name, number, "the protocol is pure: no threads, no I/O, no clock, no randomness")


def check_sleep(tree, name, lines):
    if name.parts[0] not in {"tests", "bench"} or not is_code(name) or name in POLLING:
        return
    pattern = SHELL_SLEEP if name.suffix == ".sh" else SLEEP
    for number, line in enumerate(lines, 1):
        if pattern.search(line):
            tree.report(name, number, "a test waits for a condition, never for time to pass")


def check_script(tree, name, lines):
    if lines[0] != "#!/usr/bin/env bash":
        tree.report(name, 1, "scripts begin with #!/usr/bin/env bash")
    if not any(line in ("set -euo pipefail", 'source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"') for line in lines):
        tree.report(name, 1, "no set -euo pipefail (nor lib.sh, which sets it)")
    if name.name != "lib.sh" and not os.access(tree.root / name, os.X_OK):
        tree.report(name, 1, "not executable")
    syntax = subprocess.run(["bash", "-n", str(tree.root / name)], capture_output=True, text=True, check=False)
    if syntax.returncode != 0:
        tree.report(name, 1, f"bash -n: {syntax.stderr.strip()}")
    elif shutil.which("shellcheck"):
        # By its relative name, so that "source-path=SCRIPTDIR" and the messages mean what they say.
        lint = subprocess.run(
            ["shellcheck", "-x", "-f", "gcc", str(name)], cwd=tree.root, capture_output=True, text=True, check=False
        )
        tree.problems.extend(lint.stdout.splitlines())


def check_links(tree, name, lines):
    if name.suffix != ".md":
        return
    for number, line in enumerate(lines, 1):
        for match in MARKDOWN_LINK.finditer(line):
            target = match["target"]
            if re.match(r"[a-z]+:", target):
                continue
            if not (tree.root / name.parent / target).exists():
                tree.report(name, number, f"link to {target}, which does not exist")
        for match in NAMED_SOURCE.finditer(line):
            if not any((tree.root / folder / match["path"]).exists() for folder in ("", "include", name.parent)):
                tree.report(name, number, f"{match['path']} does not exist")


def is_changed(root):
    """A function that says whether a file, or what all scripts share, differs from HEAD."""
    listed = subprocess.run("git diff --name-only HEAD && git ls-files --others --exclude-standard", shell=True,
                            cwd=root, capture_output=True, text=True, check=True)
    names = set(listed.stdout.splitlines())
    return lambda name: str(name) in names or "scripts/lib.sh" in names


def check(root, linted=lambda name: True):
    """`linted`: which scripts are checked as such, by shellcheck, too, which takes most of the time."""
    tree = Tree(root)
    scripts = []
    for name in tree.files():
        raw = (tree.root / name).read_bytes()
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            continue  # not text
        if b"\0" in raw or name.parts[:3] == ("tests", "fuzz", "corpus"):
            continue
        lines = text.split("\n")
        if lines and lines[-1] == "":
            lines.pop()
        check_length(tree, name, lines)
        check_header(tree, name, lines)
        check_includes(tree, name, lines)
        check_purity(tree, name, lines)
        check_english(tree, name, lines)
        check_links(tree, name, lines)
        if lines and re.match(r"#!.*\b(ba)?sh\b", lines[0]) and linted(name):
            scripts.append((name, lines))
        if OURS not in name.parents:  # this folder names what it looks for
            check_text(tree, name, raw, lines)
            check_sleep(tree, name, lines)
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # they wait for other programs
        list(pool.map(lambda script: check_script(tree, *script), scripts))
    return tree.problems


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    problems = check(root, is_changed(root)) if "--changed" in sys.argv else check(root)
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problem(s)." if problems else "Style: nothing to complain about.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
