#!/usr/bin/python3
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
"""Makes a table, bench.json and plots of what the bench measured.

usage: report.py FOLDER LOAD_BEFORE LOAD_AFTER

Reads FOLDER/values.tsv, lines of figure, variant, unit and value. Every
variant is given as its median and as the ratio of its figure's baseline: the
median of the ratios of each round where both have as many values, since what
else the machine did in one round touched both.
"""
import json
import os
import statistics
import sys
from xml.sax.saxutils import escape

# A figure's baseline, by the variant's name: the first that it has.
BASELINES = ["a driver that does nothing", "psqlODBC, socket, trust", "direct",
             "1 thread"]


def read(path):
    """{figure: {variant: (unit, [value, …])}}, in the order of the file."""
    figures = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            figure, variant, unit, value = line.rstrip("\n").split("\t")
            values = figures.setdefault(figure, {})
            values.setdefault(variant, (unit, []))[1].append(float(value))
    return figures


def ratio(values, base):
    if len(values) == len(base):
        return statistics.median(v / b for v, b in zip(values, base))
    return statistics.median(values) / statistics.median(base)


def summarize(figures):
    """{figure: {baseline, unit, variants: {name: {median, …}}}}"""
    summary = {}
    for figure, variants in figures.items():
        baseline = next((b for b in BASELINES if b in variants), None)
        out = {"unit": next(iter(variants.values()))[0],
               "baseline": baseline, "variants": {}}
        for name, (_, values) in variants.items():
            entry = {"median": statistics.median(values), "least": min(values),
                     "most": max(values), "values": len(values)}
            if baseline:
                entry["ratio"] = ratio(values, variants[baseline][1])
                entry["more"] = (entry["median"] -
                                 statistics.median(variants[baseline][1]))
            out["variants"][name] = entry
        summary[figure] = out
    return summary


def number(value):
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def print_table(summary):
    for figure, data in summary.items():
        print(f"\n{figure} ({data['unit']})")
        for name, entry in data["variants"].items():
            line = (f"  {name:44}{number(entry['median']):>12}"
                    f"  {number(entry['least'])} to {number(entry['most'])}")
            if "ratio" in entry and name != data["baseline"]:
                line += (f"  {entry['ratio']:7.3f} x, "
                         f"{'+' * (entry['more'] >= 0)}"
                         f"{number(entry['more'])}")
            print(line)


# ---- plots -------------------------------------------------------------------

WIDTH, LABEL, BAR, GAP = 640, 250, 18, 6
STYLE = ("text{font:12px sans-serif;fill:#444}.t{font-weight:bold}"
         ".o{fill:#2a6fb0}.b{fill:#b8c4ce}"
         "@media(prefers-color-scheme:dark){text{fill:#ccc}}")


def plot(title, bars):
    """An SVG of horizontal bars: (name, value, text, ours)."""
    most = max(value for _, value, _, _ in bars)
    room = WIDTH - LABEL - 110
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
           f'height="{34 + len(bars) * (BAR + GAP)}"><style>{STYLE}</style>',
           f'<text class="t" x="4" y="18">{escape(title)}</text>']
    for i, (name, value, text, ours) in enumerate(bars):
        y = 30 + i * (BAR + GAP)
        length = max(1, round(room * value / most))
        out.append(f'<text x="{LABEL - 8}" y="{y + 13}" text-anchor="end">'
                   f'{escape(name)}</text><rect class="{"ob"[not ours]}" '
                   f'x="{LABEL}" y="{y}" width="{length}" height="{BAR}"/>'
                   f'<text x="{LABEL + length + 6}" y="{y + 13}">'
                   f'{escape(text)}</text>')
    return "\n".join(out) + "\n</svg>\n"


def plot_medians(figure, data):
    return plot(f"{figure} ({data['unit']})",
                [(name, entry["median"],
                  f"{number(entry['median'])} {data['unit']}",
                  name.startswith("ours"))
                 for name, entry in data["variants"].items()])


def plot_rows(summary):
    bars = [(figure.removeprefix("rows: "),
             data["variants"]["ours"]["ratio"],
             f"{data['variants']['ours']['ratio']:.3f} x", True)
            for figure, data in summary.items()
            if figure.startswith("rows: ")]
    return bars and plot("many rows: ours / psqlODBC directly", bars)


def write_plots(folder, summary):
    plots = {
        "connect.svg": "connect and disconnect",
        "connect-select.svg": "connect, SELECT 1, disconnect",
    }
    for name, figure in plots.items():
        if figure in summary:
            write(folder, name, plot_medians(figure, summary[figure]))
    rows = plot_rows(summary)
    if rows:
        write(folder, "rows.svg", rows)


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
        out.write(text)


def main():
    folder, before, after = sys.argv[1:4]
    summary = summarize(read(os.path.join(folder, "values.tsv")))
    print_table(summary)
    cores = os.cpu_count()
    print(f"\n{cores} cores; load before: {before}, after: {after} "
          "(1, 5, 15 minutes)")
    write(folder, "bench.json", json.dumps(
        {"cores": cores, "load_before": before, "load_after": after,
         "figures": summary}, indent=1) + "\n")
    write_plots(folder, summary)
    print(f"values, bench.json and plots: {folder}")


main()
