"""Arms of the confirmation while they run: what each wants next, and when it is decided.

One rule: an arm that is decided gets no more trials, and none is asked for a unit more than the
least that can decide it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, floor, log, pi
from typing import TYPE_CHECKING

from lab.bisect.background import beyond
from lab.bisect.conclusion import Arm, Role
from lab.bisect.notebook import Phase, Refused
from lab.bisect.trials import Tally, Trial, Unit, tally
from lab.stats import Sprt, TwoProportion, sequence, upper_bound

if TYPE_CHECKING:
    from lab.bisect.notebook import Notebook
    from lab.bisect.space import Config

GONE = 10  # a rate so many times lower than the culprit's is gone
LOWER = 4  # a rate so many times lower is not the same
MISSED = 0.05  # chance that a first block shows nothing at the culprit's rate
LEAST = 4  # units of a first block
PATIENCE = 4  # times the units that a clean arm needs, and a background is given up


@dataclass(frozen=True)
class Bar:
    """What the arms are held to. ``rate``: the culprit's; ``exact``: the background is zero."""

    rate: float
    p_tol: float
    alpha: float
    exact: bool

    @property
    def gone(self) -> float:
        """The rate below which a corruption is gone."""
        return max(self.p_tol, self.rate / GONE)

    @property
    def first(self) -> int:
        """Units that would hardly all be clean at the culprit's rate."""
        return max(LEAST, ceil(log(MISSED) / log(1 - self.rate)))

    def spent(self, corrupt: int) -> float:
        """The error that an arm of so many corrupt units may make.

        With an exact checker a single corrupt unit is one too many, so there is one look. Else
        every count has its own look, and the looks share alpha as the inverse squares sum up.
        """
        return self.alpha if self.exact else self.alpha * 6 / (pi * (corrupt + 1)) ** 2

    def needed(self, corrupt: int = 0) -> int:
        """Units at which so many corrupt ones prove that it is gone: 46 / rate of none."""
        return _needed(corrupt, self.gone, self.spent(corrupt))

    def hopeless(self, corrupt: int) -> bool:
        """Whether so many corrupt units cannot be outweighed soon."""
        if self.exact or corrupt == 0:
            return corrupt > 0
        return self.needed(corrupt) > PATIENCE * self.needed()

    def same(self, counts: Tally) -> bool:
        """Whether the rate is the culprit's own rather than a quarter of it, by Wald's test."""
        test = Sprt(self.rate / LOWER, self.rate, self.alpha, self.alpha)
        test.add(counts.corrupt, counts.units)
        return test.decision == "bad"


class Running:
    """An arm and its trials in this confirmation; ``last`` are those of the last round."""

    def __init__(self, name: str, config: Config, unit: Unit) -> None:
        self.name, self.config, self.unit = name, config, unit
        self.trials: list[Trial] = []
        self.last: Sequence[Trial] = ()
        self.blocked = ""  # why it cannot be run, or shows nothing

    @property
    def tally(self) -> Tally:
        """What it showed."""
        return tally(self.trials, self.unit)

    def ask(self, notebook: Notebook, units: int) -> None:
        """At least ``units`` units more; what cannot be run, or shows nothing, is blocked."""
        self.last = ()
        if self.blocked or units <= 0:
            return
        trials = notebook.trials_for(units, self.unit)
        try:
            self.last = notebook.ask(Phase.CONFIRM, self.config, trials, paired=True)
        except Refused as refusal:
            self.blocked = f"{self.name}: the target cannot run it ({refusal})"
            return
        self.trials.extend(self.last)
        if tally(self.last, self.unit).units == 0:
            why = self.last[0].unknown or "no session was owed a reply"
            self.blocked = f"{self.name}: {len(self.last)} trials in a row show nothing ({why})"

    def check(self, notebook: Notebook) -> None:
        """Block an arm whose settings point where its trials never went."""
        if not self.blocked and self.trials and not self.tally.corrupt:
            why = notebook.world.unexercised(self.config, self.trials)
            self.blocked = f"{self.name}: {why}" if why else ""

    def shown(self, alpha: float) -> Arm:
        """For the verdict; bounds that hold whenever the arm was stopped."""
        counts = self.tally
        low, high = sequence(counts.corrupt, counts.units, alpha)
        return Arm(self.name, self.config, counts, high, low)


class Removal(Running):
    """The arm that has one culprit good. ``after``: culprits that go with it, decided before it."""

    def __init__(self, toggle: str, config: Config, unit: Unit, after: frozenset[str]) -> None:
        super().__init__(f"without {toggle}", config, unit)
        self.toggle, self.after = toggle, after
        self.evidence = TwoProportion()  # that all bad is corrupt more often
        self.role: Role | None = None
        self.refuted = False
        self.lower = False  # whether the evidence suffices
        self.error = 0.0  # of the bound by which it is necessary

    @property
    def decided(self) -> bool:
        """Whether it needs no more trials."""
        return self.role is not None or self.refuted or bool(self.blocked)

    def wants(self, bar: Bar) -> int:
        """Units to run next: twice as many as before while clean, and never more than needed."""
        counts = self.tally
        if bar.hopeless(counts.corrupt):
            more = max(bar.first, counts.units // 2)
            return more if self.lower else min(more, max(1, bar.needed() - counts.units))
        left = bar.needed(counts.corrupt) - counts.units
        return min(left, max(bar.first, counts.units)) if left > 0 else bar.first

    def judge(self, bar: Bar, everything: Sequence[Trial], share: float) -> None:
        """Weigh the round against the arm that has all toggles bad; ``share`` of alpha is its."""
        weigh(self.evidence, everything, self.last, self.unit)
        self.lower = self.lower or self.evidence.rejects(share)
        if self.decided or not self.trials:
            return
        counts = self.tally
        if bar.hopeless(counts.corrupt):
            if self.lower and beyond(counts, bar):
                self.role = Role.AGGRAVATING
            elif self.lower:  # less than with it; more units tell whether it is the background
                self._give_up(bar)
            else:
                self.refuted = counts.units >= bar.needed() or bar.same(counts)
        elif counts.units >= bar.needed(counts.corrupt) and self.lower:
            self.role, self.error = Role.NECESSARY, bar.spent(counts.corrupt)
        else:
            self.refuted = bar.same(counts) or counts.units >= PATIENCE * bar.needed()

    def _give_up(self, bar: Bar) -> None:
        counts = self.tally
        if counts.units >= PATIENCE * _needed(0, bar.p_tol, bar.alpha):
            self.blocked = (
                f"{self.name}: {counts.corrupt} of {counts.units} are corrupt,"
                " which may be the background as well"
            )

    def shown(self, alpha: float) -> Arm:
        """With the evidence, and the bound that the role rests on."""
        counts, arm = self.tally, super().shown(alpha)
        upper = arm.upper
        if self.role is Role.NECESSARY:
            upper = upper_bound(counts.corrupt, counts.units, self.error)
        return Arm(arm.name, arm.config, counts, upper, arm.lower, self.evidence.e_value)


def share_out(notebook: Notebook, orders: Sequence[tuple[Running, int]]) -> None:
    """Ask every arm for its units; of a budget that is too small for all, each gets its share."""
    left = notebook.budget - notebook.spent
    wanted = sum(
        notebook.trials_for(units, arm.unit) * notebook.world.batch_sessions
        for arm, units in orders
        if units > 0 and not arm.blocked
    )
    for arm, units in orders:
        if units > 0:
            arm.ask(notebook, units if wanted <= left else max(1, units * left // wanted))


def weigh(evidence: TwoProportion, a: Sequence[Trial], b: Sequence[Trial], unit: Unit) -> None:
    """Add a round of both arms in as many blocks as the smaller has trials, in order.

    Many small blocks: a bet is made before its block, from the blocks before it.
    """
    blocks = min(len(a), len(b))
    for i in range(blocks):
        ours, theirs = (
            tally(arm[i * len(arm) // blocks : (i + 1) * len(arm) // blocks], unit)
            for arm in (a, b)
        )
        evidence.add(ours.corrupt, ours.units, theirs.corrupt, theirs.units)


@lru_cache(maxsize=1024)
def _needed(corrupt: int, rate: float, alpha: float) -> int:
    """The fewest units at which ``corrupt`` corrupt ones bound the rate below ``rate``."""
    few, many = corrupt, floor(log(alpha) / log(1 - rate)) + 1
    while upper_bound(corrupt, many, alpha) >= rate:
        few, many = many, 2 * many
    while many - few > 1:
        middle = (few + many) // 2
        if upper_bound(corrupt, middle, alpha) >= rate:
            few = middle
        else:
            many = middle
    return many
