#!/usr/bin/env python3
"""How soon the locks of a killed process are free with zookeeper.session.file, from the start of what recovers them.

Usage: forelock dev -- bench/recovery.py [--command forelock] [--locks 1000] [--rounds 9]

The times are those of a whole `forelock recover`, process start included; beside it that of one that finds nothing to
do. Without the file the locks are free when the session has timed out.
"""

import argparse
import json
import os
import select
import signal
import statistics
import subprocess
import tempfile
import time


def held(command, settings, monitors):
    """A process that holds them all, and the id of the program that it runs."""
    options = [part for monitor in monitors for part in ("-m", monitor)]
    child = subprocess.Popen([command, *settings, "run", *options, "--", "sh", "-c", "echo $$; read never"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return child, int(child.stdout.readline())


def end(program):
    process = os.pidfd_open(program)
    signal.pidfd_send_signal(process, signal.SIGKILL)
    select.select([process], [], [])
    os.close(process)


def recover(command, settings, file):
    begin = time.monotonic()
    result = subprocess.run([command, *settings, "-o", "json", "recover", file], capture_output=True, text=True,
                            check=True)
    return time.monotonic() - begin, json.loads(result.stdout)["state"]


def is_held(command, monitor):
    return subprocess.run([command, "wait", "--timeout", "0", monitor], capture_output=True).returncode != 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default="forelock")
    parser.add_argument("--locks", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    monitors = [f"recovery-{i}" for i in range(options.locks)]
    recovered, idle = [], []
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        file = os.path.join(folder, "session")
        settings = ["--set", f"zookeeper.session.file={file}", "--set", "zookeeper.session.timeout=60s"]
        for _ in range(options.rounds):
            child, program = held(options.command, settings, monitors)
            child.kill()
            child.wait()
            end(program)  # it has the file open, too
            assert is_held(options.command, monitors[-1]), "its session should live on"
            took, state = recover(options.command, settings, file)
            assert state == "recovered", state
            assert not any(is_held(options.command, monitors[i]) for i in (0, -1)), "not free"
            recovered.append(took)
            took, state = recover(options.command, settings, file)
            assert state == "empty", state
            idle.append(took)
    for what, times in (("recover", recovered), ("nothing to recover", idle)):
        print(f"{what}: median {1000 * statistics.median(times):.0f} ms, "
              f"{1000 * min(times):.0f} to {1000 * max(times):.0f} ms ({options.locks} locks)")


main()
