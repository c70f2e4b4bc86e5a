# SPDX-License-Identifier: BSD-3-Clause
"""The paper's CO2 tree in plain NumPy: the algorithm to read, and the oracle of the native core.

One tree with ``solver="cccp"``, without bootstrap, on dense float32 rows, grown to pure leaves.
Names such as eq:upper-tree-loss are labels in the source of Norouzi, Collins, Fleet, Kohli (2015).
Sums run in the core's order and precision (core_arithmetic.py), to take every decision as it does.
Where this differs
from the paper, so does the core; the reasons are in native/split/co2/optimiser.hpp.
"""

import itertools
import math

import numpy as np

from core_arithmetic import (
    F32,
    LANES,
    as_stored,
    combine,
    derive_key,
    dot,
    fast_exp,
    fast_log2,
    in_order,
    mix,
)

MAX_BINS, AXIS_ROWS = 64, 500  # of the axis-aligned search
# Not NumPy's own, whose last bit may differ from the C library's.
log, log2 = (np.vectorize(f, otypes=[float]) for f in (math.log, math.log2))


def moments(X, weight):  # mean, variance, lowest and highest of the observed values of each feature
    seen = ~np.isnan(X) & (weight > 0)[:, None]
    x, c = np.where(seen, X, 0.0).astype(float), seen * weight[:, None].astype(float)
    low, high = np.where(seen, x, np.inf).min(axis=0), np.where(seen, x, -np.inf).max(axis=0)
    shift = x[seen.argmax(axis=0), np.arange(X.shape[1])]  # the first value
    d = seen * (x - shift)
    total = np.where(seen.any(axis=0), in_order(c), 1.0)  # never observed: mean 0
    first, second = in_order(c * d) / total, in_order(c * d * d) / total
    return shift + first, (low < high) * np.maximum(0.0, second - first * first), low, high


def outlier_limits(X):  # five times the distance between first and last decile, beyond these
    x, end = np.sort(X.astype(float), axis=0), (~np.isnan(X)).sum(axis=0) - 1
    first, middle, last = (x[end * t // 10, np.arange(X.shape[1])] for t in (1, 5, 9))
    limits = [first - 5.0 * (last - first), last + 5.0 * (last - first)]
    return np.where((first < middle) & (middle < last), limits, [[-np.inf], [np.inf]])


def scale_of(variance, low, high, scaling):  # factors for total variance one, and their unit
    factor, usable = np.zeros_like(variance), np.flatnonzero(variance > 0)
    v, spread = variance[usable], (high - low)[usable]
    relative = in_order(v / spread / spread) / max(len(v), 1)
    factor[usable] = {
        "soft": lambda: 1.0 / np.sqrt(v + relative * spread * spread),
        "standard": lambda: 1.0 / np.sqrt(v),
        "minmax": lambda: 1.0 / spread,
        "global": lambda: 1.0 / np.sqrt(in_order(v) / len(v)),
        None: lambda: 1.0,
    }[scaling]()
    unit = math.sqrt(in_order(factor * factor * variance)) or 1.0
    return (factor / unit).astype(F32), unit


def entropy_scan(histogram):  # minus the weighted entropy of both sides if bins <= b go left
    left = histogram.cumsum(axis=1)
    left = np.vstack([in_order(left), left])  # all classes, then each
    right = left[:, -1:] - left
    terms = left * fast_log2(left) + right * fast_log2(right)
    return in_order(terms[1:]) - terms[0]


def axis_start(rows, label, weight, q, random):
    """Column and cut of the best axis-aligned split of q random columns, by information gain."""
    columns = np.arange(rows.shape[1])
    for t in range(len(columns)):
        other = t + (next(random) * (len(columns) - t) >> 32)
        columns[[t, other]] = columns[[other, t]]
    best_gain, best = -np.inf, (None, None)
    for column in [j for j in columns if np.ptp(rows[:AXIS_ROWS, j]) > 0][:q]:
        x = rows[:AXIS_ROWS, column]
        bins = F32(min(MAX_BINS, -(-len(x) // LANES) * LANES))
        bin_of = np.minimum(bins - 1, (x - x.min()) * (bins / np.ptp(x))).astype(int)
        histogram = np.zeros((label.max() + 1, int(bins)), dtype=F32)
        np.add.at(histogram, (label[:AXIS_ROWS], bin_of), weight[:AXIS_ROWS])
        gain = entropy_scan(histogram)[:-1]
        if gain.max() > best_gain:
            right = bin_of > gain.argmax()
            left, right = x[~right].max(), x[right].min()
            cut = left + (right - left) * F32(0.5)  # the middle of the gap
            best_gain, best = gain.max(), (column, cut if cut > left else right)
    return best


def softmax(theta):
    """Theta with sum_a exp theta_a = 1, so that l(theta, y) = -theta_y; p; half the losses' gap."""
    power = fast_exp(theta)
    total = dot(power, np.ones(power.shape[1], dtype=F32))[:, None]
    theta = theta - fast_log2(total) * F32(0.693147181)
    return theta, power * (F32(1) / total), F32(0.5) * (theta[1] - theta[0])


def batches_of(n, params):
    number = -(-n // params.batch_size)
    return [np.arange(n * b // number, n * (b + 1) // number) for b in range(number)]


def optimise(rows, label, weight, column, cut, params):
    """Algorithm 1: w and bias that minimise eq:upper-dtree-emploss, where z = <w, x> + bias."""
    n, k, offset, nu = len(rows), label.max() + 1, F32(params.offset), F32(params.nu)
    counts = np.bincount((rows[:, column] >= cut) * k + label, weight, 2 * k).reshape(2, k)
    start = log((counts + params.smoothing) / in_order(counts.T + params.smoothing)[:, None])
    theta, p, gap = softmax(start.astype(F32))
    # |w|^2 = nu, where the bound is tightest (prop:co2-tightness). The offset's weight is included.
    ratio = float(cut) / params.offset
    a = math.sqrt(params.nu / (1.0 + ratio * ratio))
    w, bias = F32(a) * np.eye(rows.shape[1], dtype=F32)[column], F32(-a * float(cut))
    v, v_bias, v_theta, momentum = np.zeros_like(w), F32(0), F32(0), F32(params.momentum)

    def objective():  # eq:upper-dtree-surrogate-objective per unit of weight, and which z >= 0
        z, c, loss = (dot(rows, w) + bias).astype(float), weight.astype(float), -theta.astype(float)
        bound = np.maximum(-z + loss[0, label], z + loss[1, label]) - abs(z)
        return in_order(c * bound) / in_order(c), z >= 0

    batches = batches_of(n, params)
    budget = params.max_iter or max(params.min_iter, 3 * len(batches))
    tau = params.cccp_period or max(1, budget // 6)
    best, stalled, rate = (math.inf,), 0, 1.0
    for t in range(budget):
        if t % tau == 0:  # w_old <- w: for tau steps the concave term keeps the signs of now
            value, s = objective()
            improved = value < best[0] * (1.0 - params.tol)
            stalled, rate = (0, rate) if improved else (stalled + 1, rate * 0.5)
            best = min(best, (value, t, w, bias))
            if stalled == 3:
                break
        ids = batches[t % len(batches)]
        c, y = weight[ids], label[ids]
        right = dot(rows[ids], w) + bias > gap[y]  # the leaf in the larger arm of the maximum
        wrong = np.flatnonzero(right != s[ids])
        charged = np.zeros((2, k), dtype=F32)
        for a in range(k):
            charged[1, a] = in_order(c[y == a] * right[y == a])
            charged[0, a] = in_order(c[y == a]) - charged[1, a]
        batch_weight = in_order(np.array([in_order(c[y == a]) for a in dict.fromkeys(y)]))
        # Minus a subgradient of eq:upper-convex-dtree-emploss: (1 + s) x, -(1 - s) x, or zero.
        pull = np.where(s[ids], F32(2) * c, F32(-2) * c)[wrong]
        eta = F32(params.rate_weights * rate) / batch_weight
        v = v * momentum + combine(rows[ids[wrong]], pull) * eta
        v_bias = momentum * v_bias + eta * (in_order(pull) * offset)
        w, w_offset = w + v, bias / offset + v_bias
        norm = dot(w[None], w)[0] + w_offset * w_offset
        if norm > nu:
            w, w_offset = w * np.sqrt(nu / norm), w_offset * np.sqrt(nu / norm)
        bias = w_offset * offset
        gradient = p * in_order(charged.T)[:, None] - charged
        v_theta = momentum * v_theta - F32(params.rate_leaves * rate) / batch_weight * gradient
        theta, p, gap = softmax(theta + v_theta)
    return best[2:] if best[0] < objective()[0] else (w, bias)


def impurity(*sides):  # weight times entropy, in bits, of sides given as class weights
    weight = np.array([[in_order(side), *side] for side in sides])
    terms = in_order(weight * log2(np.where(weight > 0, weight, 1.0)))
    return terms[0] - in_order(terms[1:])


class Tree:  # grown on class codes y, each node as a stump of its own
    def __init__(self, X, y, weight, n_classes, params, scaling, seed):
        self.y, self.params, self.weight, first = y, params, np.zeros_like(weight), {}
        for i, c in enumerate(weight):  # rows alike in features and label are one row
            self.weight[first.setdefault((X[i].tobytes(), y[i]), i)] += c
        stats = np.array(moments(X, weight))
        self.mean = stats[0].astype(F32)
        self.x = np.where(np.isnan(X), self.mean, X)
        judged = [i for i in first.values() if weight[i] > 0]  # the core: some thousand, if more
        limits = outlier_limits(X[judged])
        clipped = np.array(moments(np.clip(X.astype(float), *limits), weight))
        absurd = stats[1] > 25.0 * clipped[1]  # what lies beyond is most of the variance
        centre, *stats = np.where(absurd, clipped, stats)
        limits = np.where(absurd, limits, [[-np.inf], [np.inf]]).astype(F32)
        self.centre, (self.scale, unit) = centre.astype(F32), scale_of(*stats, scaling)
        self.z = (np.clip(self.x, *limits) - self.centre) * self.scale
        params.nu *= unit * unit if params.nu_in_user_units else 1.0
        params.rate_weights *= unit * unit if params.rate_in_user_units else 1.0
        self.nodes = []  # (left child, weights, threshold); for a leaf (-1, class weights, None)
        queue = [(np.flatnonzero(self.weight), derive_key(derive_key(mix(seed), 0), 1))]
        for ids, key in queue:  # which grows on the way
            counts = np.bincount(y[ids], self.weight[ids], n_classes)
            split = self.find_split(ids, key) if np.count_nonzero(counts) > 1 else None
            self.nodes.append((len(queue), *split[:2]) if split else (-1, counts, None))
            if split:
                queue += [(side, derive_key(key, i)) for i, side in enumerate(split[2])]

    def find_split(self, ids, key):  # weights, threshold, and the rows of both sides
        random = (derive_key(key, i) >> 32 for i in itertools.count())
        n, m = len(ids), min(len(ids), self.params.max_rows)
        stretch = [(n * i // m, n * (i + 1) // m) for i in range(m)]  # one row is drawn from each
        drawn = [ids[a + (next(random) * (b - a) >> 32 if b - a > 1 else 0)] for a, b in stretch]
        for i in range(m - 1, 0, -1):
            j = next(random) * (i + 1) >> 32
            drawn[i], drawn[j] = drawn[j], drawn[i]
        classes = list(dict.fromkeys(self.y[drawn]))  # of the node, numbered as they occur
        label = np.array([classes.index(y) for y in self.y[drawn]])
        pieces = [b[i : i + 250] for b in batches_of(m, self.params) for i in range(0, len(b), 250)]
        order = [ids[label[ids].argsort(kind="stable")] for ids in pieces]
        drawn, label = np.array(drawn)[np.hstack(order)], label[np.hstack(order)]
        z, weight = self.z[drawn], self.weight[drawn]
        column, cut = axis_start(z, label, weight, self.params.max_features, random)
        if column is None:
            return None
        x, right = self.x[drawn, column], z[:, column] >= cut
        low, high = x[~right].max(), x[right].min()
        middle = low * F32(0.5) + high * F32(0.5)
        planes = [(np.eye(z.shape[1], dtype=F32)[column], middle if low < middle <= high else high)]
        if len(classes) > 1:  # else the drawn rows are pure although the node is not
            w, bias = optimise(z, label, weight, column, cut, self.params)
            largest = np.abs(w * self.scale)[[np.argmax(np.abs(w) * (self.scale > 0))]]
            w, bias = (v * (as_stored(largest) / largest)[0] for v in (w, bias))
            u = as_stored(w * self.scale)
            turn = np.divide(u, self.scale, out=w.copy(), where=u != 0) - w
            terms = u.astype(float) * self.centre + turn.astype(float) * z[0]
            planes.insert(0, (u, F32(in_order(np.append(-bias, terms)))))
        best_gain, best = -1.0, None
        for u, threshold in planes:
            side = dot(self.x[ids], u, raw=True) >= threshold
            seen = ids if u is planes[0][0] else drawn  # the start is judged by the drawn rows
            gain = self.gain(seen, dot(self.x[seen], u, raw=True) >= threshold)
            gain *= in_order(self.weight[ids].astype(float)) / in_order(
                self.weight[seen].astype(float)
            )
            if side.any() and not side.all() and max(0.0, gain) > best_gain * (1.0 + 1e-9):
                best_gain, best = max(0.0, gain), (u, threshold, (ids[~side], ids[side]))
        return best

    def gain(self, ids, side):
        counts = np.bincount(self.y[ids], self.weight[ids])
        right = np.bincount(self.y[ids], self.weight[ids] * side)
        return impurity(counts) - impurity(np.maximum(0.0, counts - right), right)

    def predict(self, X):  # the distribution of the leaf that each row reaches
        x, node = np.where(np.isnan(X), self.mean, X), np.zeros(len(X), dtype=int)
        for i, (left, w, threshold) in enumerate(self.nodes):
            if left >= 0:
                node = np.where(node == i, left + (dot(x, w, raw=True) >= threshold), node)
        return np.array([self.nodes[i][1] / in_order(self.nodes[i][1]) for i in node], dtype=F32)
