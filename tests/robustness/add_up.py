#!/usr/bin/python3
"""Adds up the verdicts of several runs: add_up.py DIRECTORY…

Each directory has what its run, robustness_check and (where there is Go) linearizability printed last, as run.json,
verdict.json and linearizability.json. Prints one line of JSON. Exits 1 if a count that must be 0 is not, or if a holder
of a stall round did not know in time.
"""

import json
import os
import sys

# As scripts/robustness.sh promises them, and in that order.
MUST_BE_ZERO = ("overlaps", "orphans", "priority_violations", "late_calls", "lost_operations")
# Of the checker, beyond that.
ALSO_ZERO = ("certainty_overlaps", "token_violations", "fifo_violations", "owner_violations", "unfenced_overlaps")
COUNTED = ("stall_rounds", "grants_judged", "grants_undecided")


def load(directory, name):
    with open(os.path.join(directory, name + ".json"), encoding="utf-8") as file:
        return json.load(file)


def add_up(directories):
    verdicts = [load(each, "verdict") for each in directories]
    kinds = {}
    for each in directories:
        for kind, count in load(each, "run")["kinds"].items():
            kinds[kind] = kinds.get(kind, 0) + count

    def total(key):
        return sum(verdict.get(key, 0) for verdict in verdicts)

    result = {"acquisitions": total("acquisitions"), "faults": total("faults"), "fault_kinds": len(kinds)}
    result.update((key, total(key)) for key in MUST_BE_ZERO)
    margins = [verdict["min_stall_margin_ms"] for verdict in verdicts if verdict.get("min_stall_margin_ms") is not None]
    result["min_stall_margin_ms"] = round(min(margins), 1) if margins else None
    result.update((key, total(key)) for key in ALSO_ZERO + COUNTED)
    orders = [load(each, "linearizability") for each in directories
              if os.path.exists(os.path.join(each, "linearizability.json"))]
    if orders:
        result["holds_ordered"] = sum(order["holds"] for order in orders)
        result["not_linearizable"] = sum(order["illegal"] for order in orders)
    result["by_fault_kind"] = dict(sorted(kinds.items()))
    return result


def main():
    result = add_up(sys.argv[1:])
    print(json.dumps(result))
    wrong = [key for key in MUST_BE_ZERO + ALSO_ZERO + ("not_linearizable",) if result.get(key, 0) != 0]
    margin = result["min_stall_margin_ms"]
    if result["stall_rounds"] and (margin is None or margin <= 0):
        wrong.append("min_stall_margin_ms")
    return 1 if wrong or result["acquisitions"] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
