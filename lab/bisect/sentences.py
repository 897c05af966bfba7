"""What a conclusion says besides its verdict. One rule: a sentence says what is left to be done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lab.bisect.background import beyond

if TYPE_CHECKING:
    from lab.bisect.conclusion import Bracket, Conclusion
    from lab.bisect.confirm import Confirmation
    from lab.bisect.notebook import Notebook
    from lab.bisect.parameters import Parameters
    from lab.bisect.space import Config, Space

Refuted = Mapping[tuple[str, ...], "Confirmation"]  # what was discovered, and how it fared


def names(keys: Sequence[str]) -> str:
    """Toggles in a row."""
    return ", ".join(keys)


def another_cause(
    space: Space, culprits: Sequence[str] | None, elsewhere: Sequence[Config] = ()
) -> tuple[str, ...]:
    """That another cause is left, and the command that looks for it.

    One culprit held good silences its cause: one that was good where it was corrupt ``elsewhere``,
    since causes may share a toggle. Of these the one that the fewest toggles need is held, since
    those that need it are held with it, and could not be found.
    """
    seen = "no single set of toggles explains all that was seen, so another cause is left"
    if not culprits:
        return (seen,)

    def cost(key: str) -> tuple[bool, int]:
        shared = all(key in config.bad for config in elsewhere)
        return shared, sum(key in of for of in space.needs.values())

    held = min(culprits, key=cost)
    return (f"{seen}: `kvlab bisect` with `--fix {held}` looks for it",)


def corrupt_elsewhere(notebook: Notebook, params: Parameters, found: Conclusion) -> list[Config]:
    """The configurations without some culprit that are corrupt, more than the background is."""
    configs = dict.fromkeys(probe.config for probe in notebook.probes)
    others = [it for it in configs if not it.levels and not it.bad >= set(found.culprits)]
    counts = [notebook.tally(config, found.unit) for config in others]
    return [
        config
        for config, seen in zip(others, counts, strict=True)
        if beyond(seen, params, looks=len(counts))
    ]


def refutations(refuted: Refuted) -> str:
    """What was discovered, and why it is not so."""
    return "; ".join(
        f"{names(key)} refuted on fresh seeds: {it.refuted}" for key, it in refuted.items()
    )


def unspent(notebook: Notebook) -> str:
    """That it was given up, not cut short."""
    return (
        f"given up, for nothing else was learnt, with {notebook.spent} of {notebook.budget}"
        " sessions spent"
    )


def refusals(notebook: Notebook, space: Space) -> tuple[str, ...]:
    """A sentence for every reason why configurations were refused, with one of them."""
    reasons: dict[str, list[Config]] = {}
    for config, why in notebook.refused.items():
        if config not in (space.suspect, space.baseline):  # of those the verdict speaks
            reasons.setdefault(why, []).append(config)
    return tuple(
        f"nothing is known of {len(refused)} configurations that the target refused"
        f" (first with {names(sorted(refused[0].bad))} bad): {why}"
        for why, refused in reasons.items()
    )


def undecided(bracket: Bracket, ladder: Sequence[Any]) -> str:
    """That levels are left between clean and bad; empty where none is."""
    levels, clean, bad = list(ladder), bracket.clean_below, bracket.bad_above
    last = -1 if clean is None else levels.index(clean)
    first = len(levels) if bad is None else levels.index(bad)
    if first - last <= 1:
        return ""
    return (
        f"{bracket.toggle}: levels are left between clean and bad, where the budget ended or the"
        " target refused"
    )
