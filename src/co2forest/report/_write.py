# SPDX-License-Identifier: BSD-3-Clause
"""Writes the report of a model into a file."""

import os
from pathlib import Path
from typing import Any

from co2forest.files.atomic import write_atomically
from co2forest.models.arguments import whole_number
from co2forest.models.evaluation import Evaluation
from co2forest.report._document import gather
from co2forest.report._page import environment, page

MAX_ROWS = 500
TREES = 10


def write_report(
    model: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    overwrite: bool = False,
    max_rows: int = MAX_ROWS,
    trees: Any = TREES,
    image_shape: tuple[int, ...] | None = None,
    sample_weight: Any = None,
) -> Path:
    """Write one HTML file about a fitted model: how good it is, where it fails, what it looks at.

    The file needs no network and no other file. The same model and data give the same bytes.

    Parameters
    ----------
    model : fitted classifier, regressor or TableModel
        For a segmenter, pass its ``classifier_`` and rows that are windows.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Rows that the model has not been trained on.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The true answers for these rows. A TableModel takes None if X has the target.
    path : str or path-like
        The file to write.
    title : str, default=None
        Heading of the page; None is "Report on" and the name of the estimator's class.
    overwrite : bool, default=False
        Whether an existing file may be replaced.
    max_rows : int, default=500
        Most rows that the file shows one by one; all numbers use all rows.
    trees : int or list of int, default=10
        How many trees the explorer has, from the first on, or which ones.
    image_shape : (height, width) or (height, width, channels), default=None
        The shape of a row if its features are pixels: weights are then shown as images.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in metrics and calibration. Tables and trees count rows.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    FileExistsError
        If the file exists already and ``overwrite`` is False.
    IsADirectoryError
        If the path is a folder.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from co2forest import CO2ForestClassifier
    >>> from co2forest.report import write_report
    >>> wine = load_wine(as_frame=True)
    >>> forest = CO2ForestClassifier(10, random_state=0).fit(wine.data[::2], wine.target[::2])
    >>> write_report(forest, wine.data[1::2], wine.target[1::2], "wine.html").name
    'wine.html'
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file to write")
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} exists already; overwrite=True would replace it")
    if not path.parent.is_dir():  # before the work, not after it
        raise FileNotFoundError(f"{path.parent} is not a folder, so {path.name} cannot be written")
    max_rows = whole_number(max_rows, "max_rows", 0)
    if title is not None and not isinstance(title, str):
        raise TypeError(f"title must be a string or None, got {title!r}")
    environment()  # says what is missing before the work, not after it
    evaluation = Evaluation.of(model, X, y, sample_weight)
    document = gather(
        evaluation,
        title=title or f"Report on {type(model).__name__}",
        max_rows=max_rows,
        trees=trees,
        image_shape=image_shape,
    )
    content = page(document).encode("utf-8")
    write_atomically(path, lambda temporary: temporary.write_bytes(content))
    return path
