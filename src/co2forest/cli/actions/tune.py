# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest tune``: parameters of a forest by trials on a table."""

import time
from pathlib import Path
from typing import Any

from co2forest.cli.layout import size_text
from co2forest.cli.messages import counted, say, say_json
from co2forest.cli.outputs import check_outputs, prepare_folder
from co2forest.cli.searches import chosen_text, search, search_json
from co2forest.cli.tables import Training, describe_encoder, inputs_of, name_of, new_estimator
from co2forest.files.messages import one_line
from co2forest.tables import TableModel


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
    if out is not None:
        check_outputs([out], inputs_of(data), overwrite=overwrite)
    training = Training(data, **columns)
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
