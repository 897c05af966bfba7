"""How a stream's parts came. One rule: a gap is between two parts that say something; what only
names the role, ends the reply or counts its tokens is none.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def gaps_ms(times: Sequence[float]) -> dict[str, float]:
    """Number, mean, median, 99th percentile (both a gap that was) and longest, milliseconds.

    ``times`` in seconds; empty where there are less than two.
    """
    gaps = sorted((later - earlier) * 1e3 for earlier, later in pairwise(times))
    if not gaps:
        return {}
    return {
        "n": len(gaps),
        "mean": round((times[-1] - times[0]) * 1e3 / len(gaps), 3),
        "p50": round(_rank(gaps, 0.5), 3),
        "p99": round(_rank(gaps, 0.99), 3),
        "max": round(gaps[-1], 3),
    }


def _rank(ordered: Sequence[float], part: float) -> float:
    """The smallest value that at least that part of them do not exceed."""
    return ordered[ceil(part * len(ordered)) - 1]
