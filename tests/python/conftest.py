"""What the tests share: a real server with faults on command, and clients in a namespace of their own."""

import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

import forelock

sys.path.insert(0, str(Path(__file__).parent))
PATIENCE = 60  # seconds; generous, because machines are busy: nothing waits so long unless it is broken
# Session time-outs in milliseconds: one that a busy machine does not use up, and one for tests that wait for its end.
LONG, SHORT = 20_000, 4000


class Host:
    """A server behind a proxy (tests/support/server_host.cc)."""

    def __init__(self):
        self._process = subprocess.Popen([os.environ["FORELOCK_SERVER_HOST"]], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True)
        self.address = self._process.stdout.readline().strip()

    def command(self, line):
        """Its answer, unless it is "ok"."""
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().strip()
        if line == "nodes":
            return int(answer)
        assert answer == "ok", f"{line}: {answer}"
        return None

    def close(self):
        self._process.stdin.close()
        self._process.wait(PATIENCE)
        self._process.stdout.close()


@pytest.fixture(scope="session")
def host():
    host = Host()
    yield host
    host.close()


@pytest.fixture
def servers(host):
    """A connect string with a chroot that no other test uses."""
    return f"{host.address}/t{uuid.uuid4().hex[:12]}"


@pytest.fixture
def open_client(servers):
    """Opens clients, which are closed after the test."""
    clients = []

    def make(**settings):
        settings.setdefault("zookeeper_session_timeout", LONG)
        settings.setdefault("zookeeper_foregound_task_timeout", PATIENCE * 1000)
        settings.setdefault("zookeeper_backgound_task_timeout", PATIENCE * 1000)
        clients.append(forelock.Client(zookeeper_servers=servers, **settings))
        clients[-1].wait_connected(PATIENCE)
        return clients[-1]

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def client(open_client):
    return open_client()
