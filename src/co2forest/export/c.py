# SPDX-License-Identifier: BSD-3-Clause
"""A fitted estimator as C source, for devices without Python.

For each kind of outputs ``outputs.c.in`` has what the functions do, their declarations, and the
functions, which go to their places in ``forest.c.in``. The functions call ``co2forest_outputs``,
which writes what the trees say. If the features are views of columns, ``views.c.in`` has the
function that expands a row into them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from string import Template
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from co2forest.data.outputs.classes import ClassOutputs
from co2forest.data.outputs.numbers import NumberOutputs
from co2forest.export._c_literals import (
    Table,
    float_literals,
    integer_literal,
    lines,
    offsets,
    pieces,
    smallest,
    string_literal,
    table,
    template,
)
from co2forest.export._c_names import check_prefix
from co2forest.export._c_views import categories_table, columns_comment, view_pieces, view_tables
from co2forest.models.ensemble import EnsembleView
from co2forest.models.view import ModelView

_LANES = 16  # in which the native core adds products


def to_c(estimator: Any, *, prefix: str = "co2forest") -> str:
    """Write a fitted estimator as one C source file that depends on nothing.

    The file is C99 without ``malloc`` or state. For a classifier it has the functions
    ``int PREFIX_predict(const float *x)``, the number of the class, and
    ``void PREFIX_predict_proba(const float *x, double *probabilities)``, the labels
    ``PREFIX_labels`` and the macros ``PREFIX_N_FEATURES`` and ``PREFIX_N_CLASSES``, whose prefix
    is in capitals. With several labels per row, ``void PREFIX_predict(const float *x,
    uint8_t *labels)`` writes zeros and ones, ``PREFIX_N_LABELS`` of them. For a regressor,
    ``void PREFIX_predict(const float *x, double *prediction)`` writes ``PREFIX_N_OUTPUTS`` numbers.

    If the estimator was fitted with categories, ``x`` has their codes, as `to_codes` writes them,
    and ``float PREFIX_code(int column, const char *category)`` finds one. NaN is a missing value.

    The results have the same bits as those of `predict`. The exceptions are probabilities of a
    boosted classifier and predictions of a boosted regressor with ``loss="poisson"``: their
    exponentials come from the mathematical library of C (``-lm``) and agree within 1e-12 of their
    size. The file of an ensemble begins with those of its members, as
    ``PREFIX_forest`` and ``PREFIX_boosting``.

    Parameters
    ----------
    estimator : classifier or regressor of this library
        Fitted. Labels may be strings, integers, floats or booleans.
    prefix : str, default="co2forest"
        What all names in the file begin with, so that several models can be in one program: an
        identifier that C and C++ have no meaning for and do not reserve.

    Returns
    -------
    str
        The source; ASCII only.

    Examples
    --------
    >>> from co2forest import CO2TreeClassifier, to_c
    >>> tree = CO2TreeClassifier(random_state=0).fit([[0.0], [1.0]], ["no", "yes"])
    >>> source = to_c(tree, prefix="door")
    >>> "int door_predict(const float *x)" in source
    True
    """
    check_prefix(prefix)
    ensemble = EnsembleView.of_estimator(estimator)
    if ensemble is not None:
        return _ensemble(ensemble, prefix)
    return _model(ModelView.of_estimator(estimator), prefix)


def _model(view: ModelView, prefix: str) -> str:
    """The file of a model with trees of its own."""
    nodes = _Nodes.of(view)
    offered = _interface_of(view)
    source = _with_prefix(_template_of(view, offered), prefix)
    tables = [*nodes.tables(view), *offered.tables, *view_tables(view.columns)]
    if view.start is not None:
        tables.append(("start", view.start, "For each output: its value before all trees."))
    return Template(source).substitute(
        version=version("co2forest"),
        n_trees=_count(view.n_trees, "tree"),
        n_columns=_count(view.n_columns, "feature"),
        n_outputs=_count(view.n_outputs, offered.noun),
        n_numbers=_count(view.n_outputs, "number"),
        trees=view.n_trees,
        n_in=view.n_columns,
        features=view.n_features,
        outputs=view.n_outputs,
        count=offered.count,
        first_inner=nodes.n_leaves,
        first_listing=nodes.n_leaves + nodes.n_dense,
        last_lanes_shift=-view.n_features % _LANES if view.n_features > _LANES else 0,
        **_label_values(view),
        columns=columns_comment(view.columns),
        tables="\n".join(
            table(f"{prefix}_{name}", values, comment) for name, values, comment in tables
        )
        + categories_table(view.columns, prefix),
    )


def _ensemble(ensemble: EnsembleView, prefix: str) -> str:
    """The files of both members, and functions that blend what they predict."""
    view, c = ensemble.forest, pieces("outputs.c.in")
    offered, seen = _interface_of(view), view_pieces(view.columns)
    blend = c["ensemble: numbers"]
    rounded = offered.rounded
    if isinstance(view.outputs, ClassOutputs):
        decide = c["classes: highest"].replace("co2forest_outputs", "co2forest_predict_proba")
        blend = "\n".join([c["classes: labels"], c["ensemble: classes"], decide])
        rounded = "Probabilities"
    share = ensemble.forest_share
    blend = blend.replace("$share", share.hex()).replace("$rest", (1 - share).hex())
    source = Template(template("ensemble.c.in")).safe_substitute(
        described=offered.described + seen["described_code"],
        declared=offered.declared + seen["declared_code"],
        functions=blend + ("\n" + c["ensemble: code"]) * bool(seen["code"]),
        exception=c["exception"].replace("$rounded", rounded) if rounded else "",
        begin_exact=c["begin exact"],
        end_exact=c["end exact"],
    )
    return Template(_with_prefix(source, prefix)).substitute(
        version=version("co2forest"),
        n_columns=_count(view.n_columns, "feature"),
        n_outputs=_count(view.n_outputs, offered.noun),
        n_numbers=_count(view.n_outputs, "number"),
        n_in=view.n_columns,
        outputs=view.n_outputs,
        count=offered.count,
        **_label_values(view),
        forest=_model(ensemble.forest, f"{prefix}_forest"),
        boosting=_model(ensemble.boosting, f"{prefix}_boosting"),
    )


def _with_prefix(source: str, prefix: str) -> str:
    """A template whose names begin with the prefix.

    Before labels are filled in, which may contain anything. Capitals first: they do not bring in
    what the second step looks for, however the prefix is spelt.
    """
    return source.replace("CO2FOREST_", f"{prefix.upper()}_").replace("co2forest_", f"{prefix}_")


def _label_values(view: ModelView) -> dict[str, str]:
    """The type of the labels of classes, and the labels."""
    if not isinstance(view.outputs, ClassOutputs):
        return {"label_type": "", "labels": ""}
    label_type, labels = _labels(view.outputs.classes)
    return {"label_type": label_type, "labels": lines(labels, 1)}


@dataclass(frozen=True)
class _Interface:
    """The functions that a file offers, as templates."""

    noun: str  # what an output is called
    count: str  # the macro with the number of outputs
    described: str
    declared: str
    functions: str
    tables: list[Table]
    rounded: str = ""  # what the mathematical library rounds, if it is needed


def _interface_of(view: ModelView) -> _Interface:
    """What a file offers for an estimator."""
    if isinstance(view.outputs, ClassOutputs):
        return _classes(view.outputs)
    if isinstance(view.outputs, NumberOutputs):
        return _numbers(view.outputs)
    c = pieces("outputs.c.in")
    described, declared = c["labels: described"], c["labels: declared"]
    return _Interface("label", "N_LABELS", described, declared, c["labels: functions"], [])


def _classes(outputs: ClassOutputs) -> _Interface:
    c, tables = pieces("outputs.c.in"), list[Table]()
    temperature = outputs.inverse_temperature
    probabilities = c["classes: outputs are probabilities"]
    if temperature is not None:
        probabilities = c["classes: softmax"].replace("$temperature", temperature.hex())
    calibration = outputs.calibration
    if calibration is not None:
        floor = calibration.floor
        probabilities = c["classes: calibrated"].replace("$exponent", calibration.exponent.hex())
        probabilities = probabilities.replace("$least", (floor / outputs.n_outputs).hex())
        probabilities = probabilities.replace("$total", (1 + floor).hex())
    decide, best = c["classes: highest"], "the highest probability"
    if outputs.decision_costs is not None:
        decide, best = c["classes: cheapest"], "the least expected cost"
        comment = "For each true class, one per decision; in a unit that is a power of two."
        tables.append(("cost", outputs.decision_costs.ravel(), comment))
    return _Interface(
        "class",
        "N_CLASSES",
        c["classes: described"].replace("$best", best),
        c["classes: declared"],
        "\n".join([c["classes: labels"], probabilities, decide]),
        tables,
        "" if temperature is None and calibration is None else "Probabilities",
    )


def _numbers(outputs: NumberOutputs) -> _Interface:
    c = pieces("outputs.c.in")
    value = "exp(prediction[i])" if outputs.logarithmic else "prediction[i]"
    return _Interface(
        "output",
        "N_OUTPUTS",
        c["numbers: described"],
        c["numbers: declared"],
        c["numbers: functions"].replace("$value", value),
        [
            ("unit", outputs.unit, "The unit of each output."),
            ("offset", outputs.offset, "For each output: what zero stands for."),
        ],
        "Predictions" if outputs.logarithmic else "",
    )


def _template_of(view: ModelView, offered: _Interface) -> str:
    """The file without its numbers and labels."""
    c, seen = pieces("outputs.c.in"), view_pieces(view.columns)
    exception = c["exception"].replace("$rounded", offered.rounded) if offered.rounded else ""
    called = ["memcpy", "memset", *["strcmp"] * bool(seen["code"]), *["math.h"] * bool(exception)]
    return Template(template("forest.c.in")).safe_substitute(
        seen,
        described=offered.described + seen["described_code"],
        declared=offered.declared + seen["declared_code"],
        functions=offered.functions + "\n" * bool(seen["code"]) + seen["code"],
        add_leaf=c["leaf: distribution" if view.distributions else "leaf: values"],
        add_start="" if view.start is None else c["start"],
        called=f"{', '.join(called[:-1])} and {called[-1]}",
        includes="#include <math.h>\n" * bool(offered.rounded) + "#include <string.h>",
        exception=exception,
        begin_exact=c["begin exact"],
        end_exact=c["end exact"],
    )


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" + ("" if n == 1 else "es" if noun.endswith("s") else "s")


@dataclass(frozen=True)
class _Nodes:
    """The nodes of all trees in one numbering: distinct leaves, then inner nodes.

    Most leaves hold one class and nothing else, so that few are distinct. Inner nodes with a weight
    for each feature come before those that list features: where their weights lie follows from
    their number.
    """

    n_leaves: int
    n_dense: int
    root: npt.NDArray[np.int64]  # of each tree
    child: npt.NDArray[np.int64]  # left and right of each inner node
    threshold: npt.NDArray[np.float32]  # of each inner node
    weight: npt.NDArray[np.uint16]  # n_features for each dense node
    listing_begin: npt.NDArray[np.int64]  # into the next two
    listed_weight: npt.NDArray[np.uint16]
    listed_feature: npt.NDArray[np.int32]
    leaf_begin: npt.NDArray[np.int64]  # into the next two
    leaf_output: npt.NDArray[np.int32]
    leaf_value: npt.NDArray[np.float32]

    @classmethod
    def of(cls, view: ModelView) -> Self:
        arrays = view.arrays
        left, tree_begin, weight = arrays["left"], arrays["tree_begin"], arrays["weight"]
        n_listed = np.diff(arrays["feature_begin"])
        dense = (left >= 0) & (n_listed == 0)
        of_dense = np.repeat(dense, np.diff(arrays["weight_begin"]))
        leaf_of_node, leaves = _distinct_leaves(arrays)

        inner = np.concatenate([np.flatnonzero(dense), np.flatnonzero(n_listed)])
        number = np.empty(len(left), dtype=np.int64)
        number[left < 0] = leaf_of_node
        number[inner] = len(leaves) + np.arange(len(inner))
        first = np.repeat(tree_begin[:-1], np.diff(tree_begin))[inner] + left[inner]

        pairs = np.frombuffer(b"".join(leaves), dtype=_PAIR)
        return cls(
            n_leaves=len(leaves),
            n_dense=int(np.count_nonzero(dense)),
            root=number[tree_begin[:-1]],
            child=number[np.stack([first, first + 1], axis=1)].ravel(),
            threshold=arrays["threshold"][inner],
            weight=weight[of_dense],
            listing_begin=offsets(n_listed[n_listed > 0]),
            listed_weight=weight[~of_dense],
            listed_feature=arrays["feature"],
            leaf_begin=offsets([len(leaf) // _PAIR.itemsize for leaf in leaves]),
            leaf_output=pairs["output"],
            leaf_value=pairs["value"],
        )

    def tables(self, view: ModelView) -> Iterable[Table]:
        """Names, contents and meanings of all."""
        mean = view.arrays["mean"]
        yield "mean", mean, "For each feature: what a missing value stands for."
        yield "root", smallest(self.root), "The first node of each tree."
        yield "threshold", self.threshold, "For each inner node: right is at least this."
        yield "child", smallest(self.child), "The left and the right child of each inner node."
        yield "weight", self.weight, "For each inner node that has all, one per feature."
        yield "listing_begin", smallest(self.listing_begin), "Where each listing begins and ends."
        yield "listed_feature", smallest(self.listed_feature), "Features of nodes that list them."
        yield "listed_weight", self.listed_weight, "Their weights."
        if view.distributions:
            yield "leaf_begin", smallest(self.leaf_begin), "Where each leaf begins and ends."
            yield "leaf_class", smallest(self.leaf_output), "The classes that occur in a leaf."
            yield "leaf_share", self.leaf_value, "Their shares in it."
        else:
            yield "leaf_value", self.leaf_value, "The values of each leaf, one per output."


_PAIR = np.dtype([("output", np.int32), ("value", np.float32)])


def _distinct_leaves(
    arrays: dict[str, npt.NDArray[Any]],
) -> tuple[npt.NDArray[np.int64], list[bytes]]:
    """For each leaf of the forest the number of its values, and these."""
    pairs = np.empty(len(arrays["value"]), dtype=_PAIR)
    pairs["output"], pairs["value"] = arrays["value_output"], arrays["value"]
    data = pairs.tobytes()
    begin = arrays["value_begin"] * _PAIR.itemsize
    is_leaf = arrays["left"] < 0
    ends = zip(begin[:-1][is_leaf].tolist(), begin[1:][is_leaf].tolist(), strict=True)
    number: dict[bytes, int] = {}
    leaf_of_node = [number.setdefault(data[first:last], len(number)) for first, last in ends]
    return np.array(leaf_of_node), list(number)


def _labels(classes: npt.NDArray[Any]) -> tuple[str, list[str]]:
    """The C type of the labels, and each as a constant expression."""
    labels = classes.tolist()
    kinds = {type(label) for label in labels}
    if classes.dtype.kind in "mM":  # some units become integers, others do not
        kinds = {classes.dtype.type}
    if kinds == {bool}:
        return "uint8_t", [str(int(label)) for label in labels]
    if kinds == {int}:
        unsigned = max(labels) > np.iinfo(np.int64).max
        return ("uint64_t" if unsigned else "int64_t"), [integer_literal(v) for v in labels]
    if kinds == {float}:
        return "double", float_literals(labels, "")
    if all(issubclass(kind, str) for kind in kinds):
        return "char *const", [_text(label) for label in labels]
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise TypeError(
        f"estimator has labels of type {names}, which C has no constants for; "
        "train it with strings, integers, floats or booleans"
    )


def _text(label: str) -> str:
    if "\0" in label:
        raise ValueError(
            f"estimator has the label {label!r}, which a string of C cannot hold; "
            "train it with labels without NUL characters"
        )
    return string_literal(label)
