"""Fixtures for tests of programs that lock, on a real, temporary ZooKeeper.

In conftest.py: ``pytest_plugins = ["forelock.pytest_plugin"]``. The server is FORELOCK_ZOOKEEPER (which ``forelock dev
-- pytest`` sets), or one that ``forelock dev`` starts: the command FORELOCK_COMMAND, or the one in the PATH.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import uuid
from typing import Iterator

import pytest

import forelock


@pytest.fixture(scope="session")
def forelock_server() -> Iterator[str]:
    """``host:port`` of a ZooKeeper for all tests of the session."""
    if address := os.environ.get("FORELOCK_ZOOKEEPER"):
        yield address
        return
    command = os.environ.get("FORELOCK_COMMAND") or shutil.which("forelock")
    if command is None:
        pytest.fail("no ZooKeeper for the test: the command forelock is not in the PATH; set FORELOCK_COMMAND to it, "
                    "or FORELOCK_ZOOKEEPER to the host:port of a ZooKeeper", pytrace=False)
    # It ends with its stdin, however this process ends.
    server = subprocess.Popen([command, "dev", "--", "sh", "-c", 'echo "$FORELOCK_ZOOKEEPER"; cat > /dev/null'],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdin is not None and server.stdout is not None
    with server:
        address = server.stdout.readline().strip()
        if not address:
            pytest.fail(f"{command} dev started no ZooKeeper; it says why on stderr", pytrace=False)
        yield address
        server.stdin.close()


@pytest.fixture
def forelock_servers(forelock_server: str) -> str:
    """The value for ``zookeeper.servers``: that server, with a namespace that no other test uses."""
    return f"{forelock_server}/test-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def forelock_client(forelock_servers: str) -> Iterator[forelock.Client]:
    """A client in the test's namespace, connected; closed after the test."""
    with forelock.Client(zookeeper_servers=forelock_servers) as client:
        client.wait_connected(60)
        yield client
