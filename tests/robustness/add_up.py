#!/usr/bin/python3
"""Adds up the verdicts of several runs: add_up.py [--summary FILE] [--replaced DIRECTORY]… DIRECTORY…

Or shows a summary: --markdown FILE. Each directory has what its run, robustness_check and linearizability printed
last, as run.json, verdict.json and linearizability.json. Prints one line of JSON, and writes more into the summary.
Exits 1 if a count that must be 0 is not, if no silent stall was judged, or none of the servers' partitions that there
were, if a holder did not know in time in one of these, or if something was not judged at all. Of a run that was
replaced, since the servers had lost what they had confirmed, the counts that do not depend on the servers must be 0 all
the same.
"""

import argparse
import json
import os
import sys

# As scripts/robustness.sh promises them, and in that order.
MUST_BE_ZERO = ("overlaps", "orphans", "priority_violations", "late_calls", "lost_operations")
# Of the checkers, beyond that.
ALSO_ZERO = ("certainty_overlaps", "token_violations", "taken_again_violations", "fifo_violations", "owner_violations",
             "growing")
# Judged from what clients have said of themselves, whatever the servers have lost. Hung processes are late calls.
WITHOUT_SERVERS = ("late_calls", "lost_operations", "growing")
# What the servers have lost, the clients have not done; what depends on it is undecided from then on.
COUNTED = ("taken_again", "server_losses", "stall_rounds", "depositions", "grants_judged", "grants_undecided",
           "unfenced_overlaps", "operations", "dead_letters")

# Faults that part the servers while a lock is held on the side that loses.
DEPOSITIONS = ("leader_deposed", "leader_silenced", "follower_forgotten")


def load(directory, name):
    """Nothing if that program did not come to its end."""
    try:
        with open(os.path.join(directory, name + ".json"), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def add(totals, counts):
    for key, value in counts.items():
        if isinstance(value, dict):
            add(totals.setdefault(key, {}), value)
        else:
            totals[key] = totals.get(key, 0) + value
    return totals


def smallest(verdicts, key):
    """Of those runs that have one: not all can part their servers."""
    margins = [verdict[key] for verdict in verdicts if verdict[key] is not None]
    return round(min(margins), 1) if margins else None


def deposed_too_late(result, details):
    """Whether a holder on the losing side did not know in time, or nothing is known about any."""
    parted = sum(details["by_kind"][kind]["faults"] for kind in DEPOSITIONS if kind in details["by_kind"])
    margin = result["min_deposition_margin_ms"]
    return margin <= 0 if margin is not None else parted > 0


def add_up(directories):
    runs = [{name: load(each, name) for name in ("run", "verdict", "linearizability")} for each in directories]
    verdicts = [run["verdict"] for run in runs if run["verdict"]]
    orders = [run["linearizability"] for run in runs if run["linearizability"]]
    by_kind, checks, use = {}, {}, {}
    for verdict in verdicts:
        add(by_kind, verdict.get("by_kind", {}))
        add(checks, verdict["checks"])
        use.update(verdict.get("use", {}))

    def total(key):
        return sum(verdict[key] for verdict in verdicts)

    result = {"acquisitions": total("acquisitions"), "faults": total("faults"), "fault_kinds": len(by_kind)}
    result.update((key, total(key)) for key in MUST_BE_ZERO)
    margins = [verdict["min_stall_margin_ms"] for verdict in verdicts]
    result["min_stall_margin_ms"] = round(min(margins), 1) if margins and None not in margins else None
    result["min_deposition_margin_ms"] = smallest(verdicts, "min_deposition_margin_ms")
    result.update((key, total(key)) for key in ALSO_ZERO + COUNTED)
    result["not_linearizable"] = sum(order["illegal"] for order in orders)
    result["linearizability_unknown"] = sum(order["unknown"] for order in orders)
    result["not_judged"] = sum(1 for run in runs if None in run.values())
    checks["linearizability (porcupine)"] = {"judged": sum(order["holds"] for order in orders),
                                             "undecided": result["linearizability_unknown"],
                                             "violations": result["not_linearizable"]}
    details = {"by_kind": by_kind, "checks": checks, "use": use,
               "runs": [{"seed": run["run"]["seed"], "seconds": run["run"]["seconds"],
                         "acquisitions": run["verdict"]["acquisitions"], "faults": run["verdict"]["faults"],
                         "stall_rounds": run["verdict"]["stall_rounds"],
                         "min_stall_margin_ms": run["verdict"]["min_stall_margin_ms"],
                         "depositions": run["verdict"]["depositions"],
                         "min_deposition_margin_ms": run["verdict"]["min_deposition_margin_ms"]}
                        for run in runs if run["run"] and run["verdict"]]}
    return result, details


def held_against(directory):
    """What is wrong with a replaced run that the servers are no excuse for."""
    verdict = load(directory, "verdict")
    if verdict is None:
        return ["no verdict"]
    return [f"{key}: {verdict[key]}" for key in WITHOUT_SERVERS if verdict[key] != 0]


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" + "---:|" * (len(heads) - 1)]
    for row in rows:
        lines.append("| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row) + " |")
    return "\n".join(lines)


def shown(margin):
    return "–" if margin is None else round(margin)


def markdown(summary):
    parts = [table(("fault", "injected", "calls that met it", "accesses that met it"),
                   [(f"`{kind}`", each["faults"], each["calls"], each["accesses"])
                    for kind, each in sorted(summary["by_kind"].items())] +
                   [("all", summary["faults"], summary["acquisitions"], "")]),
             table(("check", "cases judged", "undecided", "violations"),
                   [(name, each["judged"], each["undecided"], each["violations"])
                    for name, each in summary["checks"].items()]),
             table(("seed", "seconds", "acquisitions", "faults", "stall rounds", "smallest margin, ms", "depositions",
                    "smallest margin, ms"),
                   [(run["seed"], run["seconds"], run["acquisitions"], run["faults"], run["stall_rounds"],
                     shown(run["min_stall_margin_ms"]), run["depositions"], shown(run["min_deposition_margin_ms"]))
                    for run in summary["runs"]])]
    if summary["use"]:
        parts.append(table(("process", "memory, KiB", "descriptors", "threads", "watches", "nodes"),
                           [(who, *(" → ".join(map(str, uses[what])) if what in uses else "" for what in
                                    ("memory_kib", "descriptors", "threads", "watches", "nodes")))
                            for who, uses in sorted(summary["use"].items())]))
    return "\n\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--summary")
    parser.add_argument("--replaced", action="append", default=[], metavar="DIRECTORY",
                        help="a run that counts only for what does not depend on the servers, since they had lost")
    parser.add_argument("--markdown")
    parser.add_argument("directories", nargs="*")
    options = parser.parse_args()
    if options.markdown:
        with open(options.markdown, encoding="utf-8") as file:
            print(markdown(json.load(file)))
        return 0
    result, details = add_up(options.directories)
    result["replaced_runs"] = len(options.replaced)
    inexcusable = [f"{each}: {text}" for each in options.replaced for text in held_against(each)]
    for text in inexcusable:
        print(f"The servers have lost what they had confirmed, but this does not follow from it: {text}",
              file=sys.stderr)
    if options.summary:
        with open(options.summary, "w", encoding="utf-8") as file:
            json.dump({**result, **details}, file, indent=1)
    print(json.dumps(result))
    wrong = [key for key in MUST_BE_ZERO + ALSO_ZERO + ("not_linearizable", "not_judged") if result[key] != 0]
    margin = result["min_stall_margin_ms"]
    too_late = margin is None or margin <= 0 or deposed_too_late(result, details)
    return 1 if wrong or inexcusable or too_late or result["acquisitions"] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
