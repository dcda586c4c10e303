#!/usr/bin/env python3
"""Compiles every ```cpp and ```c block of the documentation: compile_snippets.py ROOT CXX.

A block of C is a program. Of C++, a block with a main function is a program; any other becomes the body of a function,
with snippet_context.h before it. Errors name the line of the document.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

DOCUMENTS = ["README.md", "docs/tutorial.md", "docs/embedding.md", "docs/operating.md"]
BLOCK = re.compile(r"^```cpp\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
C_BLOCK = re.compile(r"^```c\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
C_FLAGS = ["-x", "c", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]


def sources(root):
    """Yields the compiler's arguments and a program: for each block with a main, and for all others of a document."""
    for document in DOCUMENTS:
        text = (root / document).read_text(encoding="utf-8")
        bodies = ""
        for match in BLOCK.finditer(text):
            line = text.count("\n", 0, match.start("code")) + 1
            located = f'#line {line} "{document}"\n{match["code"]}'
            if "int main(" in match["code"]:
                yield FLAGS, located
            else:
                bodies += f"void snippet_{line}([[maybe_unused]] forelock::Client& client) {{\n{located}}}\n"
        if bodies:
            yield FLAGS, f'#include "snippet_context.h"\n{bodies}'
        for match in C_BLOCK.finditer(text):
            line = text.count("\n", 0, match.start("code")) + 1
            yield C_FLAGS, f'#line {line} "{document}"\n{match["code"]}'


def main():
    root, compiler = Path(sys.argv[1]).resolve(), sys.argv[2]
    failed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for count, (flags, source) in enumerate(sources(root), 1):
            file = Path(folder, f"snippet{count}.cc")
            file.write_text(source, encoding="utf-8")
            command = [compiler, *flags, f"-I{root}/include", f"-I{root}/tests/docs", str(file)]
            failed += subprocess.run(command, check=False).returncode != 0
    print(f"{count} programs made of snippets, {failed} do not compile.")
    return 1 if failed or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
