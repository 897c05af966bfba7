"""Numbers and verdicts as words, the same in every report.

One rule: a rate never appears without its n, and zero never without what it leaves possible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lab.records import NO_DIGEST
from lab.repeats import whole
from lab.report.contrast import contrast

if TYPE_CHECKING:
    from lab.records import ArmVerdict, Comparison, RunVerdict

# Neither corrupt nor clean, the worst news first.
OTHERS = ("wedged", "nondeterministic", "parser_fault", "inconclusive")
NAMED = 2  # arms that a sentence names before it only counts


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


def p_is(p: float) -> str:
    """``p = 0.0013``, or ``p < 0.0001``."""
    return f"p {p_value(p)}".replace("<", "< ") if p < 0.0001 else f"p = {p_value(p)}"


def quoted(arm: ArmVerdict) -> str:
    """An arm's name as prose can hold it: names have commas of their own."""
    return f'"{arm.name}"'


def of(arm: ArmVerdict) -> str:
    """``10 of 60``: corrupt sessions of those that show anything."""
    return f"{arm.sessions_corrupt} of {arm.sessions_judged}"


def missed(arm: ArmVerdict) -> str:
    """``7 of 56``: sessions with a miss of those that show anything."""
    return f"{arm.sessions_missed} of {arm.sessions_judged}"


def missed_cells(verdict: RunVerdict, arm: ArmVerdict) -> tuple[str, ...]:
    """What an arm missed, as a table has it: count, percent, interval, p against the first arm."""
    pair = against_first(verdict, arm)
    p = None if pair is None else pair.p_value_missed
    told = "first" if arm is verdict.arms[0] else "–" if p is None else _p_told(p, pair)
    return missed(arm), number(arm.rate_missed), interval(arm.ci95_missed), told


def as_expected(arm: ArmVerdict) -> bool:
    """Whether verdict, violations and faults are the scenario's; also where it expects nothing."""
    silent = arm.expected is None or bool(arm.caveat)
    return silent or (arm.expected == arm.verdict and not unlike(arm))


def unlike(arm: ArmVerdict) -> list[str]:
    """``without`` what the scenario expects of the arm and nobody saw, ``with`` unnamed faults."""
    unseen = [name for name in arm.expected_violations if not arm.seen.get(name)]
    unnamed = [name for name in arm.faults if name not in arm.expected_violations]
    said = {"without": unseen, "with": unnamed}
    return [f"{how} {', '.join(names)}" for how, names in said.items() if names]


def expected_word(arm: ArmVerdict) -> str:
    """``yes``, or what the scenario says instead; a dash when it says nothing; ``open`` where it
    speaks of another run, and this one shows no failure.
    """
    if arm.expected is None:
        return "–"
    if arm.caveat:
        return "open"
    if as_expected(arm):
        return "yes"
    if arm.expected != arm.verdict:
        return f"NO: {arm.expected}"
    return f"NO: {', '.join(unlike(arm))}"


def tally(counts: Mapping[str, int]) -> str:
    """``leaked_markup 9, loop 2``, the largest first; ``none`` when there is nothing."""
    found = sorted(((-n, name) for name, n in counts.items() if n))
    return ", ".join(f"{name} {-n}" for n, name in found) or "none"


def against_first(verdict: RunVerdict, arm: ArmVerdict) -> Comparison | None:
    """The comparison of this arm with the first one; None for the first arm itself."""
    first = verdict.arms[0].name
    return next((it for it in verdict.comparisons if (it.a, it.b) == (first, arm.name)), None)


def p_against_first(verdict: RunVerdict, arm: ArmVerdict) -> float | None:
    """Fisher's p of this arm against the first one."""
    pair = against_first(verdict, arm)
    return None if pair is None else pair.p_value


def p_cell(verdict: RunVerdict, arm: ArmVerdict) -> str:
    """The same as a table has it, not corrected for other arms; ``by boot`` where boots are what
    the test exchanges.
    """
    pair = against_first(verdict, arm)
    if arm is verdict.arms[0]:
        return "first"
    if pair is None:
        return "–"
    return _p_told(pair.p_value, pair)


def _p_told(p: float, pair: Comparison | None) -> str:
    by_boot = pair is not None and pair.test != "fisher"
    return f"{p_value(p)}{' by boot' if by_boot else ''}"


def took(verdict: RunVerdict) -> str:
    """How long a run took, by either clock, and whether it can be had again."""
    said = f"{verdict.wall_s:.1f} s of wall clock, {verdict.virtual_s:.1f} s of the arms' clocks"
    if any(arm.history_digest == NO_DIGEST for arm in verdict.arms):
        return f"{said}, which went by the wall's: not reproducible"
    return said


def note(verdict: RunVerdict, arm: ArmVerdict) -> str:
    """One arm's line under the table: what n proves, the difference, and the verdict's reason."""
    line = f"{arm.name}: {proves(arm)}{silent(arm)}"
    pair = against_first(verdict, arm)
    if pair is not None:
        ends = pair.difference_ci95_missed or pair.difference_ci95
        high, low = (-100 * end for end in ends)  # first minus arm, turned
        besides = " with what was missed" if pair.difference_ci95_missed else ""
        line += f"; against the first {low:+.1f} to {high:+.1f} points{besides}"
    return f"{line}; {arm.verdict}: {arm.reason}" if arm.reason else line


def silent(arm: ArmVerdict) -> str:
    """How many sessions are in no rate; empty where all are."""
    if not arm.sessions_silent or not arm.sessions_judged:
        return ""
    return f"; {arm.sessions_silent} of {arm.sessions} sessions got no whole reply and show nothing"


def proves(arm: ArmVerdict) -> str:
    """What n sessions prove, and no more."""
    if arm.sessions_judged == 0:
        return "no session: shows nothing"
    if arm.sessions_corrupt == 0 and arm.sessions_missed:
        rate = f"{percent(arm.rate_missed)}, 95 % {interval(arm.ci95_missed)}"
        return f"{of(arm)} seen corrupt, {arm.sessions_missed} missed ({rate})"
    if arm.sessions_corrupt == 0 and (arm.unfinished or arm.verdict not in ("clean", "corrupt")):
        missing = f", {arm.unfinished} replies missing" if arm.unfinished else ""
        return f"{of(arm)} seen corrupt{missing}: shows no bound"
    if arm.sessions_corrupt == 0:
        return f"{of(arm)} shows only: below {percent(arm.ci95[1])}"
    if arm.sessions_corrupt == arm.sessions_judged:
        return f"{of(arm)} shows: above {percent(arm.ci95[0])}"
    return f"{of(arm)} shows: between {number(arm.ci95[0])} and {percent(arm.ci95[1])}"


def headline(verdict: RunVerdict) -> str:
    """The whole run in one sentence; an arm that was repeated is one."""
    verdict = whole(verdict)
    arms = verdict.arms
    parts = [verdict.incomplete] if verdict.incomplete else []
    parts += [older_rules(verdict)] if verdict.older_rules else []
    if arms:
        parts += [*corrupt_part(verdict), *other_parts(arms), *clean_part(arms), *expectation(arms)]
    else:
        parts.append("no arm finished")
    sentence = "; ".join(parts) + "."
    return sentence[0].upper() + sentence[1:]


def older_rules(verdict: RunVerdict) -> str:
    """That a stored verdict is not what this kvlab would find."""
    return f"judged by older rules (`kvlab judge {verdict.run}` judges anew)"


def corrupt_part(verdict: RunVerdict) -> list[str]:
    """Who corrupts, how often, and how sure the contrast with a clean arm is."""
    arms = [arm for arm in verdict.arms if arm.verdict == "corrupt"]
    if not arms:
        return []
    who = " and ".join(corrupts(arm) for arm in arms[:NAMED])
    more = f" and {len(arms) - NAMED} more arms corrupt" if len(arms) > NAMED else ""
    found = contrast(verdict)
    if found is None:
        return [who + more]
    arm = found.against
    sure = p_is(found.p_holm) + (f", Holm over {found.arms} arms" if found.arms > 1 else "")
    return [f"{who}{more}, {quoted(arm)} {arm.sessions_wrong} of {arm.sessions_judged} ({sure})"]


def corrupts(arm: ArmVerdict) -> str:
    """One arm that corrupts: its sessions, what it misses, or that only the ledger saw it."""
    if arm.sessions_corrupt == 0 and arm.sessions_missed and not arm.violations:
        many = f"{missed(arm)} sessions ({percent(arm.rate_missed)})"
        return f'{quoted(arm)} misses calls in {many}, more than its control "{arm.control}"'
    if arm.sessions_corrupt == 0:
        seen = arm.sessions_judged
        return f"{quoted(arm)} destroys rows, though no reply of {seen} sessions shows it"
    besides = f" and misses calls in {arm.sessions_missed} more" if arm.sessions_missed else ""
    return f"{quoted(arm)} corrupts {of(arm)} sessions ({percent(arm.rate)}){besides}"


def other_parts(arms: Sequence[ArmVerdict]) -> list[str]:
    """One clause for each verdict that is neither corrupt nor clean."""
    parts = []
    for kind in OTHERS:
        names = [_with_misses(arm) for arm in arms if arm.verdict == kind]
        if names:
            more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
            parts.append(f"{kind.replace('_', ' ')}: {' and '.join(names[:NAMED])}{more}")
    return parts


def _with_misses(arm: ArmVerdict) -> str:
    return quoted(arm) + (f" (misses calls in {missed(arm)})" if arm.sessions_missed else "")


def clean_part(arms: Sequence[ArmVerdict]) -> list[str]:
    """How many arms stayed clean, of how many sessions."""
    clean = [arm for arm in arms if arm.verdict == "clean"]
    if not clean:
        return ["no arm is clean"]
    sessions = sum(arm.sessions_judged for arm in clean)
    weak = sum(arm.sessions_missed for arm in clean)
    besides = f", {weak} missed, no more than where the model is alone" if weak else ""
    verb = "is" if len(clean) == 1 else "are"
    who = "every arm is" if len(clean) == len(arms) else f"{len(clean)} of {len(arms)} arms {verb}"
    return [f"{who} clean (0 of {sessions} sessions corrupt{besides})"]


def expectation(arms: Sequence[ArmVerdict]) -> list[str]:
    """Whether the scenario's expectations hold; nothing when it has none."""
    if all(arm.expected is None for arm in arms):
        return []
    wrong = [arm for arm in arms if not as_expected(arm)]
    unsettled = [arm.caveat for arm in arms if arm.caveat]
    if not wrong and not unsettled:
        return ["as expected"]
    besides = sorted({p for arm in wrong if arm.expected == arm.verdict for p in unlike(arm)})
    how = f" (NO: {'; '.join(besides)})" if besides else ""
    parts = [f"{len(wrong)} of {len(arms)} arms NOT as expected{how}"] if wrong else []
    if unsettled:
        parts.append(f"{len(unsettled)} of {len(arms)} arms open ({unsettled[0]})")
    return parts


def geometry_lines(arms: Sequence[ArmVerdict]) -> list[str]:
    """One line for each mismatch between tiers, with the arms that have it."""
    return [f"geometry: {what}" for what in by_arm({arm.name: arm.mismatches for arm in arms})]


def by_arm(said: Mapping[str, Sequence[str]]) -> list[str]:
    """What is said of arms, each phrase once, with the names of its arms behind it."""
    found: dict[str, list[str]] = {}
    for name, phrases in said.items():
        for phrase in phrases:
            found.setdefault(phrase, []).append(f'"{name}"')
    every = "every arm" if len(said) > 1 else ""
    return [
        f"{phrase} ({(len(names) == len(said) and every) or _arms(names)})"
        for phrase, names in found.items()
    ]


def _arms(names: Sequence[str]) -> str:
    return f"arm{'s' if len(names) > 1 else ''} {', '.join(names)}"
