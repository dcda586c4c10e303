"""What was measured on, and which versions of what."""

import os
import platform
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

PEERS = Path(__file__).resolve().parent.parent / "peers"


def said_by(*command):
    """What a program prints, on either channel; empty if there is none."""
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout
    except FileNotFoundError:
        return ""


def found(pattern, text):
    match = re.search(pattern, text)
    return match.group(1) if match else "unknown"


def load():
    """Of the last minute: who measures on a busy machine should know."""
    return round(os.getloadavg()[0], 2)


def disk_us():
    """How long the disk takes to make 4 KiB durable."""
    times = []
    with tempfile.NamedTemporaryFile() as file:
        for _ in range(200):
            begin = time.perf_counter()
            os.write(file.fileno(), b"x" * 4096)
            os.fdatasync(file.fileno())
            times.append(1e6 * (time.perf_counter() - begin))
    return round(statistics.median(times))


def description():
    return {
        "processor": found(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8")),
        "processors": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": found(r'PRETTY_NAME="(.*)"', Path("/etc/os-release").read_text(encoding="utf-8")),
        "kernel": platform.release().split("-")[0],
        "disk_us": disk_us(),
    }


def package(name):
    return said_by("dpkg-query", "-W", "-f=${Version}", name) or "unknown"


def versions(server, peers):
    """`server`: the first line of its answer to "srvr"."""
    known = {
        "ZooKeeper server": found(r"version: ([^-,]+)", server),
        "ZooKeeper C client": package("libzookeeper-mt-dev"),
        "librdkafka": package("librdkafka-dev"),
        "Java": found(r'version "([^"]+)"', said_by("java", "-version")),
        "compiler": said_by("c++", "--version").split("\n")[0],
    }
    if peers:
        pom = (PEERS / "curator" / "pom.xml").read_text(encoding="utf-8")
        modules = (PEERS / "go" / "go.mod").read_text(encoding="utf-8")
        known.update({
            "Curator": found(r"<artifactId>curator-recipes</artifactId>\s*<version>([^<]+)", pom),
            "go-zookeeper": found(r"go-zookeeper/zk v(\S+)", modules),
            "kazoo": package("python3-kazoo"),
            "etcd": found(r"etcd Version: (\S+)", said_by("etcd", "--version")),
            "etcd's Go client": found(r"etcd/client/v3 v(\S+)", modules),
            "Redis": found(r"v=(\S+)", said_by("redis-server", "--version")),
            "redsync": found(r"redsync/v4 v(\S+)", modules),
            "Go": found(r"go version go(\S+)", said_by("go", "version")),
        })
    return known
