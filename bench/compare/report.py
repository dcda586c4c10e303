#!/usr/bin/env python3
"""Makes tables and plots of what compare.py measured: report.py RESULTS.json --markdown FILE --plots DIRECTORY"""

import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend comes first)

COLOURS = {"raw": "#9aa0a6", "forelock": "#1a73e8", "forelock-predecessor": "#8ab4f8", "curator": "#e37400",
           "go-zookeeper": "#00897b", "kazoo": "#c5221f", "etcd": "#6a3fa0", "redis": "#a52714"}


def number(value):
    """Three digits that mean something."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def table(results):
    """One row a workload, one column a lock: the median, and its ratio to the floor."""
    kinds = [kind for kind in COLOURS if any(kind in each["values"] for each in results)]
    lines = ["| | unit | " + " | ".join(kinds) + " |", "|---" * (len(kinds) + 2) + "|"]
    for each in results:
        cells = []
        for kind in kinds:
            value = each["values"].get(kind)
            if value is None:
                cells.append("")
                continue
            ratio = f" ({value['to_raw']:.2f})" if "to_raw" in value else ""
            cells.append(number(value["median"]) + ratio)
        lines.append(f"| {each['workload']} | {each['unit']} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def plot(each, path):
    """Bars with the extremes of the rounds."""
    kinds = [kind for kind in COLOURS if kind in each["values"]]
    values = [each["values"][kind] for kind in kinds]
    figure, axes = plt.subplots(figsize=(6, 0.45 * len(kinds) + 1.1))
    medians = [value["median"] for value in values]
    spread = [[value["median"] - value.get("lowest", value["median"]) for value in values],
              [value.get("highest", value["median"]) - value["median"] for value in values]]
    axes.barh(kinds, medians, xerr=spread, color=[COLOURS[kind] for kind in kinds], ecolor="#5f6368", capsize=3)
    axes.invert_yaxis()
    axes.set_xlabel(f"{each['unit']} ({each['better']} is better)")
    axes.set_title(each["workload"], fontsize=10, loc="left")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def file_name(workload):
    return "".join(c if c.isalnum() else "-" for c in workload.lower()).strip("-") + ".svg"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results")
    parser.add_argument("--markdown", required=True)
    parser.add_argument("--plots")
    options = parser.parse_args()
    measured = json.loads(Path(options.results).read_text(encoding="utf-8"))
    Path(options.markdown).write_text(table(measured["results"]), encoding="utf-8")
    if options.plots:
        matplotlib.rcParams["svg.hashsalt"] = "forelock"
        Path(options.plots).mkdir(parents=True, exist_ok=True)
        for each in measured["results"]:
            if len(each["values"]) > 1:
                plot(each, Path(options.plots) / file_name(each["workload"]))


if __name__ == "__main__":
    main()
