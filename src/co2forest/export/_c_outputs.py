"""From the leaves of a forest to what its estimator predicts, in C.

Each way has three parts, which go to their places in ``forest.c.in``: what the functions do, their
declarations, and the functions. They call ``co2forest_outputs``, which writes what the trees say.
"""

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from co2forest.export._fitted import Classes, FittedForest, Numbers

Tables = list[tuple[str, npt.NDArray[Any], str]]  # names, contents and what they are


@dataclass(frozen=True)
class Interface:
    """The functions that a file offers, as templates."""

    noun: str  # an output is one
    count: str  # the macro with the number of outputs
    described: str
    declared: str
    functions: str
    tables: Tables
    rounded: str = ""  # what the mathematical library rounds, if it is needed


def interface_of(fitted: FittedForest) -> Interface:
    """What a file offers for an estimator."""
    if isinstance(fitted.meaning, Classes):
        return _classes(fitted.meaning)
    return _numbers(fitted.meaning) if isinstance(fitted.meaning, Numbers) else _SEVERAL_LABELS


def _classes(meaning: Classes) -> Interface:
    tables: Tables = []
    probabilities, decide, best = _OUTPUTS_ARE_PROBABILITIES, _HIGHEST, "the highest probability"
    if meaning.temperature is not None:
        probabilities = _SOFTMAX.replace("$temperature", meaning.temperature.hex())
    if meaning.costs is not None:
        decide, best = _CHEAPEST, "the least expected cost"
        comment = "Of each true class, one per decision; in a unit that is a power of two."
        tables.append(("cost", meaning.costs.ravel(), comment))
    return Interface(
        "class",
        "N_CLASSES",
        _CLASSES_DESCRIBED.replace("$best", best),
        _CLASSES_DECLARED,
        _CLASS_LABELS + probabilities + decide,
        tables,
        "" if meaning.temperature is None else "Probabilities",
    )


def _numbers(meaning: Numbers) -> Interface:
    value = "exp(prediction[i])" if meaning.exponential else "prediction[i]"
    return Interface(
        "output",
        "N_OUTPUTS",
        _NUMBERS_DESCRIBED,
        _NUMBERS_DECLARED,
        _NUMBERS_FUNCTIONS.replace("$value", value),
        [
            ("unit", meaning.unit, "Of each output."),
            ("offset", meaning.offset, "Of each output: what zero stands for."),
        ],
        "Predictions" if meaning.exponential else "",
    )


_CLASSES_DESCRIBED = """\
 * int co2forest_predict(const float *x)
 *     The number of the class with $best; of equal ones the first.
 * void co2forest_predict_proba(const float *x, double *probabilities)
 *     Writes the probabilities of all classes.
 * co2forest_labels
 *     The label of each class.
"""

_CLASSES_DECLARED = """\
int co2forest_predict(const float *x);
void co2forest_predict_proba(const float *x, double *probabilities);
extern const $label_type co2forest_labels[CO2FOREST_N_CLASSES];
"""

_CLASS_LABELS = """\
/* The class labels. */
const $label_type co2forest_labels[CO2FOREST_N_CLASSES] = {
$labels
};
"""

_OUTPUTS_ARE_PROBABILITIES = """
void co2forest_predict_proba(const float *x, double *probabilities) {
    co2forest_outputs(x, probabilities);
}
"""

_SOFTMAX = """
void co2forest_predict_proba(const float *x, double *probabilities) {
    const double temperature = $temperature;
    double highest, total = 0.0;
    int i;
    co2forest_outputs(x, probabilities);
    for (i = 0; i < CO2FOREST_N_CLASSES; ++i) probabilities[i] *= temperature;
    highest = probabilities[0];
    for (i = 1; i < CO2FOREST_N_CLASSES; ++i)
        if (probabilities[i] > highest) highest = probabilities[i];
    for (i = 0; i < CO2FOREST_N_CLASSES; ++i) {
        probabilities[i] -= highest;
        total += exp(probabilities[i]);
    }
    total = log(total);
    for (i = 0; i < CO2FOREST_N_CLASSES; ++i) probabilities[i] = exp(probabilities[i] - total);
}
"""

_HIGHEST = """
int co2forest_predict(const float *x) {
    double outputs[CO2FOREST_N_CLASSES];
    int best = 0, i;
    co2forest_outputs(x, outputs);
    for (i = 1; i < CO2FOREST_N_CLASSES; ++i)
        if (outputs[i] > outputs[best]) best = i;
    return best;
}
"""

_CHEAPEST = """
int co2forest_predict(const float *x) {
    double probabilities[CO2FOREST_N_CLASSES], least = 0.0;
    int best = 0, decision, i;
    co2forest_outputs(x, probabilities);
    for (decision = 0; decision < CO2FOREST_N_CLASSES; ++decision) {
        double expected = 0.0;
        for (i = 0; i < CO2FOREST_N_CLASSES; ++i)
            expected += probabilities[i] * co2forest_cost[i * CO2FOREST_N_CLASSES + decision];
        if (decision == 0 || expected < least) {
            least = expected;
            best = decision;
        }
    }
    return best;
}
"""

_SEVERAL_LABELS = Interface(
    "label",
    "N_LABELS",
    """\
 * void co2forest_predict(const float *x, uint8_t *labels)
 *     Writes 1 for each label that x has, and 0 for the others.
 * void co2forest_predict_proba(const float *x, double *probabilities)
 *     Writes the probability of each label.
""",
    """\
void co2forest_predict(const float *x, uint8_t *labels);
void co2forest_predict_proba(const float *x, double *probabilities);
""",
    """\
void co2forest_predict_proba(const float *x, double *probabilities) {
    co2forest_outputs(x, probabilities);
}

void co2forest_predict(const float *x, uint8_t *labels) {
    double probabilities[CO2FOREST_N_LABELS];
    int i;
    co2forest_outputs(x, probabilities);
    for (i = 0; i < CO2FOREST_N_LABELS; ++i) labels[i] = probabilities[i] > 0.5;
}
""",
    [],
)

_NUMBERS_DESCRIBED = """\
 * void co2forest_predict(const float *x, double *prediction)
 *     Writes $n_numbers.
"""

_NUMBERS_DECLARED = """\
void co2forest_predict(const float *x, double *prediction);
"""

_NUMBERS_FUNCTIONS = """\
void co2forest_predict(const float *x, double *prediction) {
    int i;
    co2forest_outputs(x, prediction);
    for (i = 0; i < CO2FOREST_N_OUTPUTS; ++i)
        prediction[i] = $value * co2forest_unit[i] + co2forest_offset[i];
}
"""

# --- parts of what the trees say

ADD_DISTRIBUTION = """\
        const uint32_t begin = co2forest_leaf_begin[leaf], end = co2forest_leaf_begin[leaf + 1];
        double total = 0.0; /* one but for rounding */
        for (i = begin; i < end; ++i) total += (double)co2forest_leaf_share[i];
        for (i = begin; i < end; ++i)
            outputs[co2forest_leaf_class[i]] += (double)co2forest_leaf_share[i] / total;\
"""

ADD_VALUES = """\
        const float *value = co2forest_leaf_value + (size_t)leaf * CO2FOREST_$count;
        for (i = 0; i < CO2FOREST_$count; ++i) outputs[i] += (double)value[i];\
"""

EXCEPTION = """
 * $rounded are exponentials, which the mathematical library calculates (-lm), and agree
 * with those of Python within 1e-12 of their size."""

# The mean times the number of trees is rounded like in the library.
ADD_START = """\
    for (i = 0; i < CO2FOREST_$count; ++i)
        outputs[i] = co2forest_start[i] + CO2FOREST_N_TREES * outputs[i];
"""
