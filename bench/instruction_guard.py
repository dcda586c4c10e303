#!/usr/bin/env python3
"""Limits on how many instructions a cycle of the engine takes: instruction_guard.py PROGRAM FOLDER.

callgrind counts those of PROGRAM (counted_cycles.cc); its files, for callgrind_annotate, stay in FOLDER. The count is
the same in every run, however busy or fast the machine is. Exits 1 when a workload takes more than its limit, 77
(skipped) without valgrind.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

# Instructions a cycle, measured with GCC 12 -O2 on x86-64 in Debian 12: put a new number here only with a reason.
MEASURED = {
    "uncontended": 12_838,
    "uncontended-beside-100": 134_747,
    "hand-over-among-8": 14_932,
    "hand-over-among-1000": 20_732,
}
HEADROOM = 1.15  # another processor's memcpy is 2 % at most, another compiler some more
CYCLES = 1000


def instructions_of_a_cycle(program, workload, profile):
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=counted_cycles",
         f"--callgrind-out-file={profile}", program, workload, str(CYCLES)],
        capture_output=True, text=True, errors="replace", check=False)
    if run.returncode != 0:
        sys.exit(f"{workload}: exit {run.returncode} of {' '.join(run.args)}\n{run.stdout}{run.stderr}")
    total = re.search(r"^totals: (\d+)$", profile.read_text(encoding="utf-8"), re.MULTILINE)
    if not total or int(total[1]) == 0:
        sys.exit(f"{workload}: callgrind has counted nothing: is there a function counted_cycles in {program}?")
    return round(int(total[1]) / CYCLES)


def main():
    program, folder = sys.argv[1], Path(sys.argv[2])
    if not shutil.which("valgrind"):
        print("SKIPPED: no valgrind, so instructions are not counted (scripts/setup.sh installs it)")
        return 77
    folder.mkdir(parents=True, exist_ok=True)
    too_many = []
    for workload, measured in MEASURED.items():
        profile = folder / f"{workload}.callgrind"
        count, limit = instructions_of_a_cycle(program, workload, profile), round(measured * HEADROOM)
        print(f"{workload}: {count:,} instructions a cycle, {count / measured - 1:+.1%}; limit {limit:,}")
        if count > limit:
            too_many.append((workload, count, limit, profile))
    for workload, count, limit, profile in too_many:
        print(f"""
FAILED: {workload}: {count:,} instructions a cycle; the limit is {limit:,}, {HEADROOM} x {MEASURED[workload]:,}.
  Where they are:  callgrind_annotate {profile}
  By caller:       callgrind_annotate --inclusive=yes --tree=caller {profile}
  Run this test on the last commit that passed and compare. If the cost is worth it, put the new count into MEASURED in
  bench/instruction_guard.py, and say in that commit what it buys.""")
    return 1 if too_many else 0


if __name__ == "__main__":
    sys.exit(main())
