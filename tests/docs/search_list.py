#!/usr/bin/env python3
"""
The table of which tests of tests/opensearch run on which search engine: search_list.py ROOT [--write].

It is made of what CMake runs and of what the tests say that they need. Without --write it is compared with the one in
docs/evidence.md; exit 1 if that is another one, or if an engine is left without a file that another one has.
"""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(sys.argv[1])
TESTS = ROOT / "tests" / "opensearch"
PAGE = ROOT / "docs" / "evidence.md"
BEGIN, END = "<!-- from tests/opensearch -->\n", "<!-- end of tests/opensearch -->\n"
CALL = re.compile(r"(forelock_search_(?:test|list))\(([^)]*?)\s*\)", re.DOTALL)


def runs():
    """By engine and version the files that are run, as CMake has it; parts of them that -k names do not count."""
    text = "\n".join(line for line in (TESTS / "CMakeLists.txt").read_text().splitlines()
                     if not line.lstrip().startswith("#"))
    variables = {name: value.split() for name, value in re.findall(r"set\((\w+) ([^)\"$]*_test\.py[^)]*)\)", text)}

    def words(arguments):
        found = []
        for word in arguments.split():
            inner = re.fullmatch(r"\$\{(\w+)\}", word)
            found += variables.get(inner[1], [word]) if inner else [word]
        return found

    function = re.search(r"function\(forelock_search_list .*?endfunction\(\)", text, re.DOTALL)[0]
    of_list = [word for _, arguments in CALL.findall(function) for word in words(arguments) if word.endswith(".py")]
    ran = {}
    for kind, arguments in CALL.findall(text.replace(function, "")):
        given = words(arguments)
        if len(given) < 4 or given[2] not in ("opensearch", "elasticsearch") or "-k" in given:
            continue
        files = of_list if kind.endswith("list") else [word for word in given[4:] if word.endswith(".py")]
        ran.setdefault((given[2], given[3]), set()).update(files)
    return ran


def has():
    """By engine its features, as tests/opensearch/cluster.py has them."""
    tree = ast.parse((TESTS / "cluster.py").read_text())
    value = next(node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "HAS")
    return {ast.literal_eval(key): set() if isinstance(entry, ast.Call) else ast.literal_eval(entry)
            for key, entry in zip(value.value.keys, value.value.values)}


def needed(call):
    is_one = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "needs"
    return {argument.value for argument in call.args} if is_one else set()


def tests_of(file):
    """What each of its tests needs."""
    tree = ast.parse((TESTS / file).read_text())
    every = set()
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "pytestmark":
            every = needed(node.value)
    return [every.union(*map(needed, node.decorator_list)) for node in tree.body
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]


def table():
    ran, features = runs(), has()
    files = sorted({file for some in ran.values() for file in some})
    engines = sorted(ran, key=lambda one: (one[0] != "opensearch", [int(part) for part in one[1].split(".")]))
    names = {"opensearch": "OpenSearch", "elasticsearch": "Elasticsearch"}
    lines = ["| file | tests | " + " | ".join(f"{names[engine]} {version}" for engine, version in engines) + " |",
             "|---|---|" + "---|" * len(engines)]
    missing = []
    for file in files:
        tests = tests_of(file)
        cells = []
        for engine, version in engines:
            lacks = {"roles"} if (engine, version[:2]) == ("elasticsearch", "7.") else set()  # as cluster.py has it
            count = sum(not one - (features[engine] - lacks) for one in tests)
            if file not in ran[engine, version] and count:
                missing.append(f"{engine} {version} does not run {file}")
            cells.append("all" if count == len(tests) else str(count) if count else "–")
        lines.append(f"| `{file}` | {len(tests)} | " + " | ".join(cells) + " |")
    unused = {path.name for path in TESTS.glob("*_test.py")} - set(files)
    missing += [f"nothing runs {file}" for file in sorted(unused)]
    return "\n".join(lines) + "\n", missing


def main():
    made, missing = table()
    page = PAGE.read_text()
    before, _, rest = page.partition(BEGIN)
    was, _, after = rest.partition(END)
    for one in missing:
        print(one)
    if "--write" in sys.argv:
        PAGE.write_text(before + BEGIN + made + END + after)
    elif was != made:
        print(f"the table in {PAGE} is not what is run: python3 tests/docs/search_list.py . --write")
        missing.append("")
    sys.exit(bool(missing))


if __name__ == "__main__":
    main()
