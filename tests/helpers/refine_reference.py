# SPDX-License-Identifier: BSD-3-Clause
"""Refining of a tree in plain NumPy, row by row and in double precision: the oracle of the tests.

Planes are rounded as they are stored, about the node's first vote. Which that is depends on the
order of rows: the core parts them in place, so that they stand leaf by leaf.
"""

from dataclasses import dataclass, field

import numpy as np

from forest_arrays import weights_of

PENALTY, START_SIZE, GRADIENT_STEPS, HALVES = 1e-3, 2.0, 4, 3


@dataclass
class Node:
    """A plane over standardised rows with two children, or a leaf with a distribution."""

    w: np.ndarray | None = None
    b: float = 0.0
    left: "Node | None" = None
    right: "Node | None" = None
    value: np.ndarray | None = None
    grown: bool = True
    fitted: object = None  # the votes of the last fit
    rows: list = field(default_factory=list)

    def goes_right(self, z):
        return z @ self.w + self.b >= 0

    def leaf(self, z):
        if self.left is None:
            return self
        return (self.right if self.goes_right(z) else self.left).leaf(z)

    def become(self, other):
        for name in ("w", "b", "left", "right", "value", "grown", "fitted"):
            setattr(self, name, getattr(other, name))

    def leaves(self):
        return [self] if self.left is None else self.left.leaves() + self.right.leaves()


class Refiner:
    """Refines the one tree of a fitted estimator that was given X, labels and weights."""

    def __init__(self, tree, X, labels, weights):
        self.truth, self.weights = np.eye(labels.max() + 1)[labels], weights
        mean = np.average(X, axis=0, weights=weights)
        self.unit = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights).sum())
        self.Z = (X - mean) / self.unit
        arrays = tree._forest.arrays()

        def node(i):
            if arrays["left"][i] < 0:
                return Node()
            w, left = weights_of(arrays, i), arrays["left"][i]
            b = w @ mean - arrays["threshold"][i]
            return Node(w * self.unit, b, node(left), node(left + 1))

        self.root = node(0)
        self.order = list(range(len(X)))
        self.settle_all()  # as growing has parted the rows
        self.settle_all()

    def settle_all(self):
        self.settle(self.root, self.order)
        self.order = [i for leaf in self.root.leaves() for i in leaf.rows]
        assert sorted(self.order) == list(range(len(self.Z)))

    def settle(self, node, rows):
        """Let rows go their way; returns the loss below the node."""
        node.rows = list(rows)
        while node.left is not None:
            sides = [[], []]
            for i in node.rows:
                sides[int(node.goes_right(self.Z[i]))].append(i)
            if sides[0] and sides[1]:
                break
            node.become(node.right if sides[1] else node.left)
        mean = np.average(self.truth[node.rows], axis=0, weights=self.weights[node.rows])
        own = sum(self.loss(mean, i) for i in node.rows)
        if node.left is not None:
            below = self.settle(node.left, sides[0]) + self.settle(node.right, sides[1])
            if own > below + 1e-9:
                return below
        node.rows = [i for side in sides for i in side] if node.left is not None else node.rows
        node.become(Node(value=mean))
        return own

    def loss(self, value, i):
        return self.weights[i] * ((value - self.truth[i]) ** 2).sum()

    def refine(self):
        """One pass."""
        self.improve(self.root)
        self.settle_all()

    def stored(self, w, b, pivot):
        """A plane stretched so that its largest weight needs no rounding, then rounded."""
        largest = w[np.abs(w).argmax()] / self.unit
        stretch = bfloat16(largest) / largest
        rounded = bfloat16(w * stretch / self.unit) * self.unit
        return rounded, b * stretch - (rounded - w * stretch) @ pivot

    def improve(self, node):
        if node.left is None:
            return
        self.improve(node.left)
        self.improve(node.right)
        gain = np.array(
            [
                self.loss(node.left.leaf(self.Z[i]).value, i)
                - self.loss(node.right.leaf(self.Z[i]).value, i)
                for i in node.rows
            ]
        )
        Z = self.Z[node.rows]
        votes = np.abs(gain) > 1e-9
        right = gain > 0
        if np.all(right[votes]) or not np.any(right[votes]):
            many_right = 2 * np.sum(Z @ node.w + node.b >= 0) > len(Z)
            to_right = right[votes][0] if votes.any() else many_right
            node.become(node.right if to_right else node.left)
            return
        cast = frozenset((i, r) for i, r, v in zip(node.rows, right, votes, strict=True) if v)
        if cast == node.fitted:
            return
        node.fitted = cast
        target, weight = np.where(right[votes], 1.0, -1.0), np.abs(gain[votes])
        old, new = fit(Z[votes], target, weight, node.w, node.b, node.grown)
        before = gain[Z @ node.w + node.b >= 0].sum()
        for halves in range(HALVES + 1):
            share = 0.5**halves
            w, b = (share * n + (1 - share) * o for n, o in zip(new, old, strict=True))
            w, b = self.stored(w, b, Z[votes][0])
            if gain[Z @ w + b >= 0].sum() >= before - 1e-9:
                node.w, node.b, node.grown = w, b, False
                return


def bfloat16(x):
    bits = np.asarray(x, dtype=np.float32).view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16
    return bits.astype(np.uint32).view(np.float32).astype(float)


def fit(Z, t, c, w, b, grown):
    """A Newton step of logistic regression, as far as a few conjugate gradients take it."""
    c = c / c.mean()
    if grown:
        size = START_SIZE / np.average(np.abs(Z @ w + b), weights=c)
        w, b = w * size, b * size
    slope, curvature = derivatives(Z @ w + b, t, c)
    centre = slope.sum() / curvature.sum()

    def centred(v):
        return Z @ v - np.average(Z @ v, weights=curvature)

    step = np.zeros_like(w)
    residual = -Z.T @ (slope - curvature * centre) - PENALTY * w
    direction = residual
    for _ in range(GRADIENT_STEPS):
        if residual @ residual < 1e-20:
            break
        bent = Z.T @ (curvature * centred(direction)) + PENALTY * direction
        length = (residual @ residual) / (direction @ bent)
        step = step + length * direction
        after = residual - length * bent
        direction = after + (after @ after) / (residual @ residual) * direction
        residual = after
    shift = -centre - np.average(Z @ step, weights=curvature)
    move = Z @ step + shift
    begin = slope @ move + PENALTY * w @ step
    end = derivatives(Z @ w + b + move, t, c)[0] @ move + PENALTY * (w + step) @ step
    part = begin / (begin - end) if begin < 0 < end else 1.0
    return (w, b), (w + part * step, b + part * shift)


def derivatives(z, t, c):
    p = 1 / (1 + np.exp(t * z))
    return -t * c * p, c * (p * (1 - p) + 1e-3)
