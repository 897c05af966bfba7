"""What the background does not explain. One rule: every phase asks this the same way.

An exact checker has no background, so one corrupt unit is enough. Else the bound is a confidence
sequence's, since counts are looked at after every probe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.stats import sequence

if TYPE_CHECKING:
    from lab.bisect.parameters import Parameters
    from lab.bisect.trials import Tally


def beyond(counts: Tally, params: Parameters, looks: int = 1) -> bool:
    """Whether more is corrupt than a background of ``p_tol``; ``looks`` counts share alpha."""
    if params.exact or not counts.corrupt:
        return counts.corrupt > 0
    return sequence(counts.corrupt, counts.units, params.alpha / looks)[0] > params.p_tol
