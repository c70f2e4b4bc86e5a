# SPDX-License-Identifier: BSD-3-Clause
"""``co2forest predict``: answers for the rows of a table."""

import contextlib
import csv
import functools
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import typer

from co2forest.cli.chunks import CHUNK, read_chunks
from co2forest.cli.messages import complain, counted, progress_bar, say, say_json
from co2forest.cli.models import encoder_of, estimator_of, feature_columns, load_for_tables, rows_of
from co2forest.cli.outputs import check_outputs, prepare_folder, write_npz
from co2forest.cli.tables import check_columns, inputs_of, name_of, naming
from co2forest.cli.texts import change_texts, without_formula
from co2forest.files.atomic import write_atomically
from co2forest.files.messages import escaped, finite, one_line

_MB = 10**6


def run(
    *,
    model: Path,
    data: Path,
    out: Path | None,
    proba: bool,
    keep: list[str] | None,
    no_header: bool,
    part: str | None,
    overwrite: bool,
    jobs: int,
    quiet: bool,
    spreadsheet_safe: bool,
    as_json: bool,
) -> None:
    """Predict chunk by chunk, so that a file may be larger than the memory."""
    if spreadsheet_safe:
        _check_form(out, as_json=as_json)
    if out is not None:
        check_outputs([out], inputs_of(model, data), overwrite=overwrite)
    loaded = load_for_tables(model)
    if proba and not hasattr(loaded, "predict_proba"):
        raise ValueError(f"{model}: predicts numbers, which have no probabilities (--proba)")
    estimator_of(loaded).set_params(n_jobs=jobs)
    started = time.monotonic()
    answers = _Answers(loaded, data, proba, keep or [], not no_header, part, quiet)
    chunks = iter(answers)
    if spreadsheet_safe:
        chunks = (change_texts(chunk, without_formula) for chunk in chunks)
    if out is None:
        _print(chunks, as_json=as_json)
        return
    prepare_folder(out.parent)
    write = _WRITERS[out.suffix.lower()]
    with _progress(data, quiet=quiet) as answers.progress:
        write_atomically(out, lambda file: write(chunks, file))
    seconds = time.monotonic() - started
    if as_json:
        say_json({"out": str(out), "rows": answers.done, "seconds": round(seconds, 3)})
    else:
        rows = counted(answers.done, "row")
        say(f"{one_line(out)}: {rows} of {name_of(data)} predicted in {seconds:.1f} s")


def _check_form(out: Path | None, *, as_json: bool) -> None:
    """Only these forms are opened with spreadsheets, which take their texts for formulas."""
    wrong = "--json" if as_json and out is None else ""
    if out is not None and out.suffix.lower() not in {".csv", ".tsv"}:
        wrong = f"--out {one_line(out.name)}"
    if wrong:
        raise typer.BadParameter(
            f"is for CSV and TSV, it has no meaning with {wrong}", param_hint="--spreadsheet-safe"
        )


def _print(chunks: Iterator[Any], *, as_json: bool) -> None:
    """Write to standard output: exact for programs, while a terminal gets no control characters."""
    if as_json:
        _write_json_lines(chunks, sys.stdout)
        return
    if sys.stdout.isatty():
        chunks = (change_texts(chunk, escaped) for chunk in chunks)
    _write_csv(chunks, sys.stdout)


@contextlib.contextmanager
def _progress(data: Path, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Shown for files of several chunks; the size of a compressed file is no guide."""
    packed = data.suffix.lower() in {".gz", ".bz2", ".xz"}
    size = data.stat().st_size if data.is_file() and not packed else 0
    with progress_bar(max(1, size // _MB), unit="MB", quiet=quiet or size <= CHUNK) as progress:
        yield lambda done: progress(min(done, size) // _MB)


@dataclass
class _Answers:
    """Frames with what is kept of the table and what is predicted, chunk by chunk."""

    _model: Any
    _data: Path
    _proba: bool
    _keep: list[str]
    _header: bool
    _part: str | None
    _quiet: bool
    _said: set[str] = field(default_factory=set)
    done: int = 0  # rows
    progress: Callable[[int], None] = lambda _: None  # called with the bytes that are done

    def __iter__(self) -> Iterator[Any]:
        encoder = encoder_of(self._model)
        # What is kept stays as it is written, such as 007; a table's model reads numbers in text.
        kept = [name.strip() for value in self._keep for name in (value, *value.split(","))]
        text = [] if encoder is None else [*encoder.text_columns(), *kept]
        columns = feature_columns(self._model)
        for frame, size in read_chunks(
            self._data, header=self._header, text=text, columns=columns, part=self._part
        ):
            yield self._of(frame)
            self.done += len(frame)
            self.progress(size)

    def _of(self, frame: Any) -> Any:
        import pandas as pd

        keep = check_columns(self._data, frame, self._keep, "keep")
        try:
            rows = rows_of(self._model, frame, others=keep)
            answers = _named("prediction", np.asarray(self._model.predict(rows)))
            if self._proba:
                answers |= self._probabilities(rows)
        except ValueError as error:
            raise naming(self._data, error) from error
        for name in keep:
            if name in answers:
                raise ValueError(
                    f"{name_of(self._data)}: --keep: {name} is also the name of an answer; rename "
                    "the column of the table"
                )
        if not self._quiet:
            self._say_notes(frame)
        return pd.DataFrame({name: frame[name] for name in keep} | answers)

    def _probabilities(self, rows: Any) -> dict[str, Any]:
        found = self._model.predict_proba(rows)
        if isinstance(found, list):  # several labels per row
            return _named("probability", np.stack([p[:, 1] for p in found], axis=1))
        labels = self._model.classes_.tolist()
        return {f"probability_{label}": found[:, k] for k, label in enumerate(labels)}

    def _say_notes(self, frame: Any) -> None:
        """What is new in a chunk, once for each column."""
        if encoder_of(self._model) is None:
            return
        needed = {*self._model.feature_names_in_}
        kept = [name for name in self._keep if name in frame.columns and name not in needed]
        for note in self._model.notes(frame.drop(columns=kept)):
            about = note.partition(":")[0]
            if about not in self._said:
                self._said.add(about)
                complain(f"note: {name_of(self._data)}: {note}")


def _named(name: str, values: Any) -> dict[str, Any]:
    """One column, or one for each output."""
    if values.ndim == 1:
        return {name: values}
    return {f"{name}_{k}": values[:, k] for k in range(values.shape[1])}


def _write_csv(chunks: Iterator[Any], stream: Any, separator: str = ",") -> None:
    for number, chunk in enumerate(chunks):
        write = functools.partial(
            chunk.to_csv, sep=separator, index=False, header=number == 0, lineterminator="\n"
        )
        text = write()
        # Readers take it for the end of a row, but before 3.13 Python gives it no quotes.
        stream.write(write(quoting=csv.QUOTE_NONNUMERIC) if "\r" in text else text)


def _write_json_lines(chunks: Iterator[Any], stream: Any) -> None:
    """An object for each row and line; JSON has no NaN."""
    for chunk in chunks:
        for row in chunk.astype(object).to_dict("records"):
            stream.write(json.dumps(finite(row), allow_nan=False, default=str) + "\n")


def _write_text(chunks: Iterator[Any], file: Path, separator: str = ",") -> None:
    with file.open("w", encoding="utf-8", newline="") as stream:
        _write_csv(chunks, stream, separator)


def _write_parquet(chunks: Iterator[Any], file: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    try:
        for chunk in chunks:
            table = pa.Table.from_pandas(chunk, preserve_index=False)
            if writer is None:
                writer = pq.ParquetWriter(file, table.schema)
            # A column may look like whole numbers in one chunk and not in the next.
            writer.write_table(table.cast(writer.schema))
    finally:
        if writer is not None:
            writer.close()


def _write_npz(chunks: Iterator[Any], file: Path) -> None:
    """Arrays by name; text as NumPy's own, because objects would be pickled."""
    import pandas as pd

    table = pd.concat(list(chunks), ignore_index=True)
    arrays = {}
    for name in table.columns:
        values = table[name].to_numpy()
        arrays[name] = values.astype(str) if values.dtype == object else values
    write_npz(file, arrays)


_WRITERS: dict[str, Callable[[Iterator[Any], Path], None]] = {
    ".csv": _write_text,
    ".tsv": functools.partial(_write_text, separator="\t"),
    ".parquet": _write_parquet,
    ".npz": _write_npz,
}
