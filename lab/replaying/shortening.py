"""The fewest sessions, turns and deviations with which a schedule still fails.

One rule: each try is a whole run from the seed; the last schedule that failed is the answer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lab.bisect.shorten import shortest

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.progress import Tick
    from lab.replaying.schedule import Schedule

TRIES = 40
ENDLESS = 1_000_000  # calls: `Tries` keeps the books, and a schedule that it knows costs nothing


class Tries:
    """``fails``, asked at most ``most`` times and of no schedule twice; ``tick`` hears of each.

    What ``may`` not fail is not run, and costs nothing.
    """

    def __init__(
        self,
        fails: Callable[[Schedule], bool],
        most: int = TRIES,
        tick: Tick = lambda done, due: None,
        may: Callable[[Schedule], bool] = lambda schedule: True,
    ) -> None:
        self._fails, self.most, self._tick, self._may = fails, most, tick, may
        self._known: dict[Schedule, bool] = {}
        self.short = False  # whether something was left untried

    @property
    def used(self) -> int:
        """How many runs it took."""
        return len(self._known)

    def __call__(self, schedule: Schedule) -> bool:
        """Whether this schedule was seen to fail; what cannot be tried any more was not."""
        if not self._may(schedule):
            return False
        if schedule not in self._known:
            if self.used == self.most:
                self.short = True
                return False
            self._tick(self.used, self.most)
            self._known[schedule] = self._fails(schedule)
        return self._known[schedule]


def shortened(whole: Schedule, fails: Tries) -> Schedule:
    """A schedule that fails; ``whole`` is known to. Sessions go first, since they cost the most.

    With enough tries no session, no last turn of one and no deviation can be left out alone.
    """
    best, before = whole, None
    while best != before:
        before = best
        best = fewer_deviations(fewer_turns(fewer_sessions(best, fails), fails), fails)
    return best


def fewer_sessions(best: Schedule, fails: Tries) -> Schedule:
    """The same with as few of its sessions as still fail."""
    return best.of(shortest(best.sessions, lambda some: fails(best.of(some)), ENDLESS))


def fewer_turns(best: Schedule, fails: Tries) -> Schedule:
    """Sessions that end earlier: all of them, then each alone, the last one first."""
    for most in range(1, max(best.turns)):
        fewer = replace(best, turns=tuple(min(most, turns) for turns in best.turns))
        if fails(fewer):
            best = fewer
            break
    for at in reversed(range(len(best.turns))):
        for most in range(1, best.turns[at]):
            fewer = replace(best, turns=(*best.turns[:at], most, *best.turns[at + 1 :]))
            if fails(fewer):
                best = fewer
                break
    return best


def fewer_deviations(best: Schedule, fails: Tries) -> Schedule:
    """The same without the settings that it does not take: all at once, else by halves."""
    bare = replace(best, kept=())
    if best.kept and fails(bare):
        return bare
    kept = shortest(best.kept, lambda some: fails(replace(best, kept=some)), ENDLESS, least=0)
    return replace(best, kept=kept)
