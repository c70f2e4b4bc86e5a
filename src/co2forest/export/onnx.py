# SPDX-License-Identifier: BSD-3-Clause
"""Fitted estimators as ONNX models."""

import json
from functools import partial
from importlib.metadata import version
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin

from co2forest.data.outputs.classes import ClassOutputs
from co2forest.data.outputs.labels import LabelOutputs
from co2forest.data.outputs.numbers import NumberOutputs
from co2forest.export._onnx_graph import DOUBLE, FLOAT, INT64, Graph, add_mean_of_leaves
from co2forest.export._onnx_views import add_views
from co2forest.files.registry import ESTIMATORS, estimator_class
from co2forest.models.ensemble import EnsembleView
from co2forest.models.view import ModelView

_OPSET = 13  # the first with bfloat16, and with axes as inputs, as all later ones have them


def to_onnx(estimator: Any, *, bfloat16: bool = False) -> Any:
    """Convert a fitted estimator, or a pipeline that ends with one, to an ONNX model.

    The model has an input ``X`` of shape (rows, features) in float32, where NaN is a missing value,
    and columns of categories hold codes, as `to_codes` writes them. The outputs of a classifier
    are ``label`` and ``probabilities``, the latter in float32; with several labels per row both
    have a column for each label. A regressor has one output, ``variable``, in float64 and in the
    shape of `predict`.
    The model consists of plain operators and runs wherever operator set 13 does. It adds products
    in a different order than this library. So a row may go the other way where it lies within
    rounding of a hyperplane.

    Parameters
    ----------
    estimator : classifier or regressor of this library, or Pipeline
        A pipeline is converted by skl2onnx. It computes in float32, whatever its steps did in
        training, so that a row near a hyperplane may end in another leaf. The last step must not
        have been fitted with categories.
    bfloat16 : bool, default=False
        Whether to store weights in 16 bits, as the library does. Halves the size and changes no
        result; ONNX Runtime turns them into float32 when it loads the model. Not every runtime
        supports bfloat16.

    Returns
    -------
    onnx.ModelProto

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from co2forest import CO2ForestClassifier, to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> model = to_onnx(CO2ForestClassifier(5, random_state=0).fit(X, y))
    >>> [output.name for output in model.graph.output]
    ['label', 'probabilities']
    """
    from sklearn.pipeline import Pipeline

    if isinstance(estimator, Pipeline):
        model = _convert_pipeline(estimator, bfloat16)
    else:
        model = _convert(_Parts.of(estimator), bfloat16)
    _describe(model, estimator)
    return model


def register_skl2onnx() -> None:
    """Teach skl2onnx the estimators of this library; a second call does nothing new.

    Then ``skl2onnx.to_onnx`` and ``skl2onnx.convert_sklearn`` convert whatever contains them.
    Options of classifiers are ``zipmap`` (True, False or "columns"; False with several labels
    per row) and ``nocl``, as for every classifier, and ``bfloat16`` (see `to_onnx`). Regressors
    have ``bfloat16`` and ``as_predict``: whether predictions are float64, and a vector if y was
    one; otherwise they are a matrix in the type of the input, as is usual in skl2onnx.
    """
    skl2onnx = _import("skl2onnx")
    for kind in map(estimator_class, ESTIMATORS):
        if not issubclass(kind, ClassifierMixin | RegressorMixin):
            continue  # a segmenter, which takes images
        options: dict[str, list[Any]] = {"bfloat16": [False, True]}
        if issubclass(kind, ClassifierMixin):
            options |= {"zipmap": [True, False, "columns"], "nocl": [False, True]}
        else:
            options |= {"as_predict": [False, True]}
        skl2onnx.update_registered_converter(
            kind,
            f"Co2forest{kind.__name__}",
            _declare_outputs,
            _convert_operator,
            options=options,
        )


class _Parts(NamedTuple):
    """The models whose answers are added up with weights: two of an ensemble, else one."""

    name: str  # of the estimator's class
    views: tuple[ModelView, ...]
    weights: tuple[float, ...]

    @classmethod
    def of(cls, estimator: Any) -> Self:
        ensemble = EnsembleView.of_estimator(estimator)
        if ensemble is None:
            view = ModelView.of_estimator(estimator)
            return cls(view.name, (view,), (1.0,))
        share = ensemble.forest_share
        return cls(type(estimator).__name__, ensemble.views, (share, 1 - share))

    @property
    def first(self) -> ModelView:
        """One of those that agree on features and outputs."""
        return self.views[0]


def _convert(parts: _Parts, bfloat16: bool) -> Any:
    onnx = _import("onnx")
    helper, tensor = onnx.helper, onnx.TensorProto
    graph = Graph(bfloat16=bfloat16)
    view = parts.first
    meaning: Any = view.outputs
    several = isinstance(meaning, LabelOutputs)
    columns = [None, view.n_outputs]
    if isinstance(meaning, NumberOutputs):
        vector = meaning.one_dimensional
        _add_numbers(graph, parts, "X", ("variable", DOUBLE), vector=vector)
        shape = columns[:1] if vector else columns
        outputs = [helper.make_tensor_value_info("variable", tensor.DOUBLE, shape)]
    else:
        labels = _labels(meaning.values if several else meaning.classes)
        _add_classes(graph, parts, "X", ("label", labels), ("probabilities", FLOAT))
        is_text = labels.dtype == object
        label_type = tensor.STRING if is_text else helper.np_dtype_to_tensor_dtype(labels.dtype)
        shape = columns if several else columns[:1]
        outputs = [
            helper.make_tensor_value_info("label", label_type, shape),
            helper.make_tensor_value_info("probabilities", tensor.FLOAT, columns),
        ]
    return helper.make_model(
        helper.make_graph(
            [
                helper.make_node(op.type, op.inputs, [op.output], name=op.name, **op.attributes)
                for op in graph.operators
            ],
            parts.name,
            [helper.make_tensor_value_info("X", tensor.FLOAT, [None, view.n_columns])],
            outputs,
            _tensors(onnx, graph),
        ),
        opset_imports=[helper.make_opsetid("", _OPSET)],
    )


def _add_classes(
    graph: Graph,
    parts: _Parts,
    rows: str,
    label: tuple[str, npt.NDArray[np.generic]],
    probabilities: tuple[str, int],
) -> None:
    """Add everything from the rows to both outputs of a classifier: names, labels, and a type."""
    outputs = _add_outputs(graph, parts, rows)
    each = map(partial(_add_probabilities, graph), parts.views, outputs)
    blended = _add_blend(graph, parts, list(each))
    name, labels = label
    labels_name = graph.constant("labels", labels)
    # A single model decides by its exact outputs, because float32 might make a tie.
    decided_by = outputs[0] if len(outputs) == 1 else blended
    graph.add("Gather", labels_name, _add_decision(graph, parts.first, decided_by), output=name)
    name, kind = probabilities
    graph.add("Cast", blended, output=name, to=kind)


def _add_numbers(
    graph: Graph, parts: _Parts, rows: str, output: tuple[str, int], *, vector: bool
) -> None:
    """Add everything from the rows to the output of a regressor: its name and type."""
    outputs = _add_outputs(graph, parts, rows)
    each = map(partial(_add_units, graph), parts.views, outputs)
    values = _add_blend(graph, parts, list(each))
    if vector:
        values = graph.add("Squeeze", values, graph.constant("outputs", [1]))
    name, kind = output
    graph.add("Cast", values, output=name, to=kind)


def _add_units(graph: Graph, view: ModelView, values: str) -> str:
    """Numbers in the units of y."""
    meaning = view.outputs
    assert isinstance(meaning, NumberOutputs)  # noqa: S101 (for mypy)
    if meaning.logarithmic:
        values = graph.add("Exp", values)
    values = graph.add("Mul", values, graph.constant("unit", meaning.unit, np.float64))
    return graph.add("Add", values, graph.constant("offset", meaning.offset, np.float64))


def _add_blend(graph: Graph, parts: _Parts, answers: list[str]) -> str:
    """The sum of all answers times their weights."""
    if len(answers) == 1:
        return answers[0]
    weighted = [
        graph.add("Mul", answer, graph.constant("weight", weight, np.float64))
        for answer, weight in zip(answers, parts.weights, strict=True)
    ]
    return graph.add("Add", *weighted)


def _add_outputs(graph: Graph, parts: _Parts, rows: str) -> list[str]:
    """The raw outputs of each part, for features that are made only once."""
    columns = parts.first.columns
    features = rows if columns is None else add_views(graph, columns, rows)
    return [_add_raw(graph, view, features) for view in parts.views]


def _add_raw(graph: Graph, view: ModelView, features: str) -> str:
    mean = add_mean_of_leaves(graph, view, features)
    if view.start is None:
        return mean
    total = graph.add("Mul", graph.constant("n_trees", view.n_trees, np.float64), mean)
    return graph.add("Add", graph.constant("start", view.start, np.float64), total)


def _add_decision(graph: Graph, view: ModelView, outputs: str) -> str:
    """The number of the class, or for each label of several whether it is there.

    The first of several wins, as in NumPy.
    """
    meaning = view.outputs
    if not isinstance(meaning, ClassOutputs):
        above = graph.add("Greater", outputs, graph.constant("half", 0.5, np.float64))
        return graph.add("Cast", above, to=INT64)
    if meaning.decision_costs is None:
        return graph.add("ArgMax", outputs, axis=1, keepdims=0)
    # Added in the order of classes, like the library.
    one = graph.add("Unsqueeze", outputs, graph.constant("last_axis", [2]))
    costs = graph.add("Mul", one, graph.constant("costs", meaning.decision_costs))
    sums = graph.add("CumSum", costs, graph.constant("classes", 1, np.int64))
    expected = graph.add("Gather", sums, graph.constant("last", view.n_outputs - 1), axis=1)
    return graph.add("ArgMin", expected, axis=1, keepdims=0)


def _add_probabilities(graph: Graph, view: ModelView, outputs: str) -> str:
    calibration = getattr(view.outputs, "calibration", None)
    if calibration is not None:
        least, total = calibration.floor / view.n_outputs, 1 + calibration.floor
        above = graph.add("Add", outputs, graph.constant("least", least, np.float64))
        share = graph.add("Div", above, graph.constant("total", total, np.float64))
        exponent = graph.constant("exponent", calibration.exponent, np.float64)
        power = graph.add("Pow", share, exponent)
        axes = graph.constant("classes", [1])
        return graph.add("Div", power, graph.add("ReduceSum", power, axes, keepdims=1))
    temperature = getattr(view.outputs, "inverse_temperature", None)
    if temperature is None:
        return outputs
    factor = graph.constant("temperature", temperature, np.float64)
    return graph.add("Softmax", graph.add("Mul", outputs, factor), axis=1)


def _labels(classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Classes in the type of the output: int64, bool, float32, float64, or object for strings."""
    kind = classes.dtype.kind
    if kind == "U" or (kind == "O" and all(isinstance(label, str) for label in classes)):
        _check_utf8("the label", classes)
        return classes.astype(object)
    if kind == "u" and classes.max() > np.iinfo(np.int64).max:
        raise ValueError(
            f"the label {classes.max()} is too large for ONNX, whose labels are int64; "
            "fit with smaller numbers or with strings"
        )
    if kind in "iu":
        return classes.astype(np.int64)
    if kind == "b":
        return classes
    if kind == "f" and classes.dtype.itemsize <= 8:
        return classes.astype(np.float64 if classes.dtype.itemsize == 8 else np.float32)
    raise ValueError(
        f"labels of dtype {classes.dtype} have no counterpart in ONNX; "
        "fit with integers, floats, bools or strings"
    )


def _check_utf8(what: str, texts: npt.NDArray[Any]) -> None:
    for text in texts:
        try:
            str(text).encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"{what} {text!a} cannot be stored in UTF-8, as ONNX does") from error


def _tensors(onnx: Any, graph: Graph) -> list[Any]:
    """The constants of a graph."""
    tensors = []
    for name, array in graph.constants.items():
        if array.dtype == np.uint16:
            kind, content = onnx.TensorProto.BFLOAT16, array.astype("<u2").tobytes()
            tensor = onnx.helper.make_tensor(name, kind, array.shape, content, raw=True)
        else:
            tensor = onnx.numpy_helper.from_array(array, name)
        tensors.append(tensor)
    return tensors


def _describe(model: Any, estimator: Any) -> None:
    """Where a model comes from, what reads it, and what the columns of its input are."""
    import sklearn

    # The oldest format that has these operators, so that older runtimes read the model.
    helper = _import("onnx").helper
    model.ir_version = helper.find_min_ir_version_for(model.opset_import, ignore_unknown=True)
    model.producer_name = "co2forest"
    model.producer_version = version("co2forest")
    model.doc_string = (
        f"{_last_step_of(estimator)!r}, fitted with co2forest {version('co2forest')} "
        f"and scikit-learn {sklearn.__version__}"
    )
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        _check_utf8("the name of the feature", names)
        _add_metadata(model, "feature_names", json.dumps(list(names), ensure_ascii=False))
    views = getattr(estimator, "_column_views", None)
    if views is not None and views.columns.has_categories:
        categories = [column.categories for column in views.columns.columns]
        _add_metadata(model, "categories", json.dumps(categories))


def _add_metadata(model: Any, key: str, value: str) -> None:
    entry = model.metadata_props.add()
    entry.key, entry.value = key, value


def _import(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            f'converting to ONNX needs the package {name}: pip install "co2forest[onnx]"'
        ) from error


# --- pipelines, through skl2onnx


def _last_step_of(estimator: Any) -> Any:
    """The last step of a pipeline, or the estimator itself."""
    steps = getattr(estimator, "steps", None)
    return _last_step_of(steps[-1][1]) if steps else estimator


def _convert_pipeline(pipeline: Any, bfloat16: bool) -> Any:
    from sklearn.pipeline import Pipeline

    last = _last_step_of(pipeline)
    view = _Parts.of(last).first  # refuses others before skl2onnx does
    register_skl2onnx()
    from skl2onnx.common.data_types import FloatTensorType

    # skl2onnx trips over "passthrough", which does nothing.
    steps = [step for step in pipeline.steps if step[1] not in (None, "passthrough")]
    n_features = getattr(steps[0][1], "n_features_in_", None)
    numbers = isinstance(view.outputs, NumberOutputs)
    options = {"as_predict": True} if numbers else {"zipmap": False}
    return _import("skl2onnx").convert_sklearn(
        Pipeline(steps),
        name="Pipeline",
        initial_types=[("X", FloatTensorType([None, n_features]))],
        options={id(last): options | {"bfloat16": bfloat16}},
    )


def _skl2onnx_labels(scope: Any, estimator: Any, view: ModelView) -> npt.NDArray[Any]:
    """Labels as the options of skl2onnx want them, which knows the estimator by its identity."""
    from skl2onnx.common.utils_classifier import get_label_classes

    if isinstance(view.outputs, LabelOutputs):
        return _labels(view.outputs.values)
    labels = _labels(get_label_classes(scope, estimator))
    as_keys = scope.get_options(estimator, {"zipmap": True})["zipmap"] is not False
    # Keys are integers or strings; skl2onnx has refused floats that are not whole.
    return labels.astype(np.int64) if as_keys and labels.dtype.kind in "bf" else labels


def _declare_outputs(operator: Any) -> None:
    """Tell skl2onnx the types and shapes of the outputs."""
    from skl2onnx.common import data_types
    from skl2onnx.common.utils import check_input_and_output_numbers

    estimator, scope = operator.raw_operator, operator.scope_inst
    parts = _Parts.of(estimator)
    view = parts.first
    _refuse_categories(parts)
    n_rows = operator.inputs[0].get_first_dimension()
    columns = [n_rows, view.n_outputs]
    is_double = type(operator.inputs[0].type) is data_types.DoubleTensorType
    if isinstance(view.outputs, NumberOutputs):
        check_input_and_output_numbers(operator, input_count_range=1, output_count_range=1)
        as_predict = scope.get_options(estimator, {"as_predict": False})["as_predict"]
        vector = as_predict and view.outputs.one_dimensional
        wide = as_predict or is_double
        kind = data_types.DoubleTensorType if wide else data_types.FloatTensorType
        operator.outputs[0].type = kind(columns[:1] if vector else columns)
        return
    check_input_and_output_numbers(operator, input_count_range=1, output_count_range=2)
    label_types = {
        "O": data_types.StringTensorType,
        "l": data_types.Int64TensorType,
        "q": data_types.Int64TensorType,
        "?": data_types.BooleanTensorType,
        "f": data_types.FloatTensorType,
        "d": data_types.DoubleTensorType,
    }
    several = isinstance(view.outputs, LabelOutputs)
    zipmap = scope.get_options(estimator, {"zipmap": True})["zipmap"]
    if several and zipmap is not False:
        raise ValueError(
            f"zipmap={zipmap!r} is for one class per row, but {parts.name} was fitted with "
            "several labels per row; it must be False"
        )
    labels = _skl2onnx_labels(scope, estimator, view)
    label, probabilities = operator.outputs
    label.type = label_types[labels.dtype.char](columns if several else columns[:1])
    # Columns have got the type of the input already, a ZipMap takes nothing but float32.
    kind = type(probabilities.type) if zipmap == "columns" else data_types.FloatTensorType
    probabilities.type = kind(columns)


def _refuse_categories(parts: _Parts) -> None:
    """Raise if an estimator would get what other steps give, where it takes codes."""
    columns = parts.first.columns
    if columns is not None and columns.columns.has_categories:
        raise ValueError(
            f"{parts.name} was fitted with categories, whose codes no other step of a pipeline "
            "gives; convert it alone, with to_onnx(pipeline[-1]), and give it the codes that "
            "to_codes(pipeline[-1], pipeline[:-1].transform(X)) writes"
        )


def _convert_operator(scope: Any, operator: Any, container: Any) -> None:
    """Add an estimator to the model that skl2onnx is making."""
    from skl2onnx.common.data_types import DoubleTensorType

    onnx = _import("onnx")
    estimator = operator.raw_operator
    if container.target_opset_any_domain("") < _OPSET:
        raise ValueError(f"target_opset must be at least {_OPSET} for {estimator!r}")
    bfloat16 = container.get_options(estimator, {"bfloat16": False})["bfloat16"]
    graph = Graph(scope.get_unique_variable_name("co2forest") + "_", bfloat16=bfloat16)
    rows = graph.add("Cast", operator.inputs[0].full_name, to=FLOAT)  # they may be doubles
    parts = _Parts.of(estimator)
    last = operator.outputs[-1]  # in both cases the numbers
    numbers = (last.full_name, DOUBLE if type(last.type) is DoubleTensorType else FLOAT)
    if isinstance(parts.first.outputs, NumberOutputs):
        vector = len(operator.outputs[0].type.shape) == 1
        _add_numbers(graph, parts, rows, numbers, vector=vector)
    else:
        label = (operator.outputs[0].full_name, _skl2onnx_labels(scope, estimator, parts.first))
        _add_classes(graph, parts, rows, label, numbers)
    # Not through add_initializer(), which loses strings.
    container.initializers.extend(_tensors(onnx, graph))
    for op in graph.operators:
        container.add_node(
            op.type,
            list(op.inputs),
            op.output,
            op_version=_OPSET,
            name=op.name,
            **op.attributes,
        )
