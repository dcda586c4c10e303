"""What a type checker and an editor tell a user."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

from conftest import PATIENCE

import forelock

PROGRAM = """
import forelock
client = forelock.Client()
forelock.lock(client, "P1", priority="background")
forelock.lock(client, "P1", priority="hi")
"""


def test_an_invalid_priority_is_seen_by_a_type_checker(tmp_path):
    environment = dict(os.environ, MYPYPATH=str(Path(forelock.__file__).parents[1]))
    ended = subprocess.run([sys.executable, "-m", "mypy", "--strict", f"--cache-dir={tmp_path}", "-c", PROGRAM],
                           capture_output=True, text=True, timeout=2 * PATIENCE, env=environment, check=False)
    assert ended.stdout.startswith('<string>:5: error: Argument "priority" to "BlockingLock" has incompatible type')
    assert "Found 1 error" in ended.stdout


def test_every_argument_of_a_lock_is_explained():
    for made in (forelock.lock, forelock.aio.lock):
        arguments = set(inspect.signature(made).parameters) - {"client"}
        assert not [name for name in arguments if f"``{name}``" not in inspect.getdoc(made.__init__)]
