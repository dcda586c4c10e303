#!/usr/bin/env python3
"""Measures Forelock, the bare C client and the peers side by side; writes one JSON file, of which report.py makes
tables and plots. Every lock is a worker process that answers jobs, so all of them are measured by turns, in rounds, on
the same server. "scripts/bench.sh compare" builds what it needs and calls it.
"""

import argparse
import datetime
import json
import sys
import time
from pathlib import Path

import machine
import workloads
from rounds import Rounds
from workers import Programs


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", required=True, help="the folder with bench_worker, bench_servers and the others")
    parser.add_argument("--peers", default="", help="the folder with the peers' programs; none without it")
    parser.add_argument("--output", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="of the size of each job")
    parser.add_argument("--sync", default="on", choices=("on", "off"), help="whether the servers wait for the disk")
    parser.add_argument("--groups", nargs="+", default=[name for name in workloads.GROUPS if name != "tls"],
                        choices=list(workloads.GROUPS))
    parser.add_argument("--only", nargs="*", default=[], help="these kinds of locks")
    options = parser.parse_args()

    output = Path(options.output)
    output.parent.mkdir(parents=True, exist_ok=True)
    load = machine.load()
    begun = time.monotonic()
    bench = workloads.Bench(Programs(options.programs, options.peers, options.sync),
                            Rounds(options.rounds, options.scale), options.only)
    workloads.run(bench, options.groups)
    seconds = round(time.monotonic() - begun)
    output.write_text(json.dumps({
        "date": datetime.date.today().isoformat(), "seconds": seconds, "load_before": load,
        "machine": machine.description(), "versions": machine.versions(bench.server_version, bool(options.peers)),
        "sync": options.sync, "rounds": options.rounds, "scale": options.scale, "results": bench.rounds.results,
    }, separators=(",", ":"), ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"\n{seconds} s", file=sys.stderr)


if __name__ == "__main__":
    main()
