# SPDX-License-Identifier: BSD-3-Clause
"""From training to production: a file that lasts, and ONNX for other languages.

    python examples/production.py

Needs co2forest[onnx] and onnxruntime.
"""

from pathlib import Path

import numpy as np
import onnxruntime
from sklearn.datasets import load_breast_cancer

from co2forest import CO2ForestClassifier, load_model, to_c, to_onnx

X, y = load_breast_cancer(return_X_y=True)
X = X.astype(np.float32)
names = np.array(["malignant", "benign"])
forest = CO2ForestClassifier(30, random_state=0).fit(X[:400], names[y[:400]])

# Years later, in Python: every later version reads the file, and reading runs no code.
forest.save("tumours.safetensors")
loaded = load_model("tumours.safetensors")
assert np.array_equal(loaded.predict_proba(X), forest.predict_proba(X))

# Elsewhere: ONNX has runtimes for most languages.
Path("tumours.onnx").write_bytes(to_onnx(forest).SerializeToString())
session = onnxruntime.InferenceSession("tumours.onnx")
labels, probabilities = session.run(None, {"X": X[400:]})
print(f"same answers from ONNX: {(labels == forest.predict(X[400:])).mean():.3f}")

# On a small device: a C file.
Path("tumours.c").write_text(to_c(forest, prefix="tumours"))

for path in sorted(Path().glob("tumours.*")):
    print(f"{path.name:22}{path.stat().st_size / 1000:8.0f} kB")
