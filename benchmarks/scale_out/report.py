# SPDX-License-Identifier: BSD-3-Clause
"""Write the page about scaling out from the rows of one run and the template page.md."""

import statistics
from pathlib import Path

from scale_out import settings
from scale_out.estimate import Costs, at, estimate, power_law, tasks_of_fit
from scale_out.settings import BATCHES, PARTITIONS, TREES, TREES_PER_TASK, WORKERS, Assumed

TEMPLATE = Path(__file__).parent / "page.md"
BUSY = """
On a machine as busy as this one, a second worker gets no core of its own, and such a small fit is
mostly scheduling. So this table cannot show what a second worker gains.
"""
MOST = 7  # so many trees of the estimate fit a task


def write(rows, cores, path):
    """Print the page, and replace it."""
    text = page(rows, cores)
    print(text)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text)
    temporary.replace(path)


def page(rows, cores):
    """The page of one run, on a machine with this number of cores."""
    fits = [row for row in rows if row["experiment"] == "fit"]
    parts = {name: by(rows, part=name) for name in ("survey", "draw", "tree")}
    if not fits or not all(parts.values()):
        raise SystemExit("the run has not measured everything; --resume goes on with it")
    costs = costs_of(fits, parts)
    words = about(rows, cores) | about_fits(fits) | about_parts(parts, costs) | about_large(costs)
    text = TEMPLATE.read_text()
    for name, value in words.items():
        text = text.replace(f"{{{{{name}}}}}", str(value))
    return text


# --- summaries of rows ---


def by(rows, **values):
    """The rows that have these values."""
    return [row for row in rows if all(row[key] == str(value) for key, value in values.items())]


def column(rows, field):
    return [float(row[field]) for row in rows]


def median(rows, field):
    return statistics.median(column(rows, field))


def shown(values, digits=3):
    """The median and the range, as text."""
    low, middle, high = (f"{f(values):.{digits}g}" for f in (min, statistics.median, max))
    return f"{middle} ({low} to {high})"


def milliseconds(values):
    return shown([1e3 * value for value in values])


def table(head, lines):
    head = [head, ["---"] * len(head)]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in [*head, *lines])


# --- what was measured ---


def about(rows, cores):
    loads = column(rows, "load")
    return {
        "run": rows[0]["run"],
        "cores": cores,
        "busy": BUSY if statistics.median(loads) > cores else "",
        "loads": f"{min(loads):.1f} and {max(loads):.1f}",
        "repeats": len({row["repeat"] for row in rows}),
        "trees": TREES,
        "draws": settings.DRAWS,
        "rows": settings.ROWS,
        "features": settings.FEATURES,
        "trees_per_task": TREES_PER_TASK,
        "wide": settings.WIDE,
        "partition_rows": settings.PARTITION_ROWS,
    }


def about_fits(fits):
    two = by(fits, workers=2)
    few = by(two, partitions=min(PARTITIONS))
    counts = [
        tasks_of_fit(n, 2, TREES // TREES_PER_TASK, 1, settings.READ_TASKS) for n in PARTITIONS
    ]
    return {
        "workers": workers_table(fits),
        "partitions": partitions_table(two),
        "counted": ", ".join(map(str, counts)),
        "few": min(PARTITIONS),
        "above": milliseconds([above_trees(row) / TREES for row in few]),
        "tree": milliseconds(column(few, "tree_cpu_seconds")),
        "per_partition": milliseconds(per_partition(two)),
        "per_task": milliseconds(per_task(two, "client_cpu_seconds")),
        "per_task_worker": milliseconds(per_task(two, "worker_cpu_seconds")),
    }


def workers_table(fits):
    lines = []
    for number in PARTITIONS:
        one, two = (by(fits, workers=n, partitions=number) for n in WORKERS)
        ratios = [
            float(mine["wall_seconds"]) / float(other["wall_seconds"])
            for other in one
            for mine in by(two, repeat=other["repeat"])
        ]
        walls = [shown(column(rows, "wall_seconds")) for rows in (one, two)]
        lines.append([number, *walls, shown(ratios, 2)])
    head = ["partitions", "wall seconds, 1 worker", "2 workers", "ratio within a repeat"]
    return table(head, lines)


def partitions_table(fits):
    lines = []
    for number in PARTITIONS:
        rows = by(fits, partitions=number)
        trees = [TREES * seconds for seconds in column(rows, "tree_cpu_seconds")]
        lines.append(
            [
                number,
                f"{median(rows, 'tasks'):.0f}",
                shown(column(rows, "client_cpu_seconds")),
                shown(column(rows, "worker_cpu_seconds")),
                shown(trees),
            ]
        )
    return table(["partitions", "tasks", "client and scheduler", "workers", "trees"], lines)


def above_trees(row):
    """CPU seconds of all processes above those of the trees."""
    together = float(row["client_cpu_seconds"]) + float(row["worker_cpu_seconds"])
    return together - TREES * float(row["tree_cpu_seconds"])


def per_partition(fits):
    """CPU seconds that each further partition adds to a fit, for each repeat."""
    few, many = min(PARTITIONS), max(PARTITIONS)
    return [
        (above_trees(row) - above_trees(other)) / (many - few)
        for row in by(fits, partitions=many)
        for other in by(fits, partitions=few, repeat=row["repeat"])
    ]


def per_task(fits, field):
    """CPU seconds that each further task adds to a fit, for each repeat."""
    few, many = min(PARTITIONS), max(PARTITIONS)
    return [
        (float(row[field]) - float(other[field])) / (int(row["tasks"]) - int(other["tasks"]))
        for row in by(fits, partitions=many)
        for other in by(fits, partitions=few, repeat=row["repeat"])
    ]


# --- what follows from it ---


def costs_of(fits, parts):
    """The medians that the estimate needs."""
    two = by(fits, workers=2)
    return Costs(
        per_task=statistics.median(per_task(two, "client_cpu_seconds")),
        per_task_on_worker=statistics.median(per_task(two, "worker_cpu_seconds")),
        survey_per_row=median(parts["survey"], "worker_cpu_seconds") / settings.PARTITION_ROWS,
        draw_per_partition=median(parts["draw"], "worker_cpu_seconds") / BATCHES[0],
        tree_seconds=law(parts["tree"], "tree_cpu_seconds"),
        tree_bytes=law(parts["tree"], "tree_bytes"),
    )


def sizes(trees):
    return sorted({int(row["draws"]) for row in trees})


def law(trees, field):
    """How this cost of a tree grows with its rows."""
    numbers = sizes(trees)
    return power_law(numbers, [median(by(trees, draws=n), field) for n in numbers])


def about_parts(parts, costs):
    lines = []
    for number in sizes(parts["tree"]):
        rows = by(parts["tree"], draws=number)
        megabytes = median(rows, "tree_bytes") / 1e6
        lines.append([number, shown(column(rows, "tree_cpu_seconds")), f"{megabytes:.2g}"])
    _, trees, draws = BATCHES
    draw = [seconds / BATCHES[0] for seconds in column(parts["draw"], "worker_cpu_seconds")]
    return {
        "survey": shown(column(parts["survey"], "worker_cpu_seconds")),
        "draw": milliseconds(draw),
        "part_draws": draws,
        "part_trees": trees,
        "tree_table": table(["rows", "CPU seconds", "megabytes"], lines),
        "time_power": f"{costs.tree_seconds[1]:.2f}",
        "size_power": f"{costs.tree_bytes[1]:.2f}",
    }


def about_large(costs):
    assumed = Assumed()
    auto = estimate(assumed, costs)
    total = sum(step.seconds for step in auto.steps)
    largest = max(auto.steps, key=lambda step: step.seconds)
    lines = [[step.name, f"{step.seconds:.0f}", step.how] for step in auto.steps]
    lines.append(["all, one after the other", f"{total:.0f}", f"{total / 60:.0f} minutes"])
    return {
        "large_trees": assumed.n_trees,
        "large_workers": assumed.n_workers,
        "partition_megabytes": f"{assumed.partition_rows * assumed.n_features * 4 / 1e6:.0f}",
        "max_samples": assumed.max_samples,
        "larger": f"{assumed.max_samples / max(settings.TREE_DRAWS):.3g}",
        "threads": assumed.threads,
        "memory": f"{assumed.memory / 1e9:.0f}",
        "network": f"{assumed.network / 1e9:.3g}",
        "storage": f"{assumed.storage / 1e6:.0f}",
        "auto": auto.trees_per_task,
        "waves": f"{auto.n_waves} wave" + "s" * (auto.n_waves > 1),
        "estimate": table(["step", "seconds", "from"], lines),
        "largest": largest.name,
        "share": f"{100 * largest.seconds / total:.0f}",
        "alternatives": alternatives(assumed, costs, auto),
        "model": f"{auto.model_bytes / 1e9:.3g}",
        "model_tree": f"{at(costs.tree_bytes, assumed.max_samples) / 1e6:.3g}",
    }


def alternatives(assumed, costs, auto):
    """The same estimate with larger tasks."""
    lines = []
    for number in sorted({auto.trees_per_task, 5, MOST}):
        other = estimate(assumed, costs, number)
        seconds = {step.name: step.seconds for step in other.steps}
        shares = [seconds["schedule tasks"], seconds["grow trees"], sum(seconds.values())]
        lines.append([number, other.n_tasks, *(f"{value:.0f}" for value in shares)])
    head = ["trees per task", "tasks", "schedule tasks, s", "grow trees, s", "all steps, s"]
    return table(head, lines)
