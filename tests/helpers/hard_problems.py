# SPDX-License-Identifier: BSD-3-Clause
"""Small problems that are hard for a forest, and what its probabilities must satisfy."""

import numpy as np
from hypothesis import strategies as st


def assert_distributions(proba):
    assert np.isfinite(proba).all()
    assert proba.min() >= 0.0
    assert proba.max() <= 1.0 + 1e-9
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=0, atol=1e-6)


@st.composite
def problems(draw):
    """Small matrices that are hard: few distinct values, extremes, constant columns, NaN."""
    n, p = draw(st.integers(1, 24)), draw(st.integers(1, 6))
    seed = draw(st.integers(0, 2**32 - 1))
    generator = np.random.default_rng(seed)
    pool = draw(
        st.lists(
            st.floats(-(2.0**126), 2.0**126, width=32)
            | st.sampled_from([0.0, -0.0, 1e-45, -1e-45, 1e-38, 1.0, 1e38, -1e38, 16777216.0])
            | (st.just(np.nan)),
            min_size=1,
            max_size=8,
        )
    )
    data = generator.choice(np.array(pool, dtype=np.float32), size=(n, p))
    if draw(st.booleans()):
        data[:, generator.integers(p)] = data[0, 0]
    if draw(st.booleans()):
        data = data[generator.integers(n, size=n)]  # repeats
    classes = draw(st.integers(1, 5))
    share = np.r_[1.0, np.full(classes - 1, draw(st.sampled_from([1.0, 0.1, 0.01])))]
    y = generator.choice(classes, size=n, p=share / share.sum())
    weight = None
    if draw(st.booleans()):
        weight = generator.choice([0.0, 1e-30, 0.5, 1.0, 3.0, 1e30], size=n)
        weight[generator.integers(n)] = 1.0
    return data, y, weight
