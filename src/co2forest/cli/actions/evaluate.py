# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest evaluate``: how good a model is on a table."""

from pathlib import Path
from typing import Any

import numpy as np

from co2forest.cli.layout import rows_text
from co2forest.cli.messages import counted, say, say_json
from co2forest.cli.models import estimator_of, load_for_tables
from co2forest.cli.scores import Labelled, guess_error, interval_text, number_text
from co2forest.cli.tables import name_of, naming
from co2forest.files.messages import escaped, one_line
from co2forest.models.calibration import calibration
from co2forest.models.evaluation import Evaluation
from co2forest.models.metrics import metrics
from co2forest.models.mistakes import confusion

_MOST_CONFUSED = 12  # classes of which a terminal shows a matrix
_WIDEST_NAME = 12
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def run(
    *,
    model: Path,
    data: Path,
    target: str | None,
    weights: str | None,
    no_header: bool,
    part: str | None,
    jobs: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """Predict, compare and print."""
    loaded = load_for_tables(model)
    estimator_of(loaded).set_params(n_jobs=jobs)
    table = Labelled(loaded, data, target=target, weights=weights, header=not no_header, part=part)
    if not quiet:
        table.say_notes()
    try:
        evaluation = Evaluation.of(loaded, table.rows, table.y, table.weights)
    except ValueError as error:
        raise naming(data, error) from error
    classes = evaluation.task != "numbers"
    guess = guess_error(table.y, table.weights, table.y, table.weights, classes=classes)
    result: dict[str, Any] = {
        "model": str(model),
        "data": name_of(data),
        "target": table.target,
        "rows": evaluation.n_rows,
        "rows_without_target": table.n_without,
        "metrics": metrics(evaluation),
        "guess": guess,
    }
    if classes:
        found = confusion(evaluation)
        result["confusion"] = {"classes": found["names"], "counts": found["counts"]}
        result["calibration"] = calibration(evaluation)
    else:
        result["errors"] = _quantiles(evaluation)
    if as_json:
        say_json(result)
        return
    without = f" ({table.n_without} without it left out)" if table.n_without else ""
    rows = counted(evaluation.n_rows, "row")
    say(f"{name_of(data)}: {rows} with {one_line(table.target)}{without}\n")
    say(_metrics_text(result["metrics"]))
    say(_guess_text(guess, classes=classes))
    if classes:
        say(f"\n{_confusion_text(result['confusion'], evaluation)}")
        say(f"\n{_calibration_text(result['calibration'])}")
    else:
        say(f"\n{_errors_text(result['errors'])}")


def _metrics_text(found: list[dict[str, Any]]) -> str:
    rows = [
        (metric["name"], number_text(metric, metric["value"]), interval_text(metric))
        for metric in found
    ]
    return rows_text(("metric", "value", "95 % interval"), rows, left=["metric"])


def _guess_text(guess: float, *, classes: bool) -> str:
    if classes:
        best = f"{100 * (1 - guess):.2f} %"
        return f"\nAlways predicting this table's most frequent class would be right in {best}."
    return f"\nAlways predicting this table's mean would have an RMSE of {guess:.4g}."


def _confusion_text(matrix: dict[str, Any], evaluation: Evaluation) -> str:
    """The whole matrix or, with many classes, the most frequent confusions."""
    names = [_short(name) for name in matrix["classes"]]
    if len(evaluation.names) > _MOST_CONFUSED:
        return _worst_confusions(matrix)
    rows = [
        (name, *(str(count) if count else "." for count in counts))
        for name, counts in zip(names, matrix["counts"], strict=True)
    ]
    table = rows_text(("", *names), rows, left=[""])
    return f"Confusion matrix: a row for each true class, a column for each prediction\n{table}"


def _worst_confusions(matrix: dict[str, Any]) -> str:
    names = matrix["classes"]
    wrong = [
        (count, names[true], names[predicted])
        for true, counts in enumerate(matrix["counts"])
        for predicted, count in enumerate(counts)
        if count and true != predicted
    ]
    wrong.sort(key=lambda found: -found[0])
    rows = [(true, predicted, str(count)) for count, true, predicted in wrong[:_MOST_CONFUSED]]
    table = rows_text(("true", "predicted", "rows"), rows, left=["true", "predicted"])
    return f"The most frequent confusions (--json has the matrix)\n{table}"


def _short(name: str) -> str:
    name = escaped(name)
    return name if len(name) <= _WIDEST_NAME else name[: _WIDEST_NAME - 3] + "..."


def _calibration_text(found: dict[str, Any]) -> str:
    rows = [
        (
            f"{100 * row['low']:.0f} to {100 * row['high']:.0f} %",
            f"{100 * row['said']:.1f} %",
            f"{100 * row['happened']:.1f} %",
            f"{row['count']:g}",
        )
        for row in found["bins"]
    ]
    table = rows_text(("probability", "mean", "true", "rows"), rows)
    what = one_line(found["what"])
    return f"Calibration: the probability of the {what}, and how often it is true\n{table}"


def _quantiles(evaluation: Evaluation) -> list[dict[str, Any]]:
    """For each output: quantiles of the error and of its absolute value."""
    found = []
    for k, name in enumerate(evaluation.names):
        error = evaluation.prediction[:, k] - evaluation.truth[:, k]
        found.append(
            {
                "output": name,
                "quantiles": list(_QUANTILES),
                "error": np.quantile(error, _QUANTILES).tolist(),
                "absolute_error": np.quantile(np.abs(error), _QUANTILES).tolist(),
            }
        )
    return found


def _errors_text(found: list[dict[str, Any]]) -> str:
    columns = ("quantile", *(f"{100 * q:g} %" for q in _QUANTILES))
    rows = []
    for output in found:
        of = f" of {output['output']}" if len(found) > 1 else ""
        rows.append((f"prediction - truth{of}", *(f"{v:.4g}" for v in output["error"])))
        rows.append((f"absolute error{of}", *(f"{v:.4g}" for v in output["absolute_error"])))
    return f"Errors\n{rows_text(columns, rows, left=['quantile'])}"
