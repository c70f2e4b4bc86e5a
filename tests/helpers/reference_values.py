# SPDX-License-Identifier: BSD-3-Clause
"""How a node of a regression is split, in plain NumPy and double precision: the oracle."""

import numpy as np


class Squared:
    """l(theta, y) = |theta - y|^2."""

    @staticmethod
    def value(theta, y):
        return ((theta - y) ** 2).sum(axis=1)

    @staticmethod
    def gradient(theta, y):
        return 2 * (theta - y)

    @staticmethod
    def leaf(y, weight):
        return np.average(y, axis=0, weights=weight)


class Poisson:
    """l(theta, y) = exp(theta) - y theta + y log y - y."""

    @staticmethod
    def value(theta, y):
        own = np.where(y > 0, y * np.log(np.where(y > 0, y, 1)), 0) - y
        return (np.exp(theta) - y * theta + own).sum(axis=1)

    @staticmethod
    def gradient(theta, y):
        return np.exp(theta) - y

    @staticmethod
    def leaf(y, weight):
        return np.log(np.maximum(np.average(y, axis=0, weights=weight), 1e-9))


class Median:
    """l(theta, y) = |theta - y| / 2."""

    @staticmethod
    def value(theta, y):
        return 0.5 * np.abs(theta - y).sum(axis=1)

    @staticmethod
    def gradient(theta, y):
        return 0.5 * np.sign(theta - y)

    @staticmethod
    def leaf(y, weight):
        """The least target with half of the weight below it; the middle if exactly half is."""
        out = []
        for column in y.T:
            order = np.argsort(column)
            below = np.cumsum(weight[order])
            at = np.searchsorted(below, below[-1] / 2)
            exactly = below[at] == below[-1] / 2
            out.append(column[order][at : at + 1 + exactly].mean())
        return np.array(out)


def minimise(rows, y, weight, w, bias, params, loss):
    """Algorithm 1 for any convex loss, from a plane; the leaves start at the plane's sides.

    The loss is divided by its mean at the best leaf of all rows, the steps of the leaves by half
    the mean squared gradient there.
    """
    rows, y, weight, w = (np.asarray(a, dtype=float) for a in (rows, y, weight, w))
    right = rows @ w + bias >= 0
    best = loss.leaf(y, weight)
    unit = weight.sum() / (weight @ loss.value(best, y))
    squares = weight @ loss.gradient(best, y) ** 2
    curvature = squares * y.shape[1] * unit / weight.sum() / 2
    theta = [loss.leaf(y[~right], weight[~right]), loss.leaf(y[right], weight[right])]
    v, v_bias, v_theta = np.zeros_like(w), 0.0, [0.0, 0.0]
    number = -(-len(rows) // params.batch_size)
    batches = [
        np.arange(len(rows) * b // number, len(rows) * (b + 1) // number) for b in range(number)
    ]
    budget = params.max_iter or max(params.min_iter, 3 * number)
    for t in range(budget):
        if t % (params.cccp_period or max(1, budget // 2)) == 0:  # the signs freeze
            s = np.where(right if t == 0 else rows @ w + bias >= 0, 1, -1)
        rate = 1 - t / budget
        ids = batches[t % number]
        x, c = rows[ids], weight[ids]
        gap = 0.5 * unit * (loss.value(theta[0], y[ids]) - loss.value(theta[1], y[ids]))
        charged = x @ w + bias > gap
        pull = 2 * s[ids] * c * (charged != (s[ids] > 0))
        eta = params.rate_weights * rate / c.sum()
        v = params.momentum * v + eta * pull @ x
        v_bias = params.momentum * v_bias + eta * pull.sum() * params.offset
        w, w_offset = w + v, bias / params.offset + v_bias
        norm = w @ w + w_offset**2
        shrink = min(1.0, np.sqrt(params.nu / norm))
        w, bias = w * shrink, w_offset * shrink * params.offset
        for side in (0, 1):
            mine = charged == side
            slope = c[mine] @ loss.gradient(theta[side], y[ids][mine])
            step = 0.6 * params.rate_leaves * rate / c.sum() * slope / curvature
            v_theta[side] = params.momentum * v_theta[side] - step
            theta[side] = theta[side] + v_theta[side]
    return w, bias
