# SPDX-License-Identifier: BSD-3-Clause
"""From the leaves of a forest to what its estimator predicts, in C.

For each kind of outputs ``outputs.c.in`` has what the functions do, their declarations, and the
functions, which go to their places in ``forest.c.in``. The functions call ``co2forest_outputs``,
which writes what the trees say.
"""

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy.typing as npt

from co2forest.data.outputs.classes import ClassOutputs
from co2forest.data.outputs.numbers import NumberOutputs
from co2forest.models.view import ModelView

Tables = list[tuple[str, npt.NDArray[Any], str]]  # names, contents and what they are


@dataclass(frozen=True)
class Interface:
    """The functions that a file offers, as templates."""

    noun: str  # what an output is called
    count: str  # the macro with the number of outputs
    described: str
    declared: str
    functions: str
    tables: Tables
    rounded: str = ""  # what the mathematical library rounds, if it is needed


def template(name: str) -> str:
    """A file of this package."""
    return files("co2forest.export").joinpath(name).read_text(encoding="ascii")


@cache
def pieces() -> dict[str, str]:
    """The pieces of ``outputs.c.in`` by name."""
    named = re.split(r"^@@ (.*)\n", template("outputs.c.in"), flags=re.MULTILINE)[1:]
    return dict(zip(named[::2], named[1::2], strict=True))


def interface_of(view: ModelView) -> Interface:
    """What a file offers for an estimator."""
    if isinstance(view.outputs, ClassOutputs):
        return _classes(view.outputs)
    if isinstance(view.outputs, NumberOutputs):
        return _numbers(view.outputs)
    c = pieces()
    described, declared = c["labels: described"], c["labels: declared"]
    return Interface("label", "N_LABELS", described, declared, c["labels: functions"], [])


def _classes(outputs: ClassOutputs) -> Interface:
    c, tables = pieces(), Tables()
    temperature = outputs.inverse_temperature
    probabilities = c["classes: outputs are probabilities"]
    if temperature is not None:
        probabilities = c["classes: softmax"].replace("$temperature", temperature.hex())
    decide, best = c["classes: highest"], "the highest probability"
    if outputs.decision_costs is not None:
        decide, best = c["classes: cheapest"], "the least expected cost"
        comment = "Of each true class, one per decision; in a unit that is a power of two."
        tables.append(("cost", outputs.decision_costs.ravel(), comment))
    return Interface(
        "class",
        "N_CLASSES",
        c["classes: described"].replace("$best", best),
        c["classes: declared"],
        "\n".join([c["classes: labels"], probabilities, decide]),
        tables,
        "" if temperature is None else "Probabilities",
    )


def _numbers(outputs: NumberOutputs) -> Interface:
    c = pieces()
    value = "exp(prediction[i])" if outputs.logarithmic else "prediction[i]"
    return Interface(
        "output",
        "N_OUTPUTS",
        c["numbers: described"],
        c["numbers: declared"],
        c["numbers: functions"].replace("$value", value),
        [
            ("unit", outputs.unit, "Of each output."),
            ("offset", outputs.offset, "Of each output: what zero stands for."),
        ],
        "Predictions" if outputs.logarithmic else "",
    )
