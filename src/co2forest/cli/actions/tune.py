# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest tune``: parameters of a forest by trials on a table."""

import time
from pathlib import Path
from typing import Any

from co2forest.cli.layout import size_text
from co2forest.cli.messages import complain, counted, say, say_json
from co2forest.cli.tables import name_of, new_estimator, read_training
from co2forest.files.messages import one_line
from co2forest.tables import TableModel
from co2forest.tuning import TuningResult, tune_forest


def run(
    *,
    data: Path,
    out: Path | None,
    method: str,
    trees: int,
    overwrite: bool,
    jobs: int,
    seed: int,
    quiet: bool,
    as_json: bool,
    **columns: Any,
) -> None:
    """Search, print all candidates, and write a model with the best parameters if asked."""
    training, encoder = read_training(data, out, overwrite=overwrite, **columns)
    estimator = new_estimator(
        training, "forest", mixture=None, n_estimators=trees, n_jobs=jobs, random_state=seed
    )
    started = time.monotonic()
    rows = encoder.transform(training.features)
    weights = training.row_weights
    result = search(
        rows, training.y, estimator, weights=weights, method=method, seed=seed, quiet=quiet
    )
    if out is not None:
        chosen = result.estimator.set_params(verbose=0 if quiet else 1)
        model = TableModel(chosen, target=training.target, encoder=training.encoder)
        model.fit(training.frame, sample_weight=training.weights).save(out)
    seconds = time.monotonic() - started
    if as_json:
        say_json(
            {
                "data": name_of(data),
                "rows": len(training.y),
                "target": training.target,
                "task": training.answers.task,
                **search_json(result),
                "model": None if out is None else str(out),
                "seconds": round(seconds, 3),
            }
        )
        return
    say(repr(result))
    say(f"\nBest: {chosen_text(result)}.")
    if out is not None:
        size = size_text(out.stat().st_size)
        say(f"{one_line(out)}: {counted(trees, 'tree')}, {size}, trained with them on all rows")


def search(
    rows: Any, y: Any, estimator: Any, *, weights: Any, method: str, seed: int, quiet: bool
) -> TuningResult:
    """Try the paper's grid; the estimator stays unless a candidate is better by more than noise."""
    if not quiet:
        complain(f"choosing parameters by trials on {counted(len(y), 'row')}")
    return tune_forest(
        rows,
        y,
        estimator=estimator,
        method=method,
        sample_weight=weights,
        refit=False,
        random_state=seed,
        verbose=0 if quiet else 1,
    )


def chosen_text(result: TuningResult) -> str:
    """The result in words."""
    if not result.best_params:
        return "the defaults; no candidate is better by more than noise"
    chosen = ", ".join(f"{name}={value}" for name, value in result.best_params.items())
    return f"{chosen} ({result.scoring} {result.best_score:.4f})"


def search_json(result: TuningResult) -> dict[str, Any]:
    """The result for programs."""
    return {
        "method": result.method,
        "scoring": result.scoring,
        "best_params": result.best_params,
        "best_score": result.best_score,
        "candidates": result.table,
    }
