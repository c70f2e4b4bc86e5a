# SPDX-License-Identifier: BSD-3-Clause
"""Files of every format that has been released load, and predict what they predicted then."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from co2forest import load_model
from co2forest.files.model_file import FORMAT

MODELS = Path(__file__).parent
FILES = sorted(MODELS.glob("v*/*.safetensors"))


def test_every_format_has_files():
    assert {file.parent.name for file in FILES} == {f"v{i}" for i in range(1, FORMAT + 1)}
    assert len(list(MODELS.glob("v1/*.safetensors"))) == 12


@pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")
@pytest.mark.parametrize("mmap_mode", [None, "r"])
@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_old_files(file, mmap_mode):
    expected = json.loads(file.with_suffix(".json").read_text())
    model = load_model(file, mmap_mode=mmap_mode)
    if isinstance(expected["rows"], dict):
        rows = pd.DataFrame(expected["rows"])
        estimator = model.estimator_
    else:
        rows = np.array(expected["rows"], dtype=np.float32)  # null is NaN
        estimator = model
    np.testing.assert_array_equal(model.predict_proba(rows), expected["probabilities"])
    assert [str(label) for label in model.predict(rows)] == expected["labels"]
    assert model.classes_.dtype.str == expected["dtype"]
    params = {name: repr(value) for name, value in estimator.get_params().items()}
    assert expected["parameters"].items() <= params.items()
