"""Two arms whose sessions come in boots: is the difference more than boots differ anyway?

One rule: boots are exchanged, never sessions, so few boots can show little: `least_p` says how
little.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from lab.stats.rates import check_counts

if TYPE_CHECKING:
    from lab.stats.boots import Counts

ROUNDS = 10_000
NEAR = 1e-12  # rates that differ by less are the same


def permuted_boots(a: Counts, b: Counts, seed: int = 0, rounds: int = ROUNDS) -> float:
    """Two-sided p that dealing whole boots to the arms anew parts their rates as far.

    ``a`` and ``b`` are (corrupt, sessions) a boot. Every deal is counted where there are at most
    ``rounds``; else as many are drawn, and what was seen counts as one of them. 1.0 where an arm
    has no session.
    """
    every = [*_kept(a), *_kept(b)]
    first = len(_kept(a))
    if not first or first == len(every):
        return 1.0
    k, n = (np.array(column, dtype=np.float64) for column in zip(*every, strict=True))
    deals, exact = _deals(len(every), first, seed, rounds)
    corrupt, sessions = k[deals].sum(axis=1), n[deals].sum(axis=1)
    apart = np.abs(corrupt / sessions - (k.sum() - corrupt) / (n.sum() - sessions))
    seen = abs(k[:first].sum() / n[:first].sum() - k[first:].sum() / n[first:].sum())
    as_far = int((apart >= seen - NEAR).sum())
    return as_far / len(deals) if exact else (1 + as_far) / (1 + len(deals))


def least_p(a: int, b: int) -> float:
    """The smallest p that so many boots of either arm can give.

    >>> least_p(3, 3)
    0.1
    """
    return min(1.0, (2 if a == b else 1) / comb(a + b, a))


def _kept(counts: Counts) -> list[tuple[int, int]]:
    for one in counts:
        check_counts(*one)
    return [one for one in counts if one[1] > 0]


def _deals(boots: int, first: int, seed: int, rounds: int) -> tuple[np.ndarray, bool]:
    """Which boots the first arm has in each deal ``[deals, first]``, and whether these are all."""
    if comb(boots, first) <= rounds:
        return np.array(list(combinations(range(boots), first))), True
    rng = np.random.default_rng([seed])
    return rng.permuted(np.tile(np.arange(boots), (rounds, 1)), axis=1)[:, :first], False
