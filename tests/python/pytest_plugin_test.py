"""The fixtures for users' tests, as a user's test has them."""

import os
import subprocess
import sys

import pytest
from conftest import PATIENCE

import forelock

pytest_plugins = ["forelock.pytest_plugin"]
USERS_TEST = """
import forelock

pytest_plugins = ["forelock.pytest_plugin"]


def test_save(forelock_client):
    with forelock.lock(forelock_client, "P1") as held:
        assert held.healthy()
"""


def test_a_client_of_a_server_that_is_thrown_away(forelock_client, forelock_servers):
    assert forelock_client.status.connected
    with forelock.lock(forelock_client, "P1"), forelock.Client(zookeeper_servers=forelock_servers) as other:
        assert not forelock.BlockingLock(other, "P1").try_acquire()


@pytest.fixture
def users_test(tmp_path):
    def run(**environment):
        (tmp_path / "users_test.py").write_text(USERS_TEST, encoding="utf-8")
        variables = {name: value for name, value in os.environ.items() if not name.startswith("FORELOCK_")}
        ended = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "users_test.py"],
                               cwd=tmp_path, env={**variables, **environment}, capture_output=True, text=True,
                               timeout=2 * PATIENCE, check=False)
        return ended.returncode, ended.stdout

    return run


def test_the_server_may_be_given(users_test, host):
    code, output = users_test(FORELOCK_ZOOKEEPER=host.address)
    assert code == 0, output


def test_what_is_missing_for_a_server_is_named(users_test, tmp_path):
    code, output = users_test(PATH=str(tmp_path))
    assert code == 1 and "set FORELOCK_COMMAND to it, or FORELOCK_ZOOKEEPER to the host:port" in output
    code, output = users_test(FORELOCK_COMMAND="/bin/false")
    assert code == 1 and "/bin/false dev started no ZooKeeper" in output
