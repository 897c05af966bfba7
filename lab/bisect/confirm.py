"""Phase 2: do the culprits hold up on fresh seeds, one by one, and do they suffice?

One rule: no trial of another phase counts here, except to say how large the blocks must be.

Every arm runs the same seeds, a block each in turn. Arms: all toggles of the context bad; for each
culprit the same without it (and without what needs it); the culprits alone; the baseline beside
them where the checker may err. A culprit is necessary if the rate without it is below a tenth of
the culprits' rate (or ``p_tol``) at 1 - alpha, and lower by an e-process, which may be looked at
after every block. That *all* are necessary is wrong with probability alpha at most: it is said only
when each of them passed (Berger 1982). The e-processes share alpha among the k + 1 comparisons.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.bisect.arms import Bar, Removal, Running, weigh
from lab.bisect.conclusion import Role, Verdict
from lab.bisect.notebook import OutOfBudget
from lab.bisect.roles import Known, containing, roles_of
from lab.bisect.space import Config
from lab.stats import TwoProportion, sequence

if TYPE_CHECKING:
    from lab.bisect.conclusion import Arm, Discovery
    from lab.bisect.notebook import Notebook
    from lab.bisect.parameters import Parameters
    from lab.bisect.space import Space
    from lab.bisect.trials import Tally, Unit

MOST_RATE = 0.99  # a rate of 1 leaves no room for a clean unit


@dataclass(frozen=True)
class Confirmation:
    """What held up. ``refuted`` says why discovery has to go on; empty where it need not.

    ``culprits`` are the discovered ones without those that only aggravate.
    """

    arms: tuple[Arm, ...]
    roles: dict[str, Role]
    sufficient: bool | None  # None: not tested to the end
    verdict: Verdict
    refuted: str = ""
    others: tuple[str, ...] = ()
    culprits: tuple[str, ...] = ()


def confirm(
    notebook: Notebook,
    space: Space,
    params: Parameters,
    unit: Unit,
    discovery: Discovery,
    bad: Tally,
) -> Confirmation:
    """Run the arms until each is decided; ``SUSPECT`` with what is known where the budget ends.

    ``bad`` is what all toggles bad showed, the first guess of the rate. Raises `ValueError` where
    there is no culprit to confirm.
    """
    if not discovery.culprits:
        raise ValueError("no culprits, nothing to confirm")
    running = _Confirming(notebook, space, params, unit, discovery, bad)
    short = ""
    try:
        while running.open:
            running.round()
    except OutOfBudget as end:
        short = f"confirmation ended early: {end}"
    return running.confirmation(short)


class _Confirming:
    """The arms, and what is known of them."""

    def __init__(
        self,
        notebook: Notebook,
        space: Space,
        params: Parameters,
        unit: Unit,
        discovery: Discovery,
        bad: Tally,
    ) -> None:
        self.notebook, self.space, self.params, self.unit = notebook, space, params, unit
        self.discovery, self.bad = discovery, bad
        culprits = discovery.culprits or ()
        context = space.mask(discovery.context)
        self.share = params.alpha / (len(culprits) + 1)
        self.everything = Running("all", space.config(context), unit)
        self.removals = [self._removal(key, context, culprits) for key in culprits]
        alone = space.config(_closed(space, space.mask(culprits)))
        self.is_all = alone == self.everything.config
        self.alone = self.everything if self.is_all else Running("culprits alone", alone, unit)
        self.floor = None if params.exact else Running("baseline", Config(), unit)
        self.above = TwoProportion()  # that the culprits alone are above the baseline
        self.sufficient: bool | None = None

    @property
    def bar(self) -> Bar:
        """By all that is known of the culprits' rate in this context."""
        seen = self.notebook.tally(self.everything.config, self.unit)
        rate = (seen if seen.corrupt else self.bad).rate
        rate = min(max(rate, self.params.p_min), MOST_RATE)
        return Bar(rate, self.params.p_tol, self.params.alpha, self.params.exact)

    @property
    def open(self) -> bool:
        """Whether anything is left to run; nothing is, once one culprit is refuted."""
        if any(arm.refuted for arm in self.removals) or self.everything.blocked:
            return False
        return any(not arm.decided for arm in self.removals) or self._alone_open

    @property
    def _alone_open(self) -> bool:
        blocked = self.alone.blocked or (self.floor is not None and self.floor.blocked)
        return self.sufficient is None and not blocked

    def round(self) -> None:
        """A block of every arm that is not decided, then what it tells."""
        arms = self._arms()
        for arm in arms:
            arm.last = ()
        try:
            self._ask(self.bar)
        finally:  # what was paid for is weighed, though the budget ended half way
            for removal in self.removals:
                removal.judge(self.bar, self.everything.last, self.share)
            self._judge_alone(self.bar)
            self._settle()

    def _ask(self, bar: Bar) -> None:
        """While a culprit is in doubt the rest waits, for all is void if it is refuted."""
        turn = [arm for arm in self.removals if self._in_turn(arm)]
        doubted = [arm for arm in turn if bar.hopeless(arm.tally.corrupt)]
        turn = doubted or turn
        wanted = {arm.toggle: arm.wants(bar) for arm in turn}
        alone = self._alone_wants(bar) if self._alone_open and not doubted else 0
        self.everything.ask(self.notebook, self._all_wants(bar, turn, wanted, alone))
        for arm in turn:
            arm.ask(self.notebook, wanted[arm.toggle])
        if not self.is_all:
            self.alone.ask(self.notebook, alone)
        if self.floor:
            self.floor.ask(self.notebook, alone)

    def confirmation(self, short: str) -> Confirmation:
        """Roles and verdict of what was run."""
        arms = self._arms()
        for arm in arms:
            arm.check(self.notebook)
        blocked = tuple(arm.blocked for arm in arms if arm.blocked)
        decided = {arm.toggle: self._role(arm) for arm in self.removals}
        refuted = self._refuted(decided)
        verdict = Verdict.CONFIRMED
        if short or blocked:
            verdict = Verdict.SUSPECT
        if refuted:
            verdict = Verdict.UNDETERMINED
        sufficient = None if self.alone.blocked else self.sufficient
        told = roles_of(
            containing(self.notebook, self.unit, self.discovery),
            self.space.toggles,
            self.discovery,
            decided,
            Known(sufficient, verdict is Verdict.CONFIRMED, self.params.alpha),
        )
        return Confirmation(
            arms=tuple(arm.shown(self.params.alpha) for arm in arms if arm.trials),
            roles=told.roles,
            sufficient=sufficient,
            verdict=verdict,
            refuted=refuted,
            others=(*((short,) if short else ()), *blocked, *told.others),
            culprits=tuple(k for k, role in decided.items() if role is not Role.AGGRAVATING),
        )

    def _removal(self, key: str, context: int, culprits: tuple[str, ...]) -> Removal:
        left = self.space.config(self.space.without(context, key))
        with_it = frozenset(culprits) - left.bad - {key}
        return Removal(key, left, self.unit, with_it)

    def _in_turn(self, arm: Removal) -> bool:
        """Whether it runs now: not before what goes with it is decided."""
        waits = any(other.toggle in arm.after and not other.decided for other in self.removals)
        return not arm.decided and not waits

    def _settle(self) -> None:
        """What takes a necessary culprit with it is clean for that alone, so it is not run."""
        necessary = {arm.toggle for arm in self.removals if arm.role is Role.NECESSARY}
        for arm in self.removals:
            if not arm.decided and arm.after & necessary:
                arm.role = Role.NOT_SEPARABLE

    def _all_wants(self, bar: Bar, turn: list[Removal], wanted: dict[str, int], alone: int) -> int:
        """As many as an arm that has corrupt units, fewer than a clean one; none if told."""
        least = alone if self.is_all else 0
        for arm in turn:
            if not arm.lower:
                even = not arm.trials or bar.hopeless(arm.tally.corrupt)
                units = wanted[arm.toggle]
                least = max(least, units if even else max(bar.first // 2, units // 3))
        return least

    def _alone_wants(self, bar: Bar) -> int:
        """A few at a time once it showed any, else twice as many as before."""
        counts = self.alone.tally
        left = max(1, bar.needed() - counts.units)
        more = -(-bar.first // 2) if counts.corrupt else counts.units
        return min(left, more if counts.units else bar.first)

    def _judge_alone(self, bar: Bar) -> None:
        if self.floor:
            weigh(self.above, self.alone.last, self.floor.last, self.unit)
        counts = self.alone.tally
        if self.sufficient is not None or not counts.units:
            return
        low = sequence(counts.corrupt, counts.units, self.params.alpha)[0]
        if low > self.params.p_tol and (not self.floor or self.above.rejects(self.share)):
            self.sufficient = True
        elif counts.units >= bar.needed():
            self.sufficient = False

    def _arms(self) -> list[Running]:
        arms: list[Running] = [self.everything, *self.removals]
        arms += [] if self.is_all else [self.alone]
        return arms + ([self.floor] if self.floor else [])

    def _role(self, arm: Removal) -> Role:
        return arm.role if arm.role and not arm.blocked else Role.NOT_SEPARABLE

    def _refuted(self, decided: dict[str, Role]) -> str:
        whole = self.everything.tally
        for arm in self.removals:
            if arm.refuted:
                left = arm.tally
                return (
                    f"{arm.name} {left.corrupt} of {left.units} {self.unit.value}s are corrupt,"
                    f" with all bad {whole.corrupt} of {whole.units}: not proven lower"
                )
        if all(role is Role.AGGRAVATING for role in decided.values()):
            return f"none of {', '.join(decided)} is necessary: the corruption outlives each"
        return ""


def _closed(space: Space, mask: int) -> int:
    """The mask with whatever its toggles need."""
    while not space.valid(mask):
        for i, needed in enumerate(space.needed):
            if mask >> i & 1:
                mask |= needed
    return mask
