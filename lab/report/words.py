"""Numbers and verdicts as words, the same in every report.

One rule: a rate never appears without its n, and zero never without what it leaves possible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.records import ArmVerdict, RunVerdict

# The worst news first; what is not listed (clean) needs no sentence of its own.
SENTENCES = {
    "wedged": "wedged",
    "nondeterministic": "gave different replies to one seed",
    "parser_fault": "had replies misread by the parser",
    "inconclusive": "proved nothing",
}


def number(value: float) -> str:
    """A percentage's digits: one decimal, and none where the value is exactly 0 or 1."""
    percent = 100 * value
    if 0 < percent < 0.1:
        return "<0.1"
    return f"{percent:.0f}" if value in (0, 1) else f"{percent:.1f}"


def percent(value: float) -> str:
    """``0.1667`` as ``16.7 %``."""
    return f"{number(value)} %"


def interval(ends: tuple[float, float]) -> str:
    """The two ends of an interval, in percent: ``9.3–28.1``."""
    return f"{number(ends[0])}–{number(ends[1])}"


def p_value(p: float) -> str:
    """A p-value with two digits that matter."""
    return "<0.0001" if p < 0.0001 else f"{p:.2g}"


def quoted(arm: ArmVerdict) -> str:
    """An arm's name as prose can hold it: names have commas of their own."""
    return f'"{arm.name}"'


def of(arm: ArmVerdict) -> str:
    """``10 of 60``: corrupt sessions of sessions."""
    return f"{arm.sessions_corrupt} of {arm.sessions}"


def as_expected(arm: ArmVerdict) -> bool:
    """Whether the verdict is the scenario's, or the scenario expects nothing."""
    return arm.expected is None or arm.expected == arm.verdict


def tally(counts: Mapping[str, int]) -> str:
    """``leaked_markup 9, loop 2``, the largest first; ``none`` when there is nothing."""
    found = sorted(((-n, name) for name, n in counts.items() if n))
    return ", ".join(f"{name} {-n}" for n, name in found) or "none"


def p_against_first(verdict: RunVerdict, arm: ArmVerdict) -> float | None:
    """Fisher's p of this arm against the first one; None for the first arm itself."""
    first = verdict.arms[0].name
    for pair in verdict.comparisons:
        if {pair.a, pair.b} == {first, arm.name} and arm.name != first:
            return pair.p_value
    return None


def proves(arm: ArmVerdict) -> str:
    """What n sessions prove, and no more."""
    if arm.sessions == 0:
        return "no session: shows nothing"
    if arm.sessions_corrupt == 0:
        return f"{of(arm)} shows only: below {percent(arm.ci95[1])}"
    if arm.sessions_corrupt == arm.sessions:
        return f"{of(arm)} shows: above {percent(arm.ci95[0])}"
    return f"{of(arm)} shows: between {number(arm.ci95[0])} and {percent(arm.ci95[1])}"


def headline(verdict: RunVerdict) -> str:
    """The whole run in one sentence."""
    if not verdict.arms:
        return "No arm finished."
    parts = [*corrupt_part(verdict), *other_parts(verdict.arms), *clean_part(verdict.arms)]
    return f"{'; '.join(parts)}; {expectation(verdict.arms)}.".replace("; .", ".")


def corrupt_part(verdict: RunVerdict) -> list[str]:
    """Who corrupts, how often, and how sure the contrast with a clean arm is."""
    arms = [arm for arm in verdict.arms if arm.verdict == "corrupt"]
    if not arms:
        return []
    who = " and ".join(
        f"{quoted(arm)} corrupts {of(arm)} sessions ({percent(arm.rate)})" for arm in arms[:2]
    )
    more = f" and {len(arms) - 2} more arms corrupt" if len(arms) > 2 else ""
    best = [
        (p, arm)
        for arm in verdict.arms
        if arm.verdict == "clean" and (p := p_against_first(verdict, arm)) is not None
    ]
    if verdict.arms[0].verdict != "corrupt" or not best:
        return [who + more]
    p, arm = min(best, key=lambda pair: pair[0])
    return [f"{who}{more}, {quoted(arm)} {of(arm)} (p = {p_value(p)})".replace("= <", "< ")]


def other_parts(arms: Sequence[ArmVerdict]) -> list[str]:
    """One clause for each verdict that is neither corrupt nor clean."""
    parts = []
    for kind, words in SENTENCES.items():
        names = [quoted(arm) for arm in arms if arm.verdict == kind]
        if names:
            parts.append(f"{' and '.join(names)} {words}")
    return parts


def clean_part(arms: Sequence[ArmVerdict]) -> list[str]:
    """How many arms stayed clean, of how many sessions."""
    clean = [arm for arm in arms if arm.verdict == "clean"]
    if not clean:
        return ["no arm is clean"]
    sessions = sum(arm.sessions for arm in clean)
    noun = "arm" if len(arms) == 1 else "arms"
    how_many = "every arm is" if len(clean) == len(arms) else f"{len(clean)} of {len(arms)} {noun}"
    verb = "" if how_many.endswith("is") else (" is" if len(clean) == 1 else " are")
    return [f"{how_many}{verb} clean (0 of {sessions} sessions)"]


def expectation(arms: Sequence[ArmVerdict]) -> str:
    """Whether the scenario's expectations hold; empty when it has none."""
    if all(arm.expected is None for arm in arms):
        return ""
    wrong = sum(not as_expected(arm) for arm in arms)
    if not wrong:
        return "as expected"
    return f"{wrong} of {len(arms)} NOT as expected"
