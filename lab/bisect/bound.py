"""The fewest sessions that any search can do with. One rule: information, no search at all.

A session of a configuration tells through a channel of one bit: it contains the culprits or not,
and is corrupt at p1 or at p0. With n culprit sets equally likely and an error of e, a search has to
learn log2(n) - h(e) - e log2(n - 1) bits (Fano), and no session tells more than the channel's
capacity, however the search adapts to what it saw (Shannon 1956: feedback adds none).
"""

from __future__ import annotations

from math import comb, log2


def sessions_needed(toggles: int, k: int, p1: float, p0: float = 0.0, error: float = 0.01) -> float:
    """Mean sessions below which no search finds ``k`` of ``toggles``; it is told k, p1 and p0."""
    sets = comb(toggles, k)
    if sets == 1:
        return 0.0
    missing = log2(sets) - entropy(error) - error * log2(sets - 1)
    return max(0.0, missing) / capacity(p1, p0)


def capacity(p1: float, p0: float = 0.0) -> float:
    """Bits that a session tells at most: the binary channel of Silverman (1955), p1 above p0.

    At p0 = 0 it is the Z-channel: log2(1 + p1 (1 - p1) ^ ((1 - p1) / p1)).
    """
    if not 0 <= p0 < p1 <= 1:
        raise ValueError(f"rates must satisfy 0 <= p0 < p1 <= 1, got {p0} and {p1}")
    with_culprits, without, apart = entropy(p1), entropy(p0), p1 - p0
    odds = 2.0 ** ((without - with_culprits) / apart)  # of a corrupt to a clean session, at best
    return log2(1 + odds) + (p0 * with_culprits - p1 * without) / apart


def entropy(p: float) -> float:
    """Of a coin, in bits."""
    return -sum(q * log2(q) for q in (p, 1 - p) if q > 0)
