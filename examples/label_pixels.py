# SPDX-License-Identifier: BSD-3-Clause
"""Label every pixel, after learning from a few images and their label maps.

python examples/label_pixels.py
"""

import numpy as np

from co2forest.segmentation import ForestSegmenter

rng = np.random.default_rng(0)
rows, columns = np.mgrid[:60, :80]


def scene():
    """A striped square and a bright disc on noise: an RGB image, and the label of each pixel."""
    labels = np.zeros((60, 80), dtype=np.uint8)
    top, left = rng.integers(5, 35, size=2)
    labels[top : top + 18, left : left + 18] = 1
    y, x = rng.integers([15, 20], [45, 60])
    labels[(rows - y) ** 2 + (columns - x) ** 2 < 80] = 2
    image = rng.normal(100, 25, size=(60, 80, 3))
    image[labels == 1] += 60 * (columns[labels == 1] % 6 < 3)[:, None]
    image[labels == 2] += 40
    return np.clip(image, 0, 255).astype(np.uint8), labels


images, maps = zip(*(scene() for _ in range(10)), strict=True)
segmenter = ForestSegmenter(
    window=11, n_estimators=6, samples_per_tree=3000, border="reflect", random_state=0
)
segmenter.fit(images[:8], maps[:8])
print(segmenter.jaccard_table(images[8:], maps[8:]))

found = segmenter.predict(images[8])
for line in found[::4, ::2]:  # the label map as letters
    print("".join(".#o"[label] for label in line))
