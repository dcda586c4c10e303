#!/usr/bin/env python3
"""Tables of what bench_overload measured with ageing and with admission, and a picture of the ageing.

Usage: overload_report.py AGEING.json ADMISSION.json [--document FILE --plots FOLDER]

With a document, its part "<!-- measured: overload -->" is replaced, and the picture written.
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "compare"))
from picture import curve  # noqa: E402
from report import replace  # noqa: E402

COLOURS = {"without": "#9aa0a6", "with": "#1a73e8"}
SIDES = ("without", "with")


def row(load, side, waiting):
    foreground, background = load[side]["foreground"], load[side]["background"]
    in_vain = foreground["in_vain"]
    told = f"{100 * foreground['answered_within_50_ms'] / in_vain:.0f} %" if in_vain else "–"
    longest = f"{max(background['waits_ms']) / 1000:.0f} s" if background["waits_ms"] else "–"
    cells = [f"{load['load']:g} ×", side, f"{foreground['served']:,}", f"{foreground['p50_ms']:,.0f} ms",
             f"{foreground['p99_ms']:,.0f} ms", f"{in_vain:,}", told]
    return "| " + " | ".join(cells + ([f"{background['served']} of {waiting}", longest] if waiting else [])) + " |"


def table(run):
    waiting = run["background"]
    heads = ["load", f"`{run['setting']}`", "foreground served", "p50", "p99", "in vain", "told within 50 ms"]
    heads += ["background served", "longest wait"] if waiting else []
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join(lines + [row(load, side, waiting) for load in run["loads"] for side in SIDES])


def text(run):
    """Its table, and what was asked of the monitor."""
    return (f"Foreground sections of {run['foreground_section_ms']} ms, of which this monitor serves "
            f"{run['capacity']:.0f} a second, arrive at random for {run['seconds']} s, each with a time-out of "
            f"{run['foreground_timeout_ms'] / 1000:g} s"
            + (f"; {run['background']} background contenders, sections of {run['background_section_ms']} ms, wait from "
               "the beginning" if run["background"] else "")
            + f".\n\n{table(run)}")


def plot(run):
    """How many of the background have been served by when, at the highest load."""
    load = max(run["loads"], key=lambda one: one["load"])
    ticks = [round(run["seconds"] * i / 10) for i in range(11)]
    series = [(side, COLOURS[side], [(tick, sum(wait <= 1000 * tick for wait in load[side]["background"]["waits_ms"]))
                                     for tick in ticks]) for side in SIDES]
    return curve(series, ticks, ("seconds", f"background served; foreground: {load['load']:g} × what a monitor serves"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ageing")
    parser.add_argument("admission")
    parser.add_argument("--document")
    parser.add_argument("--plots", help="with --document")
    options = parser.parse_args()
    ageing, admission = (json.loads(Path(path).read_text(encoding="utf-8"))
                         for path in (options.ageing, options.admission))
    if not options.document:
        print(f"{table(ageing)}\n\n{table(admission)}")
        return
    (Path(options.plots) / "overload.svg").write_text(plot(ageing), encoding="utf-8")
    document = Path(options.document)
    document.write_text(replace(
        document.read_text(encoding="utf-8"), "overload",
        "### Background work that ages\n\n![Background work served by when](performance/overload.svg)\n\n"
        f"{text(ageing)}\n\n### Whoever would wait in vain is refused\n\n{text(admission)}"), encoding="utf-8")


main()
