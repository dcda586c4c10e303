#!/usr/bin/env python3
"""Makes tables and plots of what compare.py measured: report.py RESULTS.json [--document FILE.md --plots DIRECTORY]

Replaces in the document what stands between the lines "<!-- measured: NAME -->" and "<!-- end -->", for the names run,
targets and results, and leaves the rest alone. Without a document, prints the targets.
"""

import argparse
import json
import re
from pathlib import Path

import picture
from targets import TARGETS, Results

COLOURS = {"raw": "#5f6368", "create-delete": "#bdc1c6", "hold + hand-over": "#bdc1c6", "forelock": "#1a73e8",
           "forelock-predecessor": "#8ab4f8", "forelock-c": "#12b5cb", "forelock-java": "#a142f4", "curator": "#e37400",
           "go-zookeeper": "#00897b", "kazoo": "#c5221f",
           "etcd": "#6a3fa0", "redis": "#a52714"}
OTHER = "#5f6368"
TITLES = {
    "uncontended": "One thread, a free monitor", "contended": "Many clients on one monitor",
    "independent": "One process, many monitors at once", "passing": "Documents that are written once",
    "sets": "The locks of 500 documents for one piece of work",
    "lingering": "A lock that stays with its process", "priority": "Foreground behind queued background work",
    "waiters": "Many waiters on one monitor", "distance": "High-latency network",
    "ensemble": "An ensemble of three", "stores": "Other stores", "dlq": "Dead letters",
    "micro": "The parts alone, processor time"}


def number(value):
    """Three digits that mean something."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def ratio(value):
    for floor in ("raw", "floor"):
        if f"to_{floor}" in value:
            return f" ({value[f'to_{floor}']:.2f})"
    return ""


def spread(value):
    return f"{number(value['lowest'])}–{number(value['highest'])}"


def kinds_of(results):
    known = [kind for kind in COLOURS if any(kind in each["values"] for each in results)]
    return known + sorted({kind for each in results for kind in each["values"]} - set(known))


def table(results):
    """One row a workload, one column a lock."""
    kinds = kinds_of(results)
    lines = ["| | unit | " + " | ".join(kinds) + " |", "|---" * (len(kinds) + 2) + "|"]
    for each in results:
        cells = []
        for kind in kinds:
            value = each["values"].get(kind)
            if value is None:
                cells.append("")
            elif each.get("counted"):
                cells.append(number(value["median"]))
            else:
                cells.append(f"{number(value['median'])}{ratio(value)}<br>{spread(value)}")
        lines.append(f"| {each['workload']} | {each['unit']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def upright_table(result):
    """One row a lock, for groups of one workload with many of them."""
    lines = [f"| | {result['unit']} | to its floor |", "|---|---|---|"]
    for kind, value in result["values"].items():
        floor = f"{value['to_floor']:.2f} × {value['floor']}" if "to_floor" in value else ""
        lines.append(f"| {kind} | {number(value['median'])} ({spread(value)}) | {floor} |")
    return "\n".join(lines)


def groups_of(results):
    return {group: of_group for group in TITLES
            if (of_group := [each for each in results if each["group"] == group])}


def plotted(group, results):
    """What there is to see in a group: waiters have curves, the others bars; parts alone are numbers."""
    if group in ("dlq", "micro"):
        return []
    if group == "waiters":
        return [each for each in results if each.get("what") == "requests"]
    return [each for each in results if not each.get("counted") and len(each["values"]) > 1]


def results_text(results, plots):
    """Every group: its plot and its table."""
    text = []
    for group, of_group in groups_of(results).items():
        text.append(f"### {TITLES[group]}\n")
        if plotted(group, of_group):
            text.append(f"![{TITLES[group]}]({plots}/{group}.svg)\n")
        upright = [each for each in of_group if each["group"] == "dlq"]
        text.append(upright_table(upright[0]) if upright else table(of_group))
        text.append("")
    return "\n".join(text).rstrip()


def targets_text(results):
    lines = ["| | target | measured | reached? |", "|---|---|---|---|"]
    known = Results(results)
    for target in TARGETS:
        try:
            value = target.measure(known)
        except KeyError:
            lines.append(f"| {target.text} | {target.goal()} | not measured | – |")
            continue
        shown = f"{value:,.0f}" if value >= 100 else f"{value:.2f}"
        reached = "yes" if target.reached(value) else "**no**"
        lines.append(f"| {target.text} | {target.goal()} | {shown}{target.unit} | {reached} |")
    return "\n".join(lines)


def run_text(measured):
    """When, where and with what."""
    machine = measured["machine"]
    facts = {
        "date": measured["date"],
        "machine": f"{machine['processors']} processors ({machine['processor']}), {machine['memory_gb']:g} GB, "
                   f"{machine['system']}, Linux {machine['kernel']}",
        "disk": f"{machine['disk_us']:,} µs to make 4 KiB durable; the servers "
                + ("wait for it" if measured["sync"] == "on" else "do not wait for it"),
        "load before": f"{measured['load_before']:g}"
                       + (" – **a busy machine: a look, not a result**"
                          if measured["load_before"] > measured["machine"]["processors"] / 2 else ""),
        "rounds": f"{measured['rounds']}, jobs of {measured['scale']:g} × the normal size; "
                  f"{measured['seconds']:,} s in all"
                  + (" – **too few for a result**" if measured["rounds"] < 5 else ""),
        "versions": ", ".join(f"{name} {version}" for name, version in measured["versions"].items()),
    }
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {fact} |" for name, fact in facts.items())])


def panel_of(each):
    """The median of every lock, with the extremes of the rounds."""
    values = [(kind, each["values"][kind]) for kind in kinds_of([each])]
    rows = [(kind, COLOURS.get(kind, OTHER), value["lowest"], value["median"], value["highest"],
             number(value["median"])) for kind, value in values]
    return each["workload"], f"{each['unit']} ({each['better']} is better)", rows


def curve_of(results):
    """Requests over waiters."""
    results = [each for each in results if each["processes"] == 4]
    series = [(f"{kind}, 4 processes", COLOURS[kind],
               [(each["waiters"], each["values"][kind]["median"]) for each in results])
              for kind in kinds_of(results)]
    return picture.curve(series, [each["waiters"] for each in results], ("waiters", "requests a hand-over"))


def draw_all(results, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for group, of_group in groups_of(results).items():
        seen = plotted(group, of_group)
        if not seen:
            continue
        drawn = curve_of(seen) if group == "waiters" else picture.bars([panel_of(each) for each in seen])
        (folder / f"{group}.svg").write_text(drawn, encoding="utf-8")


def replace(document, name, text):
    pattern = re.compile(rf"(<!-- measured: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    if not pattern.search(document):
        raise SystemExit(f"the document has no part <!-- measured: {name} --> … <!-- end -->")
    return pattern.sub(lambda match: f"{match[1]}\n{text}\n\n{match[2]}", document)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results")
    parser.add_argument("--document")
    parser.add_argument("--plots", help="with --document")
    options = parser.parse_args()
    if bool(options.document) != bool(options.plots):
        parser.error("--document and --plots belong together")
    measured = json.loads(Path(options.results).read_text(encoding="utf-8"))
    if not options.document:
        print(targets_text(measured["results"]))
        return
    document, plots = Path(options.document), Path(options.plots)
    draw_all(measured["results"], plots)

    text = document.read_text(encoding="utf-8")
    text = replace(text, "run", run_text(measured))
    text = replace(text, "targets", targets_text(measured["results"]))
    text = replace(text, "results", results_text(measured["results"], plots.name))
    document.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
