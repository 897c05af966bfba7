"""How sure it is that the first arm is unlike a clean one, for a headline.

One rule: which arm it is held against follows from the order of the arms, never from the p-values,
and p is corrected for every arm that the first one was compared with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.stats import holm

if TYPE_CHECKING:
    from lab.records import ArmVerdict, Comparison, RunVerdict


@dataclass(frozen=True)
class Contrast:
    """A clean arm beside the first one, and Holm's p over all ``arms`` compared with the first."""

    against: ArmVerdict
    p_holm: float
    arms: int


def contrast(verdict: RunVerdict) -> Contrast | None:
    """The first arm against its control, else against the first clean arm; None where the first is
    not corrupt, or no clean arm was compared with it.
    """
    first = verdict.arms[0]
    if first.verdict != "corrupt" or not first.sessions_wrong:
        return None
    pairs = {pair.b: pair for pair in verdict.comparisons if pair.a == first.name}
    clean = [arm for arm in verdict.arms if arm.verdict == "clean" and arm.name in pairs]
    if not clean:
        return None
    against = next((arm for arm in clean if arm.name == first.control), clean[0])
    corrected = holm([_of_wrong(pair) for pair in pairs.values()])
    return Contrast(against, corrected[list(pairs).index(against.name)], len(pairs))


def _of_wrong(pair: Comparison) -> float:
    """Its p, of what was missed as well where anything was."""
    return pair.p_value if pair.p_value_missed is None else pair.p_value_missed
