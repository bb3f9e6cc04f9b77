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


# ---- aims --------------------------------------------------------------------

FLOOR = "a driver that does nothing"
CONNECT = "connect and disconnect"
# What is aimed at: words, figure, variant, measured against (a variant: the
# ratio to it; LESS + variant: what it is more; None: itself), most or least.
LESS = "more than "
AIMS = [
    ("pooled connect / the manager's own cost", CONNECT, "ours", FLOOR,
     "most", 1.10),
    ("the same with a key", CONNECT, "ours, with a key", FLOOR, "most", 1.10),
    ("psqlODBC by socket, trust / ours", CONNECT, "psqlODBC, socket, trust",
     "ours", "least", 50),
    ("psqlODBC by TCP, SCRAM / ours", CONNECT, "psqlODBC, TCP, SCRAM", "ours",
     "least", 100),
    ("manager's pool, ManagerPooling=allow / over a driver that does nothing",
     CONNECT, "manager's pool over ours, allow", "manager's pool over that",
     "most", 1.2),
    ("SQLFetch, instructions more", "SQLFetch over nothing", "ours",
     LESS + "direct", "most", 60),
    ("SQLGetData, instructions more", "SQLGetData over nothing", "ours",
     LESS + "direct", "most", 60),
    ("SQLExecDirect and SQLFreeStmt, instructions more",
     "SQLExecDirect+SQLFreeStmt over nothing", "ours", LESS + "direct",
     "most", 120),
    ("rowset of 1000 / direct", "rows: rowset of 1000", "ours", "direct",
     "most", 1.01),
    ("rowset of 1000, with execute / direct",
     "rows: rowset of 1000, with execute", "ours", "direct", "most", 1.01),
    ("row by row, with execute / direct",
     "rows: row by row, bound, with execute", "ours", "direct", "most", 1.01),
    ("row by row, bound / direct", "rows: row by row, bound", "ours",
     "direct", "most", 1.05),
    ("row by row, SQLGetData / direct", "rows: row by row, SQLGetData", "ours",
     "direct", "most", 1.05),
    ("pyodbc fetchall, with execute / direct",
     "rows: pyodbc fetchall, with execute", "ours", "direct", "most", 1.01),
    ("verdict, 16 instances, ns", "verdict", "16 instances, owner idle", None,
     "most", 200),
    ("verdict, 1,000 instances, ns", "verdict", "1000 instances, owner idle",
     None, "most", 1000),
    ("adaptive verdict, 16 instances, ns", "verdict",
     "16 instances, no key, adaptive", None, "most", 200),
    ("a link to each of 61 that take 200 ms, while three hang, ms",
     "starting over 64 instances of which 3 hang",
     "hashed key: a link to each that answers", None, "most", 220),
    ("adaptive verdict, 1,000 instances, ns", "verdict",
     "1000 instances, no key, adaptive", None, "most", 1000),
] + [
    (f"key among a million {kind} partitions, {unit}", figure,
     f"1,000,000 {kind} partitions", None, "most", most)
    for figure, unit, most in (("key", "ns", 250),
                               ("memory of a partition", "bytes", 32))
    for kind in ("range", "list", "hash")
] + [
    ("a session without a link, bytes", "memory of a session",
     "without a link", None, "most", 2048),
    ("check-outs, two threads / one", "check-outs", "2 threads", "1 thread",
     "least", 1.8),
]


def judge(figures):
    """What was measured of AIMS: [{aim, value, most or least, reached}]"""
    found = []
    for words, figure, variant, against, bound, limit in AIMS:
        variants = figures.get(figure, {})
        other = (against or variant).removeprefix(LESS)
        if variant not in variants or other not in variants:
            continue
        values, base = variants[variant][1], variants[other][1]
        value = statistics.median(values)
        if against and against.startswith(LESS):
            value -= statistics.median(base)
        elif against:
            value = ratio(values, base)
        found.append({"aim": words, "value": value, bound: limit, "reached":
                      value <= limit if bound == "most" else value >= limit})
    return found


def print_aims(aims):
    print("\naims")
    for aim in aims:
        bound = "most" if "most" in aim else "least"
        print(f"  {aim['aim']:70}{number(aim['value']):>8}  "
              f"at {bound} {aim[bound]:g}"
              f"{'' if aim['reached'] else ': not reached'}")


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
    figures = read(os.path.join(folder, "values.tsv"))
    summary = summarize(figures)
    aims = judge(figures)
    print_table(summary)
    print_aims(aims)
    cores = os.cpu_count()
    print(f"\n{cores} cores; load before: {before}, after: {after} "
          "(1, 5, 15 minutes)")
    write(folder, "bench.json", json.dumps(
        {"cores": cores, "load_before": before, "load_after": after,
         "figures": summary, "aims": aims}, indent=1) + "\n")
    write_plots(folder, summary)
    print(f"values, bench.json and plots: {folder}")


main()
