"""Phase 2: do the culprits hold up on fresh seeds, one by one, and do they suffice?

One rule: an arm is judged by its trials here alone. Trials of other phases only help to estimate
the culprits' rate, which sets how large blocks are and how low is gone: a bar that moves with it.

Every arm begins with the same seeds, a block each in turn; those that are decided run no further.
Arms: all toggles of the context bad; for each culprit the same without it (and without what needs
it); the culprits alone; the baseline beside them where the checker may err. A culprit is necessary
if the rate without it is below a tenth of the rate seen (or ``p_tol``) at 1 - alpha, and lower by
an e-process, which may be looked at after every block; the k + 1 e-processes share alpha. That
*all* are necessary is wrong with probability alpha at most, since each had to pass (Berger 1982).

A toggle without which it is rarer and not gone either aggravates the cause that is left, or is of
another one. So what is left must be corrupt alone, or the discovery is refuted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.bisect.alone import Alone
from lab.bisect.arms import Bar, Removal, Running, share_out
from lab.bisect.conclusion import Role, Verdict
from lab.bisect.notebook import OutOfBudget
from lab.bisect.roles import Known, containing, roles_of
from lab.bisect.space import Config

if TYPE_CHECKING:
    from lab.bisect.conclusion import Arm, Discovery
    from lab.bisect.notebook import Notebook
    from lab.bisect.parameters import Parameters
    from lab.bisect.space import Space
    from lab.bisect.trials import Tally, Unit


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
        self.floor = None if params.exact else Running("baseline", Config(), unit)
        self.former: Running | None = None  # the discovered set alone, once it proved too large
        self.alone = self._alone(culprits)

    @property
    def bar(self) -> Bar:
        """By all that is known of the culprits' rate in this context."""
        seen = self.notebook.tally(self.everything.config, self.unit)
        return self._bar((seen if seen.corrupt else self.bad).rate)

    @property
    def _alone_bar(self) -> Bar:
        """By the rate that is left without what aggravates, where something does."""
        left = [arm.tally.rate for arm in self.removals if arm.role is Role.AGGRAVATING]
        return self._bar(min(left)) if left else self.bar

    def _bar(self, rate: float) -> Bar:
        params = self.params
        return Bar(params.sought(rate), params.p_tol, params.alpha, params.exact)

    @property
    def open(self) -> bool:
        """Whether anything is left to run; nothing is, once one culprit is refuted."""
        if any(arm.refuted for arm in self.removals) or self.everything.blocked:
            return False
        return any(not arm.decided for arm in self.removals) or self._alone_open

    @property
    def _alone_open(self) -> bool:
        """Whether the culprits alone are run; not while it is open which of them aggravate."""
        undecided = any(not arm.decided for arm in self.removals)
        return self.alone.open and bool(self.kept) and not (undecided and self.aggravating)

    @property
    def aggravating(self) -> list[str]:
        """Discovered toggles without which it is rarer, and not gone."""
        return [arm.toggle for arm in self.removals if arm.role is Role.AGGRAVATING]

    @property
    def kept(self) -> tuple[str, ...]:
        """The discovered toggles but those."""
        return tuple(arm.toggle for arm in self.removals if arm.role is not Role.AGGRAVATING)

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
            self.alone.judge(self._alone_bar, self.params, self.share)
            self._settle()

    def _ask(self, bar: Bar) -> None:
        """While a culprit is in doubt the rest waits, for all is void if it is refuted."""
        turn = [arm for arm in self.removals if self._in_turn(arm)]
        doubted = [arm for arm in turn if bar.hopeless(arm.tally.corrupt)]
        turn = doubted or turn
        wanted: dict[Running, int] = {arm: arm.wants(bar) for arm in turn}
        asks = self._alone_open and not doubted
        alone = self.alone.wants(self._alone_bar) if asks else 0
        orders = [(self.everything, self._all_wants(bar, turn, wanted, alone)), *wanted.items()]
        orders += [(self.alone.arm, alone)] if self.alone.own else []
        orders += [(self.floor, alone)] if self.floor else []
        share_out(self.notebook, orders)

    def confirmation(self, short: str) -> Confirmation:
        """Roles and verdict of what was run."""
        arms = self._arms()
        for arm in arms:
            arm.check(self.notebook)
        decided = {arm.toggle: self._role(arm) for arm in self.removals}
        sufficient = None if self.alone.blocked else self.alone.sufficient
        refuted = self._refuted(decided)
        missing = tuple(filter(None, [short, *self._blocked(), self._unproven(sufficient)]))
        verdict = Verdict.SUSPECT if missing else Verdict.CONFIRMED
        if refuted:
            verdict = Verdict.UNDETERMINED
        if verdict is not Verdict.CONFIRMED:  # what aggravates may be another cause still
            decided = {key: _known(role) for key, role in decided.items()}
        told = roles_of(
            containing(self.notebook, self.unit, self.kept, self.discovery.context),
            self.space.toggles,
            self.discovery,
            decided,
            Known(
                None if refuted else sufficient,
                verdict is Verdict.CONFIRMED,
                self.params.alpha,
                self.unit.value,
            ),
        )
        optional = tuple(arm.blocked for arm in self._beside if arm.blocked)
        return Confirmation(
            arms=tuple(arm.shown(self.params.alpha) for arm in arms if arm.trials),
            roles=told.roles,
            sufficient=sufficient,
            verdict=verdict,
            refuted=refuted,
            others=(*dict.fromkeys((*missing, *optional)), *told.others),
            culprits=self.kept,
        )

    def _alone(self, culprits: tuple[str, ...]) -> Alone:
        config = self.space.config(self.space.closed(self.space.mask(culprits)))
        if config == self.everything.config:
            return Alone(self.everything, self.floor, own=False)
        return Alone(Running("culprits alone", config, self.unit), self.floor, own=True)

    def _removal(self, key: str, context: int, culprits: tuple[str, ...]) -> Removal:
        left = self.space.config(self.space.without(context, key))
        with_it = frozenset(culprits) - left.bad - {key}
        return Removal(key, left, self.unit, with_it)

    def _in_turn(self, arm: Removal) -> bool:
        """Whether it runs now: not before what goes with it is decided."""
        waits = any(other.toggle in arm.after and not other.decided for other in self.removals)
        return not arm.decided and not waits

    def _settle(self) -> None:
        """What takes a necessary culprit with it is clean for that alone, so it is not run.

        Where some aggravate, the others alone were not asked yet, so they are, on fresh units: they
        may be clean, for what aggravates may as well be a cause of its own with some of them.
        """
        necessary = {arm.toggle for arm in self.removals if arm.role is Role.NECESSARY}
        for arm in self.removals:
            if not arm.decided and arm.after & necessary:
                arm.role = Role.NOT_SEPARABLE
        if self.aggravating and self.kept and all(arm.decided for arm in self.removals):
            fewer = self._alone(self.kept)
            if fewer.arm.config != self.alone.arm.config:
                self.former = self.alone.arm if self.alone.own else None
                self.alone = fewer

    def _all_wants(
        self, bar: Bar, turn: list[Removal], wanted: dict[Running, int], alone: int
    ) -> int:
        """As many as an arm that has corrupt units, fewer than a clean one; none if told."""
        least = 0 if self.alone.own else alone
        for arm in turn:
            if not arm.lower:
                even = not arm.trials or bar.hopeless(arm.tally.corrupt)
                units = wanted[arm]
                least = max(least, units if even else max(bar.first // 2, units // 3))
        return least

    @property
    def _beside(self) -> list[Running]:
        """The arms that tell whether the culprits suffice."""
        return [
            *([self.alone.arm] if self.alone.own else []),
            *([self.floor] if self.floor else []),
        ]

    def _arms(self) -> list[Running]:
        if self.former:
            self.former.name = "discovered set alone"
        former = [self.former] if self.former else []
        return [self.everything, *self.removals, *former, *self._beside]

    def _blocked(self) -> list[str]:
        """Why an arm shows nothing without which no culprit is confirmed."""
        return [arm.blocked for arm in (self.everything, *self.removals) if arm.blocked]

    def _unproven(self, sufficient: bool | None) -> str:
        """That what is left without the aggravating toggles was not shown to be a cause."""
        if not self.aggravating or not self.kept or sufficient is not None:
            return ""
        counts = self.alone.arm.tally
        return self.alone.blocked or (
            f"{', '.join(self.kept)} alone: {counts.corrupt} of {counts.units} are corrupt, so"
            f" {', '.join(self.aggravating)} may be of another cause"
        )

    def _role(self, arm: Removal) -> Role:
        return arm.role if arm.role and not arm.blocked else Role.NOT_SEPARABLE

    def _refuted(self, decided: dict[str, Role]) -> str:
        whole, unit = self.everything.tally, self.unit.value
        for arm in self.removals:
            if arm.refuted:
                left = arm.tally
                return (
                    f"{arm.name} {left.corrupt} of {left.units} {unit}s are corrupt,"
                    f" with all bad {whole.corrupt} of {whole.units}: not proven lower"
                )
        if not self.kept:
            return f"none of {', '.join(decided)} is necessary: the corruption outlives each"
        if self.aggravating and self.alone.sufficient is False and not self.alone.blocked:
            left = self.alone.arm.tally
            return (
                f"it outlives {', '.join(self.aggravating)}, but of {', '.join(self.kept)} alone"
                f" {left.corrupt} of {left.units} {unit}s are corrupt: another cause is left"
            )
        return ""


def _known(role: Role) -> Role:
    return Role.NOT_SEPARABLE if role is Role.AGGRAVATING else role
