# SPDX-License-Identifier: BSD-3-Clause
"""Searches for parameters of a forest: run, in words, and for programs."""

from typing import Any

from co2forest.cli.messages import complain, counted
from co2forest.tuning import TuningResult, tune_forest


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
