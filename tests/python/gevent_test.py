"""Greenlets: gevent's monkey.patch_all() makes every thread one. Programs of their own, since that cannot be undone."""

import json
import subprocess
import sys
from pathlib import Path

from conftest import PATIENCE

import forelock


def test_greenlets_wait_without_blocking_each_other(client, servers, tmp_path):
    program = Path(__file__).parent / "gevent_program.py"
    ended = subprocess.run([sys.executable, "-B", program, servers, tmp_path / "outbox.db"], capture_output=True,
                           text=True, timeout=2 * PATIENCE, check=False)
    assert ended.returncode == 0 and "Traceback" not in ended.stderr, ended.stderr
    assert json.loads(ended.stdout) == {
        "many": 30,
        "withdrawn": ["GreenletExit", "FREE", "Timeout", "FREE", True, "lock_timeout"],
        "aside": ["dict", "HELD", "GreenletExit", "FREE"],
        "operation": ["SUCCEEDED", "SUCCEEDED"],
        "callbacks": [["CLOSED", "forelock-callbacks"]],
        "after": True,
    }
    with forelock.lock(client, "P9", timeout=10) as held:  # not only when the session has expired
        assert held.healthy()


def test_eventlet_is_refused_by_its_name():
    program = ("import eventlet; eventlet.monkey_patch()\n"
               "import forelock\n"
               "try:\n    forelock.Client(zookeeper_servers='127.0.0.1:1')\n"
               "except forelock.RequestRejectedException as error:\n    print(error.code, error)\n")
    ended = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True,
                           timeout=2 * PATIENCE, check=False)
    assert ended.stdout.startswith("invalid_argument eventlet "), ended
