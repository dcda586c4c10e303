#!/usr/bin/env python3
"""Plants each fault in a small tree of its own and expects it to be found, and nothing else."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import check_style


ROOMS = {
    "src/core/lock": "forelock_room(lock SOURCES a.cc USES forelock_room_coordination)\n"
    "  forelock_room(lock_mutation SOURCES a.cc USES forelock_room_coordination forelock_room_client)\n",
    "src/client": "forelock_room(client\n  SOURCES a.cc\n  USES forelock_room_lock Threads::Threads)\n",
    "src/base": "forelock_room(base SOURCES a.cc\n  USES Threads::Threads)\n",
}


class CheckStyle(unittest.TestCase):
    def problems(self, name, text, executable=True):
        with tempfile.TemporaryDirectory() as folder:
            for room, declaration in ROOMS.items():
                Path(folder, room).mkdir(parents=True)
                Path(folder, room, "CMakeLists.txt").write_text(declaration, encoding="utf-8")
            file = Path(folder, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            file.chmod(0o755 if executable else 0o644)
            return check_style.check(folder)

    def accepts(self, name, text):
        self.assertEqual(self.problems(name, text), [])

    def refuses(self, name, text, message, **more):
        found = self.problems(name, text, **more)
        self.assertEqual(len(found), 1, found)
        self.assertIn(message, found[0])

    def test_arrows_between_rooms(self):
        self.accepts("src/client/a.cc", '#include "lock/engine.h"\n#include "forelock/client.h"\n')
        self.refuses("src/core/lock/a.cc", '#include "client/a.h"\n', "room 'lock' may include coordination, not 'client'")
        self.refuses("src/core/lock/a.cc", '  #  include "zookeeper/a.h"\n', "not 'zookeeper'")
        self.refuses("src/base/a.cc", '#include "client/a.h"\n', "room 'base' may include no other room")
        self.refuses("examples/a.cc", '#include "client/a.h"\n', "an example includes only public headers")
        self.refuses("src/cellar/a.cc", '#include "lock/a.h"\n', "room 'cellar' is not declared")
        self.refuses("src/core/lock/a.cc", '#include "engine.h"\n', "write the room into the include")

    def test_walls_around_libraries(self):
        self.accepts("src/zookeeper/a.cc", "#include <zookeeper/zookeeper.h>\n")
        self.refuses("src/client/a.cc", "#include <zookeeper/zookeeper.h>\n", "only workload, zookeeper may include")

    def test_pure_rooms(self):
        self.accepts("src/core/lock/a.h", "#pragma once\n// not std::chrono::steady_clock::now\n#include <chrono>\n")
        self.refuses("src/core/lock/a.cc", "#include <thread>\n", "pure")
        self.refuses("src/core/lock/a.cc", "auto t = steady_clock::now();\n", "pure")

    def test_public_headers(self):
        self.accepts("include/forelock/a.h", '/// \\file\n/// What for.\n#pragma once\n#include "forelock/b.h"\n')
        self.refuses("include/forelock/a.h", "#pragma once\n", "\\file")
        self.refuses("include/forelock/a.h", "/// \\file\n", "#pragma once")
        self.refuses("include/forelock/a.h", "/// \\file\n#pragma once\n#include <spdlog/spdlog.h>\n", "must not include")
        self.accepts("include/forelock/spdlog_sink.h",
                     '/// \\file\n/// What for.\n#pragma once\n#include <spdlog/logger.h>\n#include "forelock/b.h"\n')
        self.refuses("include/forelock/spdlog_sink.h", "/// \\file\n#pragma once\n#include <fmt/core.h>\n", "must not include")
        self.refuses("include/forelock/a.h", '/// \\file\n#pragma once\n#include "forelock/spdlog_sink.h"\n',
                     "must not include")
        self.refuses("include/forelock/a.h", '/// \\file\n#pragma once\n#include "lock/engine.h"\n', "only public headers")

    def test_english(self):
        self.accepts("src/core/lock/a.h", "// The queue, and nobody else.\n#pragma once\n")
        self.refuses("src/core/lock/a.h", "// What a queue is.\n#pragma once\n", "noun")
        self.refuses("include/forelock/a.h", "/// \\file\n/// Nobody holds it.\n#pragma once\n", "'Nobody'")
        self.refuses("include/forelock/a.h", "/// \\file\n/// It cannot be right.\n#pragma once\n", "'cannot be right'")
        self.refuses("README.md", "A lock for whoever comes first.\n", "'whoever'")
        self.accepts("docs/a.md", "A lock for whoever comes first.\n")

    def test_english_of_the_command(self):
        self.accepts("command/cli/look/a.cc", 'add("Wait until it is free");  // nobody holds it\n')
        self.refuses("command/cli/look/a.cc", 'add("Wait until nobody holds it");\n', "'nobody'")
        self.refuses("command/cli/a.cc", 'add("a \\"b\\" that nobody holds");\n', "'nobody'")
        self.refuses("src/config/option_table.cc", '"Open to everybody."\n', "'everybody'")

    def test_length(self):
        self.accepts("src/core/lock/a.cc", "\n" * 400)
        self.accepts("tests/unit/a.cc", "\n" * 401)
        self.accepts("bindings/java/src/test/java/A.java", "\n" * 401)
        for file in ("src/core/lock/a.cc", "bindings/java/src/main/java/A.java", "bench/a.py"):
            self.refuses(file, "\n" * 401, "401 lines")
        self.accepts("src/core/lock/a.cc", "/" * 120 + "\n")
        self.refuses("src/core/lock/a.cc", "/" * 121 + "\n", "121 characters")

    def test_functions(self):
        body = "\n" * 58
        for head in ("void A::f(int (*g)(int)) const {", "A::A() : a_{1}, b_(2) {", "template <class T>\nT f(T t) {"):
            self.accepts("src/base/a.cc", f"namespace a {{\n{head}\n{body}}}\n}}\n")
            self.refuses("src/base/a.cc", f"namespace a {{\n{head}\n\n{body}}}\n}}\n", "61 lines; at most 60")
        java = "@Table(name = \"}\")\npublic final class A {\n  static int f(int a) throws E {\n%s}\n}\n"
        self.accepts("bindings/java/src/main/java/A.java", java % body)
        self.refuses("bindings/java/src/main/java/A.java", java % (body + "\n"), "function f has 61 lines")
        python = "class A:\n    def f(self):\n%s        return 0\n"
        self.accepts("bench/a.py", python % body)
        self.refuses("bench/a.py", python % (body + "\n"), "function f has 61 lines")

    def test_functions_that_are_none(self):
        rows = "    {1, f(2)},\n" * 60
        self.accepts("src/base/a.cc", "constexpr std::array<A, count(3)> table{{\n" + rows + "}};\n")
        self.accepts("src/base/a.cc", "class A {\n" + "  int f() const { return 1; }\n" * 61 + "};\n")
        generated = "  // generated by a.py: names\n" + rows + "  // end of what is generated\n"
        self.accepts("src/base/a.cc", "int f() {\n" + generated + "}\n")
        macro = "#define A \\\n  1\n"
        self.refuses("src/base/a.cc", generated + macro + "int f() {\n" + "\n" * 59 + "}\n", "a.cc:65: function f has 61")
        self.accepts("tests/unit/a.cc", "int f() {\n" + rows.replace("{", "").replace("}", "") + "}\n")

    def test_classes(self):
        fields = "  int a_ = f(1);\n  std::function<void(int)> b_{f(1)};\n" * 15
        others = "  void f(int a = 0);\n  A& operator=(const A&) = delete;\n  static int c;\n  using B = int;\n  B g() { return {}; }\n"
        self.accepts("src/base/a.cc", "class A final : public B {\n" + others + " private:\n" + fields + "};\n")
        self.refuses("src/base/a.cc", "struct A {\n" + fields + "  int c;\n};\n", "class A has 31 fields; at most 30")
        grouped = "struct A {\n" + fields + "  struct {\n    int d;\n  } c;\n};\n"
        self.refuses("src/base/a.cc", grouped, "class A has 31 fields")
        init = "class A:\n    def __init__(self):\n" + "".join(f"        self.a{i} = {i}\n" for i in range(31))
        self.refuses("bench/a.py", init, "31 fields")

    def test_text(self):
        self.refuses("src/core/lock/a.cc", "int a; \n", "white space")
        self.refuses("src/core/lock/a.cc", "\tint a;\n", "tab")
        self.refuses("src/core/lock/a.cc", "int a;", "newline")
        self.refuses("src/core/lock/a.cc", "int a;\r\n", "carriage return")
        self.refuses("src/core/lock/a.cc", "// TODO: later\n", "unfinished")
        self.accepts("tests/a.cc", 'auto name = "/tmp/test-XXXXXX";\n')

    def test_sleep(self):
        self.accepts("src/client/a.cc", "std::this_thread::sleep_for(1ms);\n")
        self.refuses("tests/unit/a.cc", "std::this_thread::sleep_for(1ms);\n", "waits for a condition")
        self.refuses("tests/a.py", "time.sleep(1)\n", "waits for a condition")
        self.refuses("tests/a.sh", "#!/usr/bin/env bash\nset -euo pipefail\nsleep 1\n", "waits for a condition")

    def test_scripts(self):
        self.accepts("scripts/a.sh", "#!/usr/bin/env bash\nset -euo pipefail\ntrue\n")
        self.refuses("scripts/a.sh", "#!/usr/bin/env bash\ntrue\n", "set -euo pipefail")
        self.refuses("scripts/a.sh", "#!/bin/bash\nset -euo pipefail\n", "#!/usr/bin/env bash")
        self.refuses("scripts/a.sh", "#!/usr/bin/env bash\nset -euo pipefail\nif\n", "bash -n")
        self.refuses("scripts/a.sh", "#!/usr/bin/env bash\nset -euo pipefail\n", "not executable", executable=False)

    def test_scripts_that_have_changed(self):
        with tempfile.TemporaryDirectory() as folder:
            def git(*words):
                subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words], cwd=folder,
                               check=True, capture_output=True)

            def wrong():
                problems = check_style.check(folder, check_style.is_changed(folder))
                return sorted(problem.partition(":")[0] for problem in problems)

            git("init")
            Path(folder, "scripts").mkdir()
            Path(folder, "scripts/old.sh").write_text("#!/bin/bash\nset -euo pipefail\n", encoding="utf-8")
            Path(folder, "scripts/old.sh").chmod(0o755)
            git("add", ".")
            git("commit", "--message", "old")
            self.assertEqual(wrong(), [])
            shutil.copy(Path(folder, "scripts/old.sh"), Path(folder, "scripts/new.sh"))
            self.assertEqual(wrong(), ["scripts/new.sh"])
            Path(folder, "scripts/lib.sh").write_text("#!/usr/bin/env bash\nset -euo pipefail\n", encoding="utf-8")
            self.assertEqual(wrong(), ["scripts/new.sh", "scripts/old.sh"])

    def test_links(self):
        self.accepts("docs/a.md", "[here](a.md) [there](https://zookeeper.apache.org/) [below](#below)\n")
        self.refuses("docs/a.md", "[gone](gone.md#part)\n", "does not exist")

    def test_sources_that_a_document_names(self):
        self.accepts("docs/a.md", "`gone.cc`, `src/*/gone.cc`, `src/base/gone.cc FILE`, `gone/`\n")
        self.refuses("docs/a.md", "`src/base/gone.cc`\n", "src/base/gone.cc does not exist")


if __name__ == "__main__":
    unittest.main()
