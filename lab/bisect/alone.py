"""The culprits alone, while the arm runs: do they suffice?

One rule: what does not show that they suffice does not show that they do not. That takes an upper
bound, below which the corruption is gone; between the two nothing is said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.bisect.arms import PATIENCE, weigh
from lab.bisect.background import beyond
from lab.stats import TwoProportion

if TYPE_CHECKING:
    from lab.bisect.arms import Bar, Running
    from lab.bisect.parameters import Parameters


class Alone:
    """``arm`` has the culprits bad and no other toggle, unless they need one.

    ``own``: it is not the arm that has all toggles of the context bad. ``floor``: the baseline,
    beside it where the checker may err.
    """

    def __init__(self, arm: Running, floor: Running | None, own: bool) -> None:
        self.arm, self.floor, self.own = arm, floor, own
        self.above = TwoProportion()  # that it is above the baseline
        self.sufficient: bool | None = None
        self.given_up = False

    @property
    def blocked(self) -> str:
        """Why it, or the baseline beside it, cannot be run; else empty."""
        return self.arm.blocked or (self.floor.blocked if self.floor else "")

    @property
    def open(self) -> bool:
        """Whether more units can tell."""
        return self.sufficient is None and not self.blocked and not self.given_up

    def wants(self, bar: Bar) -> int:
        """A few at a time once it showed any, else twice as many as before."""
        counts = self.arm.tally
        few = -(-bar.first // 2)
        if bar.exact:
            return max(1, min(bar.needed() - counts.units, max(few, counts.units)))
        more = few if counts.corrupt else counts.units
        return max(1, more) if counts.units else bar.first

    def judge(self, bar: Bar, params: Parameters, share: float) -> None:
        """It suffices once it shows more than the background; ``share`` of alpha is its own."""
        if self.floor:
            weigh(self.above, self.arm.last, self.floor.last, self.arm.unit)
        counts = self.arm.tally
        if not self.open or not counts.units:
            return
        if beyond(counts, params) and (not self.floor or self.above.rejects(share)):
            self.sufficient = True
        elif counts.units >= bar.needed(counts.corrupt):
            self.sufficient = False
        else:
            self.given_up = counts.units >= PATIENCE * bar.needed()
