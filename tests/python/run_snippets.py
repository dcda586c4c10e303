"""Runs each ```python block of documents with the installed package: run_snippets.py SERVER-HOST ENVIRONMENT DOCUMENT…

Each block is a program of its own, in a folder with the settings file that the documents name.
"""

import importlib.metadata
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import forelock

BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


def main():
    server_host, environment, *documents = sys.argv[1:]
    assert Path(forelock.__file__).is_relative_to(environment), forelock.__file__
    mapped = Path("/proc/self/maps").read_text(encoding="utf-8")
    for name in ("libforelock", "libyaml-cpp", "libzookeeper_mt"):
        loaded = set(re.findall(rf"\S*/{name}\S*", mapped))
        inside = name == "libzookeeper_mt"  # a library with TLS has the client in it
        assert loaded or inside, f"{name} is not loaded"
        assert all(path.startswith(environment) for path in loaded), f"not the wheel's own: {loaded}"
    assert importlib.metadata.version("forelock") == forelock.__version__
    count = 0
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen(
            [server_host], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        settings = Path(folder, "config", "elasticsearch-details.properties")
        settings.parent.mkdir()
        settings.write_text(f"zookeeper.servers={server.stdout.readline()}dlq.outbox.path={folder}/outbox.db\n"
                            "zookeeper.foregound.task.timeout=60s\nzookeeper.backgound.task.timeout=60s\n",
                            encoding="utf-8")
        for document in documents:
            text = Path(document).read_text(encoding="utf-8")
            for match in BLOCK.finditer(text):
                count += 1
                line = text.count("\n", 0, match.start("code")) + 1
                print(f"{document}:{line}", flush=True)
                subprocess.run([sys.executable, "-B", "-W", "error", "-c", match["code"]], cwd=folder, timeout=120,
                               check=True)
        server.stdin.close()
    print(f"{count} programs ran.")
    return 0 if count else 1


if __name__ == "__main__":
    sys.exit(main())
