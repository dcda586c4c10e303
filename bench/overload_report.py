#!/usr/bin/env python3
"""A table, and with --plot a picture, of what bench_overload measured.

Usage: overload_report.py RESULTS.json… [--plot FILE.svg]. Several results of one command with other seeds: medians.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "compare"))
from picture import curve  # noqa: E402

COLOURS = {"without": "#9aa0a6", "with": "#1a73e8"}
SIDES = ("without", "with")


def median(runs, pick):
    return statistics.median(pick(run) for run in runs)


def row(load, side, sides, waiting):
    foreground = [one["foreground"] for one in sides]
    in_vain = median(foreground, lambda one: one["in_vain"])
    at_once = median(foreground, lambda one: 100 * one["answered_within_50_ms"] / max(1, one["in_vain"]))
    served = median(sides, lambda one: one["background"]["served"])
    longest = median(sides, lambda one: max(one["background"]["waits_ms"], default=0) / 1000)
    behind = [f"{served:.0f} of {waiting}", f"{longest:.0f} s" if served else "–"] if waiting else []
    cells = [f"{load:g} ×", side, f"{median(foreground, lambda one: one['served']):,.0f}",
             f"{median(foreground, lambda one: one['p50_ms']):,.0f} ms",
             f"{median(foreground, lambda one: one['p99_ms']):,.0f} ms", f"{in_vain:,.0f}",
             f"{at_once:.0f} %" if in_vain else "–"] + behind
    return "| " + " | ".join(cells) + " |"


def table(runs):
    waiting = runs[0]["background"]
    heads = ["load", f"`{runs[0]['setting']}`", "foreground served", "p50", "p99", "in vain", "told within 50 ms"]
    heads += ["background served", "longest wait"] if waiting else []
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for i, load in enumerate(runs[0]["loads"]):
        lines += [row(load["load"], side, [run["loads"][i][side] for run in runs], waiting) for side in SIDES]
    return "\n".join(lines)


def plot(run):
    """How many of the background have been served by when, at the highest load."""
    load = max(run["loads"], key=lambda one: one["load"])
    ticks = [round(run["seconds"] * i / 10) for i in range(11)]
    series = [(side, COLOURS[side], [(tick, sum(wait <= 1000 * tick for wait in load[side]["background"]["waits_ms"]))
                                     for tick in ticks]) for side in SIDES]
    return curve(series, ticks, ("seconds", f"background served; foreground: {load['load']:g} × what a monitor serves"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs="+")
    parser.add_argument("--plot")
    options = parser.parse_args()
    runs = [json.loads(Path(path).read_text(encoding="utf-8")) for path in options.results]
    print(table(runs))
    if options.plot:
        Path(options.plot).write_text(plot(runs[0]), encoding="utf-8")


main()
