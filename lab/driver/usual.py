"""How long a reply of a server usually takes, for clients that leave before it is whole. One rule:
only what came whole counts; until something did, nothing is known.
"""

from __future__ import annotations

from bisect import insort
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.driver.client import Outcome


class Usual:
    """The replies of one arm so far."""

    def __init__(self) -> None:
        self._took_s: list[float] = []  # in order

    def came(self, outcome: Outcome) -> None:
        """Note a reply, if it came whole."""
        if outcome.status == "ok" and outcome.done_s is not None:
            insort(self._took_s, outcome.done_s - outcome.sent_s)

    def before_it(self, leave_s: float, most_s: float) -> float:
        """``leave_s``, drawn from ``most_s``, as the same part of a usual reply, where that takes
        less.
        """
        if not self._took_s:
            return leave_s
        usual_s = self._took_s[len(self._took_s) // 2]
        return leave_s * min(1.0, usual_s / most_s)
