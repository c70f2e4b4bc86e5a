"""The paper's CO2 tree in plain NumPy: the algorithm to read, and the oracle of the native core.

One tree with ``solver="cccp"``, without bootstrap, on dense float32 rows, grown to pure leaves.
Names such as eq:upper-tree-loss are labels in the source of Norouzi, Collins, Fleet, Kohli (2015).
Sums run in the core's order and precision, to take every decision as it does. Where this differs
from the paper, so does the core; the reasons are in native/split/co2/optimiser.hpp.
"""

import itertools
import math

import numpy as np

F32 = np.float32
LANES, MAX_BINS, AXIS_ROWS = 16, 64, 2000  # partial sums; bins and rows of the axis-aligned search
# Not NumPy's own, whose last bit may differ from the C library's.
exp, log, log2 = (np.vectorize(f, otypes=[float]) for f in (math.exp, math.log, math.log2))


def mix(x):  # the finaliser of splitmix64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) % 2**64
    return x ^ (x >> 31)


def derive_key(key, part):
    """Key of a part within a whole; also the random number `part` of the stream with this key."""
    return mix((key + 0x9E3779B97F4A7C15 * (part + 1)) % 2**64)


def in_order(terms):  # sum along the first axis, one after the other, in the terms' precision
    return terms.cumsum(axis=0)[-1] if len(terms) else np.zeros(terms.shape[1:], terms.dtype)


def dot(rows, w):  # <row, w> of each row: element j goes to lane j % 16, then lanes are folded
    lane = np.zeros((len(rows), -(-len(w) // LANES) * LANES), dtype=F32)
    lane[:, : len(w)] = rows * w
    lane = in_order(lane.reshape(len(rows), -1, LANES).swapaxes(0, 1))
    quad = (lane[:, 0:4] + lane[:, 8:12]) + (lane[:, 4:8] + lane[:, 12:16])
    return (quad[:, 0] + quad[:, 2]) + (quad[:, 1] + quad[:, 3])


def combine(rows, a):  # sum_i a_i row_i, four rows at a time
    terms, n = rows * a[:, None], len(a) // 4 * 4
    fours = (terms[0:n:4] + terms[1:n:4]) + (terms[2:n:4] + terms[3:n:4])
    return in_order(np.concatenate([fours, terms[n:]]))


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


def x_log2_x(x):  # the core's approximation for float32
    c = [0.015529897, -0.079557665, 0.19429424, -0.32590193, 0.47355339, -0.72058547, 1.4426678]
    bits = x.view(np.int32)
    t = ((bits & 0x007FFFFF) | 0x3F800000).view(F32) - F32(1)
    return x * (((bits >> 23) - 127).astype(F32) + np.polyval(np.array(c, dtype=F32), t) * t)


def entropy_scan(histogram):  # minus the weighted entropy of both sides if bins <= b go left
    left = histogram.cumsum(axis=1)
    left = np.vstack([in_order(left), left])  # all classes, then each
    terms = x_log2_x(left) + x_log2_x(left[:, -1:] - left)
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
    """p of eq:tree-pred-softmax, l(theta, y) = -theta_y + log sum_a exp theta_a, half its gap."""
    top = theta.max(axis=1, keepdims=True)
    power = exp(theta - top)
    total = in_order(power.T)[:, None]
    loss = (top + log(total)) - theta
    return power / total, loss, (0.5 * (loss[0] - loss[1])).astype(F32)


def optimise(rows, label, weight, column, cut, params):
    """Algorithm 1: w and bias that minimise eq:upper-dtree-emploss, where z = <w, x> + bias."""
    n, k, offset, nu = len(rows), label.max() + 1, F32(params.offset), F32(params.nu)
    counts = np.bincount((rows[:, column] >= cut) * k + label, weight, 2 * k).reshape(2, k)
    theta = log((counts + params.smoothing) / in_order(counts.T + params.smoothing)[:, None])
    p, loss, gap = softmax(theta)
    # |w|^2 = nu, where the bound is tightest (prop:co2-tightness). The offset's weight is included.
    ratio = float(cut) / params.offset
    a = math.sqrt(params.nu / (1.0 + ratio * ratio))
    w, bias = F32(a) * np.eye(rows.shape[1], dtype=F32)[column], F32(-a * float(cut))
    v, v_bias, v_theta, momentum = np.zeros_like(w), F32(0), 0.0, F32(params.momentum)

    def objective(ids):  # eq:upper-dtree-surrogate-objective per unit of weight, and which z >= 0
        z, y, c = (dot(rows[ids], w) + bias).astype(float), label[ids], weight[ids].astype(float)
        bound = np.maximum(-z + loss[0, y], z + loss[1, y]) - abs(z)
        return in_order(c * bound) / in_order(c), z >= 0

    number = -(-n // params.batch_size)
    batches = [np.arange(n * b // number, n * (b + 1) // number) for b in range(number)]
    budget = params.max_iter or max(params.min_iter, 3 * number)
    tau = params.cccp_period or max(1, budget // 6)
    best, stalled, rate, s = (math.inf,), 0, 1.0, np.zeros(n, dtype=bool)
    for t in range(budget):
        if t % tau == 0:  # w_old <- w: for tau steps the concave term keeps the signs of now
            ids = np.concatenate([batches[(t + i) % number] for i in range(number)])
            value, s[ids] = objective(ids)
            improved = value < best[0] * (1.0 - params.tol)
            stalled, rate = (0, rate) if improved else (stalled + 1, rate * 0.5)
            best = min(best, (value, t, w, bias))
            if stalled == 3:
                break
        ids = batches[t % number]
        c, y = weight[ids], label[ids]
        batch_weight = in_order(c.astype(float))
        right = dot(rows[ids], w) + bias > gap[y]  # the leaf in the larger arm of the maximum
        wrong = np.flatnonzero(right != s[ids])
        # Minus a subgradient of eq:upper-convex-dtree-emploss: (1 + s) x, -(1 - s) x, or zero.
        pull = np.where(s[ids], F32(2) * c, F32(-2) * c)[wrong]
        eta = F32(params.rate_weights * rate / batch_weight)
        v = v * momentum + combine(rows[ids[wrong]], pull) * eta
        v_bias = momentum * v_bias + eta * (in_order(pull) * offset)
        w, w_offset = w + v, bias / offset + v_bias
        norm = dot(w[None], w)[0] + w_offset * w_offset
        if norm > nu:
            w, w_offset = w * np.sqrt(nu / norm), w_offset * np.sqrt(nu / norm)
        bias = w_offset * offset
        charged = np.bincount(right * k + y, c, 2 * k).reshape(2, k)
        gradient = (p * in_order(charged.T)[:, None] - charged) / batch_weight
        v_theta = params.momentum * v_theta - params.rate_leaves * rate * gradient
        theta = theta + v_theta
        p, loss, gap = softmax(theta)
    return best[2:] if best[0] < objective(slice(None))[0] else (w, bias)


def impurity(*sides):  # weight times entropy, in bits, of sides given as class weights
    weight = np.array([[in_order(side), *side] for side in sides])
    terms = in_order(weight * log2(np.where(weight > 0, weight, 1.0)))
    return terms[0] - in_order(terms[1:])


class Tree:  # grown breadth first on class codes y, each node as a stump of its own
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
            split = self.find_split(ids, counts, key) if np.count_nonzero(counts) > 1 else None
            self.nodes.append((len(queue), *split[:2]) if split else (-1, counts, None))
            if split:
                queue += [(side, derive_key(key, i)) for i, side in enumerate(split[2])]

    def find_split(self, ids, counts, key):  # weights, threshold, and the rows of both sides
        random = (derive_key(key, i) >> 32 for i in itertools.count())
        n, m = len(ids), min(len(ids), self.params.max_rows)
        stretch = [(n * i // m, n * (i + 1) // m) for i in range(m)]  # one row is drawn from each
        drawn = [ids[a + (next(random) * (b - a) >> 32 if b - a > 1 else 0)] for a, b in stretch]
        for i in range(m - 1, 0, -1):
            j = next(random) * (i + 1) >> 32
            drawn[i], drawn[j] = drawn[j], drawn[i]
        classes = list(dict.fromkeys(self.y[drawn]))  # of the node, numbered as they occur
        label = np.array([classes.index(y) for y in self.y[drawn]])
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
            u = w * self.scale
            planes.insert(0, (u, F32(in_order(np.append(-bias, u.astype(float) * self.centre)))))
        best_gain, best = -1.0, None
        for u, threshold in planes:
            right = dot(self.x[ids], u) >= threshold
            right_counts = np.bincount(self.y[ids], self.weight[ids] * right, len(counts))
            gain = impurity(counts) - impurity(np.maximum(0.0, counts - right_counts), right_counts)
            if right.any() and not right.all() and max(0.0, gain) > best_gain:
                best_gain, best = max(0.0, gain), (u, threshold, (ids[~right], ids[right]))
        return best

    def predict(self, X):  # the distribution of the leaf that each row reaches
        x, node = np.where(np.isnan(X), self.mean, X), np.zeros(len(X), dtype=int)
        for i, (left, w, threshold) in enumerate(self.nodes):
            if left >= 0:
                node = np.where(node == i, left + (dot(x, w) >= threshold), node)
        return np.array([self.nodes[i][1] / in_order(self.nodes[i][1]) for i in node], dtype=F32)
