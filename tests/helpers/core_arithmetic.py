# SPDX-License-Identifier: BSD-3-Clause
"""How the native core draws random numbers, adds and rounds, in NumPy and to the last bit."""

import numpy as np

F32 = np.float32
LANES = 16  # partial sums of a product of vectors

# Polynomials for float32: log2(1 + t) / t on [0, 1), and (exp(t) - 1 - t) / t^2 around 0.
LOG2 = "0.015529897 -0.079557665 0.19429424 -0.32590193 0.47355339 -0.72058547 1.4426678"
EXP = "1.98756915e-4 1.3981999507e-3 8.3334519073e-3 4.1665795894e-2 0.16666665459 0.50000001201"
LOG2, EXP = (np.array(c.split(), dtype=F32) for c in (LOG2, EXP))


def mix(x):  # the finaliser of splitmix64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) % 2**64
    return x ^ (x >> 31)


def derive_key(key, part):  # of a part of a whole; also number `part` of the stream with this key
    return mix((key + 0x9E3779B97F4A7C15 * (part + 1)) % 2**64)


def in_order(terms):  # sum along the first axis, one after the other, in the terms' precision
    return terms.cumsum(axis=0)[-1] if len(terms) else np.zeros(terms.shape[1:], terms.dtype)


def dot(rows, w, raw=False):
    """<row, w> of each row: element j goes to lane j % 16, then the lanes are folded.

    The last p % 16 elements of a raw row, which has no padding, go to the last lanes.
    """
    p, rest = len(w), len(w) % LANES if raw and len(w) >= LANES else 0
    lane = np.zeros((len(rows), -(-p // LANES) * LANES), dtype=F32)
    lane[:, : p - rest] = (rows * w)[:, : p - rest]
    lane[:, len(lane[0]) - rest :] = (rows * w)[:, p - rest :]
    lane = in_order(lane.reshape(len(rows), -1, LANES).swapaxes(0, 1))
    quad = (lane[:, 0:4] + lane[:, 8:12]) + (lane[:, 4:8] + lane[:, 12:16])
    return (quad[:, 0] + quad[:, 2]) + (quad[:, 1] + quad[:, 3])


def as_stored(w):  # rounded to bfloat16: the nearest float without its lower half, ties to even
    bits = w.astype(F32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(F32)


def combine(rows, a):  # sum_i a_i row_i, four rows at a time
    terms, n = rows * a[:, None], len(a) // 4 * 4
    fours = (terms[0:n:4] + terms[1:n:4]) + (terms[2:n:4] + terms[3:n:4])
    return in_order(np.concatenate([fours, terms[n:]]))


def fast_log2(x):
    bits = x.view(np.int32)
    t = ((bits & 0x007FFFFF) | 0x3F800000).view(F32) - F32(1)
    return ((bits >> 23) - 127).astype(F32) + np.polyval(LOG2, t) * t


def fast_exp(x):
    n = np.rint(x * F32(1.44269504))
    t = (x - n * F32(0.693359375)) - n * F32(-2.12194440e-4)
    return np.ldexp((np.polyval(EXP, t) * t) * t + (t + F32(1)), n.astype(int))
