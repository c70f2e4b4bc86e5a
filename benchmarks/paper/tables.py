# SPDX-License-Identifier: BSD-3-Clause
"""Table 1 beside the paper's numbers, and the orderings that the paper claims."""

import csv
import io

import store
from paper import measured

TABLE_FIELDS = ["set", "kind", "method", "size", "error_percent", "standard_error", "measured_size"]
TABLE_FIELDS += ["trees_reached", "cpu_seconds_per_tree", "paper_error_percent", "difference"]
ORDERING_FIELDS = ["set", "size", "method", "other", "error_percent", "other_error_percent"]
ORDERING_FIELDS += ["difference", "noise", "outcome", "paper_difference"]
COMPLETE = "complete"


def write(config, curves, folder):
    """Write table1.md, table1.csv and orderings.csv."""
    write_text(folder / "table1.md", markdown(config, curves))
    write_csv(folder / "table1.csv", TABLE_FIELDS, table_rows(config, curves))
    write_csv(folder / "orderings.csv", ORDERING_FIELDS, ordering_rows(config, curves))


def write_csv(path, fields, rows):
    text = io.StringIO()
    writer = csv.DictWriter(text, fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows(store.rounded(row) for row in rows)
    write_text(path, text.getvalue())


def write_text(path, text):
    """Replace a file atomically."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text)
    temporary.replace(path)


def sizes_of(config, kind):
    return config["report"]["complete_sizes" if kind == COMPLETE else "other_sizes"]


def published(config, name, kind, method, size):
    """The paper's error, if the set is the paper's and the paper has the method; else None."""
    column = config["methods"][method].get("published_as")
    numbers = config["sets"][name].get("published", {}).get(column)
    sizes = config["report"]["published_sizes"]
    if kind != COMPLETE or numbers is None or size not in sizes:
        return None
    return numbers[sizes.index(size)]


def measured_cells(config, curves):
    """Sets, methods and curves in the order of the configuration."""
    for name in config["sets"]:
        for method in config["methods"]:
            if (name, method) in curves:
                yield name, method, curves[name, method]


def table_rows(config, curves):
    """Rows of table1.csv. A forest that is too small is represented by its largest size."""
    for name, method, curve in measured_cells(config, curves):
        for size in sizes_of(config, curve.kind):
            largest = curve.largest(size)
            point = curve.points.get(largest)
            paper = published(config, name, curve.kind, method, size)
            comparable = paper is not None and largest == size
            yield {
                "set": name,
                "kind": curve.kind,
                "method": method,
                "size": size,
                "error_percent": point.error if point else "",
                "standard_error": point.standard_error if point else "",
                "measured_size": largest or 0,
                "trees_reached": curve.reached,
                "cpu_seconds_per_tree": curve.cpu_per_tree,
                "paper_error_percent": "" if paper is None else paper,
                "difference": point.error - paper if comparable else "",
            }


def ordering_rows(config, curves):
    """For each complete set and size, whether CO2 forests make fewer errors than the others."""
    ours = [m for m, s in config["methods"].items() if s.get("published_as") == "co2"]
    others = [m for m, s in config["methods"].items() if s.get("published_as", "co2") != "co2"]
    for name in config["sets"]:
        for method in ours:
            for other in others:
                yield from _orderings(config, curves, name, method, other)


def _orderings(config, curves, name, method, other):
    if (name, method) not in curves or (name, other) not in curves:
        return
    one, two = curves[name, method], curves[name, other]
    if one.kind != COMPLETE:
        return
    for size in config["report"]["complete_sizes"]:
        if size not in one.points or size not in two.points:
            continue
        a, b = one.points[size], two.points[size]
        papers = [published(config, name, one.kind, m, size) for m in (method, other)]
        yield {
            "set": name,
            "size": size,
            "method": method,
            "other": other,
            "error_percent": a.error,
            "other_error_percent": b.error,
            "difference": a.error - b.error,
            "noise": measured.noise(a, b),
            "outcome": measured.outcome(a, b),
            "paper_difference": "" if None in papers else papers[0] - papers[1],
        }


def markdown(config, curves):
    """The text of table1.md."""
    complete = {key: curve for key, curve in curves.items() if curve.kind == COMPLETE}
    others = {key: curve for key, curve in curves.items() if curve.kind != COMPLETE}
    sizes = config["report"]["complete_sizes"]
    lines = ["# Test errors in percent, beside Table 1 of the paper", ""]
    lines += [
        "The brackets hold the paper's number, and ours minus the paper's. An asterisk marks a",
        "method that differs from our CO2 forest by less than noise. Noise is twice the standard",
        'error of the difference of two errors on this many test rows. "at n" means that the',
        "forest had no time for more trees. CPU s are the seconds to train one tree.",
        "",
    ]
    lines += _table(config, complete, sizes)
    lines += ["", "## CO2 forests against the others", ""]
    lines += _outcomes(config, curves)
    if others:
        lines += ["", "## Subsets and stand-ins", ""]
        lines += ["Do not compare these with the paper's numbers: the data are not the same.", ""]
        lines += _table(config, others, config["report"]["other_sizes"])
    return "\n".join(lines) + "\n"


def _table(config, curves, sizes):
    yield "| set | method | " + " | ".join(f"{size} trees" for size in sizes) + " | CPU s |"
    yield "|---|---|" + "---|" * len(sizes) + "---|"
    last = None
    for name, method, curve in measured_cells(config, curves):
        title = config["sets"][name]["title"] if name != last else ""
        if title and curve.kind != COMPLETE and curve.kind not in title:
            title += f" ({curve.kind})"
        last = name
        texts = [_text(config, curves, name, method, size) for size in sizes]
        label = config["methods"][method]["label"]
        label = f"**{label}**" if method == "co2" else label
        seconds = f"{curve.cpu_per_tree:.2g}" if curve.reached else f"> {curve.cpu_per_tree:.0f}"
        yield f"| {title} | {label} | " + " | ".join(texts) + f" | {seconds} |"


def _text(config, curves, name, method, size):
    """One error, with the paper's number and a mark for noise."""
    curve = curves[name, method]
    paper = published(config, name, curve.kind, method, size)
    largest = curve.largest(size)
    if largest is None:
        return "-" if paper is None else f"- ({paper:.1f})"
    point = curve.points[largest]
    if largest < size:
        return f"{point.error:.2f} at {largest}" + ("" if paper is None else f" ({paper:.1f})")
    champion = curves.get((name, "co2"))
    star = ""
    if method != "co2" and champion and size in champion.points:
        star = r"\*" if measured.outcome(champion.points[size], point) == "within noise" else ""
    compared = "" if paper is None else f" ({paper:.1f}, {point.error - paper:+.2f})"
    return f"{point.error:.2f}{star}{compared}"


def _outcomes(config, curves):
    """How often each ordering holds."""
    counts = {}
    for row in ordering_rows(config, curves):
        pair = counts.setdefault((row["method"], row["other"]), {})
        pair[row["outcome"]] = pair.get(row["outcome"], 0) + 1
    yield "These are counts over complete sets and all sizes, each a row of `orderings.csv`."
    yield ""
    yield "| method | has fewer errors than | holds | within noise | fails |"
    yield "|---|---|---|---|---|"
    for (method, other), pair in counts.items():
        names = [config["methods"][m]["label"] for m in (method, other)]
        numbers = [str(pair.get(v, 0)) for v in ("holds", "within noise", "fails")]
        yield f"| {names[0]} | {names[1]} | " + " | ".join(numbers) + " |"
