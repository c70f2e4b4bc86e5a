# SPDX-License-Identifier: BSD-3-Clause
"""The picture in the README: CO2 forests beside random forests on eight sets, as SVG.

The SVG is written by hand, not by matplotlib. Its colours follow the reader's light or dark mode,
and the same results give the same bytes whatever is installed.
"""

import datasets
import store

RESULTS = "accuracy.csv"
NAME = "headline.svg"
METHODS = {"random forest": "forest", "co2": "co2"}  # method: CSS class of its marks
FEW, MANY = 10, 100  # trees

WIDTH, TOP, ROW, LEFT, RIGHT = 760, 92, 30, 196, 724
LOW, HIGH = 0.35, 1.65  # ends of the axis; the error of the large random forest is 1

STYLE = """
  text { font: 14px system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif;
         fill: #24292f; }
  .title { font-size: 17px; font-weight: 600; }
  .quiet { fill: #59636e; font-size: 12.5px; }
  .card { fill: #ffffff; stroke: #d1d9e0; }
  .grid { stroke: #e4e8ec; }
  .one { stroke: #1f5fa8; stroke-dasharray: 2 3; }
  .forest { fill: #1f5fa8; stroke: #1f5fa8; }
  .co2 { fill: #d1231f; stroke: #d1231f; }
  .few { fill: #ffffff; stroke-width: 2; }
  .bar { stroke-width: 3; opacity: 0.35; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .quiet { fill: #9198a1; }
    .card { fill: #0d1117; stroke: #3d444d; }
    .grid { stroke: #262c36; }
    .one { stroke: #6cb0f5; }
    .forest { fill: #6cb0f5; stroke: #6cb0f5; }
    .co2 { fill: #ff7b72; stroke: #ff7b72; }
    .few { fill: #0d1117; }
  }"""


def errors(results):
    """Mean test error in percent over seeds, by set, method and number of trees."""
    groups = {}
    for row in store.read(results / RESULTS):
        key = row["set"], row["method"], int(row["trees"])
        groups.setdefault(key, []).append(row)
    return {key: store.spread(rows, "error_percent").mean for key, rows in groups.items()}


def place(ratio):
    return round(LEFT + (RIGHT - LEFT) * (ratio - LOW) / (HIGH - LOW), 1)


def mark(ratio, y, kind, trees):
    few = " few" if trees == FEW else ""
    return f'<circle class="{kind}{few}" cx="{place(ratio)}" cy="{y}" r="5.5"/>'


def row_of(name, y, found):
    """Draw one set: for each method a bar from the small to the large forest."""
    unit = found[name, "random forest", MANY]
    parts = [f'<text x="20" y="{y + 5}">{datasets.TITLES[name]}</text>']
    for method, kind in METHODS.items():
        few, many = (found[name, method, trees] / unit for trees in (FEW, MANY))
        height = y - 5 if kind == "forest" else y + 6
        parts.append(
            f'<line class="bar {kind}" x1="{place(few)}" x2="{place(many)}" '
            f'y1="{height}" y2="{height}"/>'
        )
        parts += [mark(few, height, kind, FEW), mark(many, height, kind, MANY)]
    return parts


def legend(y):
    parts, x = [], 20
    for method, kind in METHODS.items():
        for trees in (FEW, MANY):
            few = " few" if trees == FEW else ""
            label = f"{'CO2 forest' if method == 'co2' else method}, {trees} trees"
            parts.append(f'<circle class="{kind}{few}" cx="{x + 6}" cy="{y - 4}" r="5.5"/>')
            parts.append(f'<text class="quiet" x="{x + 17}" y="{y}">{label}</text>')
            x += 188 if method == "random forest" else 168
    return parts


def draw(results=store.FOLDER):
    found = errors(results)
    sets = [name for name in datasets.SETS if all((name, m, MANY) in found for m in METHODS)]
    bottom = TOP + ROW * len(sets)
    size = f'viewBox="0 0 {WIDTH} {bottom + 52}" width="{WIDTH}" height="{bottom + 52}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title">',
        '<title id="title">Test errors of CO2 forests and random forests on eight sets</title>',
        f"<style>{STYLE}\n</style>",
        f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{bottom + 51}" rx="8"/>',
        '<text class="title" x="20" y="32">Ten CO2 trees beside a hundred axis-aligned ones</text>',
        *legend(60),
    ]
    for tick in (0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6):
        kind = "one" if tick == 1.0 else "grid"
        parts.append(
            f'<line class="{kind}" x1="{place(tick)}" x2="{place(tick)}" '
            f'y1="{TOP - 16}" y2="{bottom - 8}"/>'
        )
        parts.append(
            f'<text class="quiet" text-anchor="middle" x="{place(tick)}" y="{bottom + 10}">'
            f"{tick:g}</text>"
        )
    for index, name in enumerate(sets):
        parts += row_of(name, TOP + ROW * index + 2, found)
    middle = (LEFT + RIGHT) / 2
    parts.append(
        f'<text class="quiet" text-anchor="middle" x="{middle}" y="{bottom + 34}">'
        f"test error; that of a random forest of {MANY} trees is 1</text>"
    )
    return "\n".join([*parts, "</svg>", ""])


def write(path, results=store.FOLDER):
    path.write_text(draw(results))
