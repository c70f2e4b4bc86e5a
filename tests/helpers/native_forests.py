# SPDX-License-Identifier: BSD-3-Clause
"""Native training, and ways to corrupt a forest's arrays."""

import numpy as np

from co2forest import _native

X = np.random.default_rng(0).normal(size=(40, 4))
Y = np.arange(40) % 3


def misaligned(array):
    buffer = np.zeros(array.nbytes + 1, dtype=np.uint8)
    out = buffer[1:].view(array.dtype).reshape(array.shape)
    out[:] = array
    assert not out.flags.aligned
    return out


def train(shape=(3, 2), **changes):
    rows = _native.dense_rows(np.arange(np.prod(shape), dtype=np.float32).reshape(shape))
    params = _native.TrainParams()
    params.sampling.n_draws = 3
    params.n_trees = params.n_threads = 1
    arguments = {
        "rows": rows,
        "target": np.array([0, 1, 1], dtype=np.int32),
        "weight": np.ones(3, dtype=np.float32),
        "n_outputs": 2,
        "mean": np.empty(0, dtype=np.float32),
        "params": params,
    }
    return _native.train(**arguments | changes)


def set_value(name, index, value):
    def corrupt(arrays):
        arrays[name][index] = value

    return corrupt


def drop_last(name):
    def corrupt(arrays):
        arrays[name] = arrays[name][:-1].copy()

    return corrupt


def first_node(arrays, inner):
    return int(np.flatnonzero((arrays["left"] >= 0) == inner)[0])


def shift_offset(name, inner, by):
    def corrupt(arrays):
        arrays[name][first_node(arrays, inner) + 1] += by

    return corrupt


def make_loop(arrays):
    inner = np.flatnonzero(arrays["left"] >= 0)[1]
    arrays["left"][inner] = 0
