"""``co2forest tune``: parameters of a forest by trials on a table."""

import math
import time
from pathlib import Path
from typing import Any

from co2forest.cli._data import Training, describe_encoder, inputs_of, name_of, new_estimator
from co2forest.cli._layout import size_text
from co2forest.cli._messages import complain, counted, one_line, say, say_json
from co2forest.cli._outputs import check_outputs, prepare_folder
from co2forest.cli._source import TableSource
from co2forest.tables import TableModel
from co2forest.tuning import TuningResult, tune_forest


def run(
    source: TableSource,
    out: Path | None,
    *,
    method: str,
    trees: int,
    overwrite: bool,
    jobs: int,
    seed: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """Search, print all candidates, and write a model with the best if asked."""
    if out is not None:
        check_outputs([out], inputs_of(source.path), overwrite=overwrite)
    training = Training(source)
    if out is not None:
        prepare_folder(out.parent)
    training.describe()
    estimator = new_estimator(
        training, boost=False, n_estimators=trees, n_jobs=jobs, random_state=seed
    )
    started = time.monotonic()
    encoder = training.fitted_encoder()
    describe_encoder(encoder)
    rows = encoder.transform(training.features)
    result = search(
        rows,
        training.y,
        estimator,
        weights=training.row_weights,
        method=method,
        seed=seed,
        quiet=quiet,
    )
    if out is not None:
        chosen = result.estimator.set_params(verbose=0 if quiet else 1)
        model = TableModel(chosen, target=training.target, encoder=training.encoder)
        model.fit(training.frame, sample_weight=training.weights).save(out)
    seconds = time.monotonic() - started
    if as_json:
        say_json(_json(result, training, out, seconds))
        return
    say(repr(result))
    say(f"\nBest: {chosen_text(result)}.")
    if out is not None:
        size = size_text(out.stat().st_size)
        say(
            f"{one_line(str(out))}: {counted(trees, 'tree')}, {size}, trained with them on all rows"
        )


def search(
    rows: Any,
    y: Any,
    estimator: Any,
    *,
    weights: Any,
    method: str,
    seed: int,
    quiet: bool,
) -> TuningResult:
    """The paper's grid; the estimator stays unless another one is better by more than noise."""
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
    """What has come out, in words."""
    if not result.best_params:
        return "the defaults; no candidate is better by more than noise"
    chosen = ", ".join(f"{name}={value}" for name, value in result.best_params.items())
    return f"{chosen} ({result.scoring} {result.best_score:.4f})"


def tuning_json(result: TuningResult) -> dict[str, Any]:
    """A search for programs."""
    rows = [{name: _plain(value) for name, value in row.items()} for row in result.table]
    return {
        "method": result.method,
        "scoring": result.scoring,
        "best_params": {name: _plain(value) for name, value in result.best_params.items()},
        "best_score": _plain(result.best_score),
        "candidates": rows,
    }


def _json(
    result: TuningResult, training: Training, out: Path | None, seconds: float
) -> dict[str, Any]:
    return {
        "data": name_of(training.path),
        "rows": len(training.y),
        "target": training.target,
        "task": training.answers.task,
        **tuning_json(result),
        "model": None if out is None else str(out),
        "seconds": round(seconds, 3),
    }


def _plain(value: Any) -> Any:
    """JSON has no NaN."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
