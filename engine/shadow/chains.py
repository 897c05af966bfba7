"""What a row should hold, as one number: a hash of the tokens up to its own, and of their places.

One rule: equal prefixes have equal chains, whoever computed them; any other token, or the same
tokens one place on, give another chain. A row of c4 or c128 goes by the last token that it pools.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNWRITTEN = 0  # a row that nobody has written
DAMAGED = -1  # a row whose bytes are nobody's: torn, cut off, or another dtype's


def links(tokens: NDArray[np.int64], positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64 [n]: what each token at its position adds to a chain (splitmix64 of the two)."""
    x = tokens.astype(np.uint64) << np.uint64(32) | (positions.astype(np.uint64) + np.uint64(1))
    x = x * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0xD1B54A32D192ED03)
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    found: NDArray[np.int64] = (x ^ x >> np.uint64(31)).view(np.int64)
    return found


def chain(tokens: NDArray[np.int64], start: int = 0, before: int = 0) -> NDArray[np.int64]:
    """int64 [n]: the chain after each token; ``before`` is the chain of the ``start`` before."""
    added = links(tokens, np.arange(start, start + len(tokens), dtype=np.int64))
    return np.cumsum(added) + np.int64(before)
