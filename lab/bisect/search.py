"""The phases in order, to one conclusion.

One rule: equal worlds and equal arguments give equal probes in an equal order, which is how an
interrupted search is taken up again: what was stored answers first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

from lab.bisect.conclusion import Belief, Conclusion, Role, Verdict
from lab.bisect.confirm import confirm
from lab.bisect.guarantees import guarantee
from lab.bisect.methods import METHODS, Believe
from lab.bisect.notebook import Phase
from lab.bisect.reproduce import reproduce
from lab.bisect.sentences import (
    another_cause,
    corrupt_elsewhere,
    names,
    refusals,
    refutations,
    undecided,
    unspent,
)
from lab.bisect.threshold import threshold
from lab.bisect.trials import Tally
from lab.bisect.units import assumed, held_to

if TYPE_CHECKING:
    from lab.bisect.conclusion import Bracket, Discovery
    from lab.bisect.confirm import Confirmation
    from lab.bisect.notebook import Notebook
    from lab.bisect.parameters import Parameters
    from lab.bisect.space import Config, Space

    Refuted = dict[tuple[str, ...], Confirmation]  # what was discovered, and how it fared

__all__ = ["Ladders", "guarantee", "search"]

ROUNDS = 5  # discoveries in all, where confirmation refutes what was found
FIRST = 0.9  # of alpha is for the first confirmation; the later ones share the rest
Ladders = Mapping[str, Sequence[Any]]  # a numeric toggle's levels, from good to bad


def search(
    notebook: Notebook,
    space: Space,
    params: Parameters,
    method: str = "bayes",
    ladders: Ladders | None = None,
    believe: Believe = lambda belief: None,
    until: Verdict = Verdict.CONFIRMED,
) -> Conclusion:
    """Reproduce, discover, confirm, bracket; ``until`` SUSPECT ends with discovery."""
    beliefs: list[Belief] = []

    def note(belief: Belief) -> None:
        beliefs.append(belief)
        believe(belief)

    shown = reproduce(notebook, space, params)
    verdict = shown.verdict or Verdict.UNDETERMINED
    found = Conclusion(verdict, shown.reason, shown.unit, method, bad=shown.bad, good=shown.good)
    if shown.verdict is None:
        held = held_to(params, shown.unit, notebook.world.batch_sessions)
        found = _Search(notebook, space, held, found, ladders or {}, note).run(until)
    others = (*found.others, *refusals(notebook, space))
    if (
        found.verdict is Verdict.NOT_REPRODUCED
    ):  # its rates are of boots, though sessions are sought
        others += tuple(filter(None, [assumed(params, found.unit, notebook.world.batch_sessions)]))
    return replace(found, beliefs=tuple(beliefs), spent=notebook.spent, others=others)


@dataclass(frozen=True)
class _Search:
    """What follows phase 0; ``shown`` is the conclusion that phase 0 leaves open."""

    notebook: Notebook
    space: Space
    params: Parameters
    shown: Conclusion
    ladders: Ladders
    note: Believe

    def run(self, until: Verdict) -> Conclusion:
        """Discover and confirm; again, with what the refutation taught, a few times at most."""
        method, unit = METHODS.all()[self.shown.method], self.shown.unit
        refuted: Refuted = {}
        tried: list[tuple[tuple[str, ...] | None, tuple[str, ...]]] = []
        found, space = self.shown, self.space
        for turn in range(ROUNDS):
            discovery = method(self.notebook, space, self.params, unit, self.note)
            if (discovery.culprits, discovery.context) in tried:
                break  # it learnt nothing
            tried.append((discovery.culprits, discovery.context))
            if not discovery.culprits:
                return self._open(discovery, refuted)
            found = self._suspect(discovery)
            if until is Verdict.SUSPECT:
                return replace(found, reason=f"{names(found.culprits)}: discovered")
            bad, params = found.bad or Tally(), self._of_turn(turn)
            confirmation = confirm(self.notebook, self.space, params, unit, discovery, bad)
            found = self._confirmed(found, discovery, confirmation)
            if not confirmation.refuted:
                return found
            refuted[discovery.culprits] = confirmation
            space = self._left(space, discovery, confirmation)
        left = tuple(keys for keys in found.candidates if keys not in refuted)
        found = replace(found, verdict=Verdict.UNDETERMINED, culprits=(), candidates=left)
        return replace(found, reason=f"{refutations(refuted)}; {unspent(self.notebook)}")

    def _of_turn(self, turn: int) -> Parameters:
        """With this confirmation's share of alpha: in all turns together they err so often."""
        share = FIRST if turn == 0 else (1 - FIRST) / (ROUNDS - 1)
        return replace(self.params, alpha=self.params.alpha * share)

    def _left(self, space: Space, discovery: Discovery, refuted: Confirmation) -> Space:
        """Where to go on: without the toggle that was refuted it is corrupt still.

        So a cause is in what is left, and no toggle outside is needed for it. Where the checker may
        err, it is sought in the arm that is the most corrupt, even if none is beyond the background
        yet: discovery asks for more.
        """
        inside = [arm for arm in refuted.arms if 0 < len(arm.config.bad) < len(discovery.context)]
        corrupt = [arm for arm in inside if arm.tally.corrupt]
        if not corrupt:
            return space
        most = max(corrupt, key=lambda arm: arm.lower)
        return self.space.within(self.space.mask(most.config.bad))

    def _open(self, discovery: Discovery, refuted: Refuted) -> Conclusion:
        """No culprit: none of the toggles, or several sets left."""
        whole = len(discovery.context) == len(self.space.toggles)
        none = discovery.culprits is not None and whole
        said = (
            "no toggle on offer explains it"
            if none
            else f"with {names(discovery.context)} bad: no toggle explains it"
            if discovery.culprits is not None
            else f"{len(discovery.candidates)} sets left"
        )
        return replace(
            self.shown,
            verdict=Verdict.NOT_CONTROLLED if none else Verdict.UNDETERMINED,
            reason="; ".join(filter(None, [discovery.reason or said, refutations(refuted)])),
            context=discovery.context,
            posterior=discovery.posterior,
            candidates=discovery.candidates,
            others=another_cause(self.space, discovery.culprits) if discovery.several else (),
        )

    def _suspect(self, discovery: Discovery) -> Conclusion:
        """What discovery found, so far unconfirmed."""
        culprits = discovery.culprits or ()
        return replace(
            self.shown,
            verdict=Verdict.SUSPECT,
            culprits=culprits,
            context=tuple(key for key in discovery.context if key not in culprits),
            posterior=discovery.posterior,
            candidates=discovery.candidates,
            bad=self._bad(discovery),
            others=another_cause(self.space, discovery.culprits) if discovery.several else (),
        )

    def _confirmed(
        self, found: Conclusion, discovery: Discovery, confirmation: Confirmation
    ) -> Conclusion:
        """Confirmed, or as far as it went; thresholds only of what is confirmed."""
        found = replace(
            found,
            verdict=confirmation.verdict,
            roles=confirmation.roles,
            sufficient=confirmation.sufficient,
            arms=confirmation.arms,
            bad=self._bad(discovery),
            good=self._good(discovery),
            others=(*confirmation.others, *found.others),
        )
        if confirmation.verdict is not Verdict.CONFIRMED:
            why = "; ".join(confirmation.others[:1])
            reason = f"{names(found.culprits)}: discovered, not confirmed ({why})"
            return replace(found, reason=reason, others=found.others[1:])
        culprits = confirmation.culprits
        context = tuple(key for key in discovery.context if key not in culprits)
        found = replace(found, culprits=culprits, context=context)
        brackets = self._brackets(found, discovery)
        reason = f"{names(culprits)}: confirmed on fresh seeds"
        wide = filter(None, (undecided(it, self.ladders[it.toggle]) for it in brackets))
        others = (*confirmation.others, *wide)
        elsewhere = corrupt_elsewhere(self.notebook, self.params, found)
        if discovery.several or elsewhere:
            others += another_cause(self.space, culprits, elsewhere)
        return replace(found, reason=reason, thresholds=brackets, others=others)

    def _brackets(self, found: Conclusion, discovery: Discovery) -> tuple[Bracket, ...]:
        """A bracket for every toggle with a ladder that has to do with it, in the file's order."""
        config, rate = self._context(discovery), (found.bad or Tally()).rate
        fixed = (self.notebook, self.params, found.unit, config)
        return tuple(
            threshold(*fixed, key, self.ladders[key], rate, self.note, self.space)
            for key in self.space.toggles
            if key in self.ladders
            and (key in found.culprits or found.roles.get(key) is Role.AGGRAVATING)
        )

    def _context(self, discovery: Discovery) -> Config:
        """The configuration within which the culprits were sought, all of it bad."""
        return self.space.config(self.space.mask(discovery.context))

    def _bad(self, discovery: Discovery) -> Tally:
        """The context's rate; where discovery chose it, its trials of confirmation if any."""
        config, unit = self._context(discovery), self.shown.unit
        fresh = self.notebook.tally(config, unit, Phase.REPRODUCE, Phase.CONFIRM)
        return fresh if fresh.units else self.notebook.tally(config, unit)

    def _good(self, discovery: Discovery) -> Tally | None:
        """The rate with the culprits good and the rest of the context bad; else the baseline's."""
        mask = self.space.mask(discovery.context)
        mask = reduce(self.space.without, discovery.culprits or (), mask)
        seen = self.notebook.tally(self.space.config(mask), self.shown.unit)
        return seen if seen.units else self.shown.good
