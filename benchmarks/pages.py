# SPDX-License-Identifier: BSD-3-Clause
"""Compute tables of the documentation from the stored results.

    python benchmarks/pages.py    # write them into the pages

A table stands in its page between two comments, `<!-- measured: NAME -->` and
`<!-- end measured -->`. Some pages are computed as a whole. A test and the build of the site fail
if a page disagrees with the CSV files.
"""

from pathlib import Path

import accuracy
import curves
import datasets
import store
import tuning
from attack import table as random_attacks
from bars import FOREST, OURS, REACH, common_size
from contest.experiments import EXPERIMENTS
from contest.report import cpu_ratios_of_sets, last_of_cells, means, page
from ctrl_c import table as interrupted_work
from curves import first_below, with_trees
from regions import REGION, markdown, replaced
from robustness import table as robustness_table
from run import SPEED
from scaling import SCALING
from tables import report as tables_report

ROOT = Path(__file__).parent.parent
THREADS = 2


def title(name):
    return datasets.TITLES.get(name, name)


def errors_of(rows, name, method, sizes):
    """Mean test errors over seeds, one for each number of trees."""
    mine = [row for row in rows if (row["set"], row["method"]) == (name, method)]
    by_size = [[row for row in mine if int(row["trees"]) == size] for size in sizes]
    found = [store.spread(group, "error_percent") for group in by_size]
    return " / ".join(f"{error.mean:.2f}" for error in found if error)


def accuracy_table():
    rows = store.read(accuracy.RESULTS)
    head = ["data", "CO2 forest, 10 / 30 / 100 trees", "random forest, 10 / 30 / 100 trees"]
    head += ["the paper, tuned, 10 / 30 / 1000 trees"]
    table = []
    for name, paper in accuracy.PAPER.items():
        ours, theirs = (
            errors_of(rows, name, method, accuracy.TREES) for method in ("co2", "random forest")
        )
        published = " / ".join(f"{error:.1f}" for error in paper) if paper else "-"
        table.append([title(name), ours, theirs, published])
    return markdown(head, table)


def solvers_table():
    rows = store.read(accuracy.RESULTS)
    head = ["data", '`solver="auto"`, 10 / 30 / 100 trees', '`solver="cccp"`']
    table = []
    for name in accuracy.PAPER:
        errors = [errors_of(rows, name, method, accuracy.TREES) for method in ("co2", "cccp")]
        if all(errors):
            table.append([title(name), *errors])
    return markdown(head, table)


def speed_curves(folder=store.FOLDER, threads=THREADS):
    return curves.read_curves(store.rows_of_run(folder / SPEED), threads)


def part(ratio):
    return f"1/{ratio:.0f}" if ratio >= 9.95 else f"1/{ratio:.1f}"


def time_saved_table():
    found = speed_curves()
    head = ["data", "random forest, trees: error", "CO2 forest, trees: error"]
    head += ["CPU time of the fit", "size of the file"]
    table = []
    for name, trees in REACH:
        theirs = with_trees(found[name, FOREST], trees)
        ours = first_below(found[name, OURS], theirs.error)
        table.append(
            [
                title(name),
                *(f"{forest.trees}: {forest.error:.2f} %" for forest in (theirs, ours)),
                part(theirs.fit_cpu / ours.fit_cpu),
                part(theirs.model_bytes / ours.model_bytes),
            ]
        )
    return markdown(head, table)


def per_tree_table():
    found = speed_curves()
    pairs = {name: common_size(found, name, OURS, FOREST) for name, _ in REACH}
    ratios = {title(name): ours.fit_cpu / theirs.fit_cpu for name, (ours, theirs) in pairs.items()}
    ratios = dict(sorted(ratios.items(), key=lambda item: item[1]))
    return markdown(list(ratios), [[f"{ratio:.2f}" for ratio in ratios.values()]])


def memory_table():
    rows = store.rows_of_run(store.FOLDER / SCALING)
    rows = [row for row in rows if row["experiment"] == "memory"]
    groups = store.grouped(rows, "rows", "features", "dtype")
    dtypes = list(dict.fromkeys(dtype for _, _, dtype in groups))
    table = [
        [f"{int(n):,} x {p}".replace(",", " "), *(work_space(groups[n, p, d]) for d in dtypes)]
        for n, p in dict.fromkeys(key[:2] for key in groups)
    ]
    return markdown(["rows x features", *dtypes], table)


def work_space(rows):
    """Peak memory of a fit without the model, as a fraction of the input."""
    peak, given, model = (
        curves.median(rows, field) for field in ("fit_peak_mib", "input_mib", "model_bytes")
    )
    return f"{(peak - model / 2**20) / given:.2f}"


def tuning_table():
    rows = store.read(tuning.RESULTS)
    methods = list(dict.fromkeys(row["method"] for row in rows))
    table = []
    for name in dict.fromkeys(row["set"] for row in rows):
        cells = []
        for method in methods:
            mine = [row for row in rows if (row["set"], row["method"]) == (name, method)]
            errors = [store.spread(mine, f"error_{size}_percent").mean for size in tuning.TREES]
            cost = store.spread(mine, "cpu_seconds")
            seconds = f" ({cost.mean:.1f} s)" if cost else ""
            cells.append(" / ".join(f"{error:.2f}" for error in errors) + seconds)
        table.append([title(name), *cells])
    head = [method if method == "as given" else f'`"{method}"`' for method in methods]
    return markdown(["data", *head], table)


def engines_table():
    found = speed_curves(store.FOLDER / "axis", threads=1)
    head = ["data", "error in %, ours", "scikit-learn's", "CPU s of the fit, ours"]
    head += ["scikit-learn's", "ratio"]
    table = []
    for name, _ in REACH:
        libraries = ("co2forest_axis", "random_forest_entropy")
        ours, theirs = (with_trees(found[name, library], 100) for library in libraries)
        numbers = [ours.error, theirs.error, ours.fit_cpu, theirs.fit_cpu]
        numbers += [ours.fit_cpu / theirs.fit_cpu]
        table.append([title(name), *(f"{number:.2f}" for number in numbers)])
    return markdown(head, table)


def boosting_table():
    rows = store.read(store.FOLDER / "regression.csv")
    errors = means(last_of_cells(rows), "rmse")
    reference = "lightgbm_500"
    cpu = cpu_ratios_of_sets(rows, reference, lambda row: float(row["fit_cpu_seconds"]))
    methods = {"co2_boosting": "CO2 boosting", reference: "LightGBM", "xgboost_500": "XGBoost"}
    methods["lightgbm_3000"] = "LightGBM, 3000 rounds"
    table = []
    for name in dict.fromkeys(row["set"] for row in rows):
        found = [errors[name, method] for method in methods]
        best = min(found)
        cells = [f"**{error:.3f}**" if error == best else f"{error:.3f}" for error in found]
        table.append([f"`{name}`", *cells, f"{cpu['co2_boosting'][name]:.1f}"])
    return markdown(["set", *methods.values(), "CPU"], table)


TABLES = {
    "accuracy": accuracy_table,
    "boosting": boosting_table,
    "engines": engines_table,
    "memory": memory_table,
    "per_tree": per_tree_table,
    "solvers": solvers_table,
    "time_saved": time_saved_table,
    "tuning": tuning_table,
}


def table_of_suite(name):
    def table():
        return tables_report.tables(store.read(store.FOLDER / "tables.csv"))[name]()

    return table


TABLES |= {name: table_of_suite(name) for name in tables_report.tables([])}


def robustness_tables():
    return robustness_table.tables(store.rows_of_run(store.FOLDER / "robustness.csv"))


def attack_table():
    return random_attacks.of(store.read(store.FOLDER / "attack.csv"))


def ctrl_c_table():
    return interrupted_work.of(store.read(store.FOLDER / interrupted_work.CSV))


TABLES |= {"robustness": robustness_tables, "attacks": attack_table, "ctrl_c": ctrl_c_table}


def contest_page(name):
    return lambda: page(EXPERIMENTS[name], store.read(store.FOLDER / f"{name}.csv"))


def faces_page():
    from faces import config, report
    from faces.measured import Scores

    settings = config.read()
    return report.page(settings, Scores(settings, store.FOLDER), ROOT / "docs" / "faces")


def paper_table():
    from paper import config, run, tables

    settings = config.read()
    return tables.markdown(settings, run.stored_curves(settings, run.RESULTS))


PAGES = {f"docs/benchmarks/{name}.md": contest_page(name) for name in EXPERIMENTS}
PAGES |= {"docs/faces.md": faces_page, "docs/paper/table1.md": paper_table}


def refreshed(path, text):
    """The text of a page with the numbers of the CSV files."""
    if path in PAGES:
        return PAGES[path]()
    return replaced(text, TABLES)


def pages():
    """All pages with measured numbers: the path from the root, and the text."""
    for path in sorted((ROOT / "docs").rglob("*.md")):
        name = path.relative_to(ROOT).as_posix()
        text = path.read_text()
        if name in PAGES or REGION.search(text):
            yield name, text


def main():
    for name, text in pages():
        new = refreshed(name, text)
        if new != text:
            (ROOT / name).write_text(new)
            print(name)


if __name__ == "__main__":
    main()
