"""Heads that look at distances: kernels written as sums of the rotary frequencies.

The key of every row is 1 in the first lane of each positional pair, so that rotation makes it
``e^(i w_j p)``; a query ``c_j e^(i w_j t)`` scores ``g(t - p) = sum Re(c_j e^(i w_j (t - p)))``.
The frequencies are powers of one ratio and end where a pair no longer turns within the context; the
pairs after them carry content. One rule: the coefficients are numbers of this file, in 1/1024.

They are the smallest, in the Euclidean norm, that reach a gap of 1 in the worst case: what rounds a
key to few bits is noise in proportion to that norm. Such a problem is a hard-margin separation, so
its optimum is unique: constraints were added where they were broken most, each relaxation was
solved by non-negative least squares, and the result was rounded to the grid and scaled until the
gap was 1 again. ``tests/engine/probe/test_kernels.py`` holds every gap over the whole context.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Complex = NDArray[np.complex128]

THETA = 1e16  # of every head size: w_j is 10 to the power -32 j / head_dim
CONTEXT = 32768  # distances over which the gaps hold
NEAR = 450  # tokens from an anchor within which the kernel must see it
APART = 230  # tokens between two anchors, at least
PAIRS = {64: 10, 128: 20, 256: 40}  # positional pairs of a head size

# The real parts; the kernel of another offset is the same one, turned.
_OFFSET = {
    64: "2156 615 677 420 386 323 401 242 312 40",
    128: "1967 669 281 179 157 137 103 101 139 139 99 92 108 117 99 56 30 11 4 1",
    256: """1479 863 496 296 168 108 73 59 42 26 23 49 37 43 38 26 35 30 29 29 23 31 36 32 29 27 26
    12 18 16 21 22 17 12 8 5 3 2 1 0""",
}

# The real parts, then the imaginary parts.
_ANCHOR = {
    64: "0 0 8 20 150 1457 1444 938 983 123 0 -1 -2 -25 90 189 392 674 1184 545",
    128: """1 3 9 9 24 73 74 67 141 468 640 531 502 463 376 268 392 205 76 25
    0 -3 -1 9 -15 -6 -24 -113 -21 -178 -10 107 181 105 95 60 181 259 189 115""",
    256: """1 1 2 4 4 8 10 2 16 8 56 21 89 27 68 131 98 116 232 284 292 274 236 197 155 177 142 136
    173 151 154 171 151 110 71 44 26 15 8 5
    0 0 -1 -3 -1 -1 -2 6 -8 -13 30 -12 -17 20 -17 -16 -45 -109 -151 -91 -29 17 49 77 57 53 61 68 30
    57 37 61 97 112 106 91 73 57 44 33""",
}


def frequencies(head_dim: int) -> NDArray[np.float64]:
    """float64 [pairs]: radians a token of each positional pair."""
    powers = np.arange(PAIRS[head_dim]) * (-32.0 / head_dim)
    return np.asarray(10.0**powers)


def exact_offset(head_dim: int, offset: int) -> Complex:
    """complex [pairs]: 1 more at a distance of ``offset`` than at any other in the context."""
    turn: Complex = np.exp(-1j * frequencies(head_dim) * offset)
    return turn * _numbers(_OFFSET[head_dim])


def recent_anchor(head_dim: int) -> Complex:
    """complex [pairs]: 1 more at a distance up to 450 than at any that is 230 or more farther."""
    real, imaginary = _numbers(_ANCHOR[head_dim]).reshape(2, -1)
    both: Complex = real + 1j * imaginary
    return both


def scores(kernel: Complex, head_dim: int, distances: NDArray[np.int64]) -> NDArray[np.float64]:
    """float64 [distances]: the kernel's value at each distance between a query and a key."""
    turns = np.exp(1j * np.outer(distances, frequencies(head_dim)))
    return np.asarray((turns @ kernel).real)


def _numbers(text: str) -> NDArray[np.float64]:
    return np.array([int(number) for number in text.split()]) / 1024
