"""How long replies took in two arms: quantiles, and how far they are apart.

One rule: whole sessions are drawn again, not replies, for the replies of a session are alike; and
the same ones on both sides where both were asked the same. What is drawn is only counted: a drawn
session's replies stand in the sorted ones as often as it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

QUANTILES = (0.5, 0.9, 0.99)
ENOUGH = {0.99: 300}  # replies of either arm, without which a quantile is that of a few
MOST, LEAST, WORK = 400, 100, 4_000_000  # rounds; and replies drawn, beyond which they are fewer
ENDS = (0.025, 0.975)
Session = tuple[int, int]  # a boot's place in the arm, a session's number
Times = Mapping[Session, Sequence[float]]  # seconds of replies


def quantiles(
    a: Times, b: Times, partners: AbstractSet[Session] = frozenset(), seed: int = 0
) -> dict[str, Any]:
    """Seconds at each quantile in both arms, and B minus A with its bootstrap 95 % interval, of
    pairs of sessions where all of them are ``partners``, asked the same; empty where an arm has no
    time.
    """
    a, b = ({key: times[key] for key in sorted(times) if times[key]} for times in (a, b))
    if not a or not b:
        return {}
    paired = a.keys() == b.keys() and a.keys() <= partners
    one, other = (np.quantile(_all(times), QUANTILES) for times in (a, b))
    n = [sum(map(len, times.values())) for times in (a, b)]
    rounds = max(LEAST, min(MOST, WORK // max(n)))
    mine, theirs = ([seed], [seed]) if paired else ([seed, 0], [seed, 1])
    apart = drawn(b, np.random.default_rng(mine), rounds)
    apart -= drawn(a, np.random.default_rng(theirs), rounds)
    low, high = np.quantile(apart, ENDS, axis=0)
    return {
        f"p{100 * q:g}": {
            "a_s": float(one[i]),
            "b_s": float(other[i]),
            "n": n,
            "difference_s": float(other[i] - one[i]),
            "ci95_s": [float(low[i]), float(high[i])],
            "paired": paired,
        }
        for i, q in enumerate(QUANTILES)
        if min(n) >= ENOUGH.get(q, 0)
    }


def drawn(times: Times, rng: np.random.Generator, rounds: int) -> NDArray[np.float64]:
    """Quantiles of sessions drawn with replacement [rounds, quantiles]: those that `np.quantile`
    has of the drawn sessions' replies.
    """
    of = np.array([len(it) for it in times.values() if it])
    every = _all(times)
    order = np.argsort(every)
    seconds, session = every[order], np.repeat(np.arange(len(of)), of)[order]
    picks = rng.integers(0, len(of), size=(rounds, len(of)))
    return np.array(
        [_quantiles(seconds, np.bincount(pick, minlength=len(of))[session]) for pick in picks]
    )


def _quantiles(seconds: NDArray[np.float64], often: NDArray[np.int64]) -> NDArray[np.float64]:
    """Of sorted numbers, each taken as often as is said: between two of them, in proportion."""
    upto = np.cumsum(often)
    at = np.array(QUANTILES) * (upto[-1] - 1)
    below = np.floor(at)
    ends = np.stack([below, np.minimum(below + 1, upto[-1] - 1)])
    low, high = seconds[np.searchsorted(upto, ends, side="right")]
    part = at - below
    apart = high - low
    found: NDArray[np.float64] = np.where(part < 0.5, low + apart * part, high - apart * (1 - part))
    return found


def _all(times: Times) -> NDArray[np.float64]:
    return np.array([it for own in times.values() for it in own], dtype=np.float64)
