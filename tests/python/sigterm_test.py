"""An ordinary stop of a process, by SIGTERM: what it holds is free at once, not when its session has ended."""

import signal
import subprocess
import sys

import pytest
from conftest import PATIENCE

import forelock

# A session that lives for twice as long as the test waits; no server of the tests grants more.
HOLDER = """
import sys, threading
import forelock
forelock.exit_on_sigterm()
client = forelock.Client(zookeeper_servers=sys.argv[1], zookeeper_session_timeout=2 * 60_000)
"""
WAYS = {
    "in a block": """
with forelock.lock(client, "P1", timeout=60):
    print("held", flush=True)
    threading.Event().wait()
""",
    "without a block, waiting for another": """
forelock.BlockingLock(client, "P1").acquire(60)
forelock.BlockingLock(client, "P2").on_queued(print)
waiter = forelock.BlockingLock(client, "P2")
waiter.on_queued(lambda place: print("held", flush=True))
waiter.acquire(600)
""",
    "on a thread": """
def work():
    forelock.BlockingLock(client, "P1").acquire(60)
    print("held", flush=True)
    threading.Event().wait()
threading.Thread(target=work, daemon=True).start()
threading.Event().wait()
""",
    "in a task": """
import asyncio
async def main():
    async with forelock.aio.lock(client, "P1", timeout=60):
        print("held", flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
""",
    "told twice": """
import os, signal
class Twice:
    def __enter__(self): pass
    def __exit__(self, *_): os.kill(os.getpid(), signal.SIGTERM)
with forelock.lock(client, "P1", timeout=60), Twice():
    print("held", flush=True)
    threading.Event().wait()
""",
}
WAYS["in a greenlet"] = WAYS["in a block"]


@pytest.mark.parametrize("way", WAYS)
def test_what_a_stopped_process_holds_is_free_at_once(client, servers, way):
    green = "from gevent import monkey; monkey.patch_all()\n" if "greenlet" in way else ""
    with forelock.lock(client, "P2"):
        holder = subprocess.Popen([sys.executable, "-B", "-c", green + HOLDER + WAYS[way], servers],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            assert holder.stdout.readline() == "held\n"
            holder.send_signal(signal.SIGTERM)
            with forelock.lock(client, "P1", timeout=PATIENCE):
                pass
            _, errors = holder.communicate(timeout=PATIENCE)
        finally:
            holder.kill()
            holder.wait()
    assert holder.returncode == 143, errors
    assert "Traceback" not in errors and "Warning" not in errors, errors
