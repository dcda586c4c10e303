"""Writes the notices of everything that is linked into what is given away, and is not Forelock's:
notices.py [--debian] >FILE

As Debian's packages have them, in the versions that this machine has; scripts/older_system.sh says what is linked in,
and which versions are for aarch64. With --debian what is in Debian's packages of Forelock, which take the other
libraries from other packages.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# What it is, and the package whose copyright file has the notices.
LINKED = {
    "Apache ZooKeeper's C client, with the patches of third_party/zookeeper": "libzookeeper-mt-dev",
    "OpenSSL": "libssl-dev", "librdkafka": "librdkafka-dev", "SQLite": "libsqlite3-dev", "curl": "libcurl4-openssl-dev",
    "zlib": "zlib1g-dev", "Zstandard": "libzstd-dev", "LZ4": "liblz4-dev", "yaml-cpp": "libyaml-cpp-dev",
    "{fmt}": "libfmt-dev", "spdlog": "libspdlog-dev", "prometheus-cpp": "prometheus-cpp-dev",
    "JSON for Modern C++": "nlohmann-json3-dev", "CLI11": "libcli11-dev",
    "Cyrus SASL (its header)": "libsasl2-dev", "the C++ runtime of GCC": "libstdc++-12-dev",
}


# In Debian's packages, too: what has no library of its own there.
COMPILED = ("libzookeeper-mt-dev", "nlohmann-json3-dev", "libcli11-dev")


def versions_for_aarch64():
    """By package, of those that scripts/older_system.sh --arm64 has fetched; none before."""
    file = Path(os.environ.get("FORELOCK_OLDER_ARM64", ROOT / "build/older-arm64"), "versions")
    return dict(line.split() for line in file.read_text(encoding="ascii").splitlines()) if file.exists() else {}


def main():
    linked, others = LINKED, versions_for_aarch64()
    if sys.argv[1:] == ["--debian"]:
        linked, others = {name: package for name, package in LINKED.items() if package in COMPILED}, {}
    elif len(sys.argv) > 1:
        print(__doc__)
        return 0 if sys.argv[1] in ("--help", "-h") else 64
    print("Forelock has the following software of others inside. Each part is what its authors say of it. The Apache "
          "License 2.0, which several name, is in LICENSE. Boost's license asks for no notice here.")
    for name, package in linked.items():
        version = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], check=True, stdout=subprocess.PIPE,
                                 text=True).stdout
        text = Path(f"/usr/share/doc/{package}/copyright").read_text(encoding="utf-8", errors="replace")
        if others.get(package, version) != version:
            version += f", for aarch64 {others[package]}"
        print(f"\n{'=' * 80}\n{name} (Debian's {package} {version})\n{'=' * 80}\n\n{text.strip()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
