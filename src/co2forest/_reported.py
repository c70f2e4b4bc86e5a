"""The method ``report``, which estimators and models of tables have."""

import os
from pathlib import Path
from typing import Any


class Reported:
    """A model that can write a report about itself."""

    def report(
        self,
        X: Any,
        y: Any,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        overwrite: bool = False,
        max_rows: int = 500,
        trees: Any = 10,
        image_shape: tuple[int, ...] | None = None,
        sample_weight: Any = None,
    ) -> Path:
        """Write one HTML file about the fitted model; see `co2forest.report.write_report`.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows that the model has not been trained on.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            What is true of these rows. A model of tables takes None if X has the target.
        path : str or path-like
            The file to write.
        title : str, default=None
            Heading of the page.
        overwrite : bool, default=False
            Whether a file that is there may be replaced.
        max_rows : int, default=500
            Most rows that the file shows one by one.
        trees : int or list of int, default=10
            How many trees the explorer has, or which ones.
        image_shape : (height, width) or (height, width, channels), default=None
            The shape of a row if its features are pixels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        pathlib.Path
            The file.
        """
        from co2forest.report import write_report  # which knows all estimators

        return write_report(
            self,
            X,
            y,
            path,
            title=title,
            overwrite=overwrite,
            max_rows=max_rows,
            trees=trees,
            image_shape=image_shape,
            sample_weight=sample_weight,
        )
