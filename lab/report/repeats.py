"""Repeated arms in words. One rule: a rate of several boots is told with the rate of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lab.repeats import BY_BOOT, together, whole
from lab.report import words
from lab.report.pd import pd_lines
from lab.report.section import Section
from lab.report.sweeps import sweep_lines
from lab.stats import fisher, least_p

if TYPE_CHECKING:
    from lab.records import ArmVerdict, RunVerdict
    from lab.repeats import Repeated, Together

HEADS = ("arm", "boot", "corrupt", "rate %", "missed", "unfinished", "verdict")


def notes(verdict: RunVerdict) -> list[str]:
    """One line an arm, one for its boots where it was repeated, one for a ladder, one for the rooms
    of each arm, and one for each pool that is unlike in both tiers.
    """
    shown = whole(verdict)
    lines = [words.note(shown, arm) for arm in shown.arms]
    lines += [*repeat_lines(verdict), *sweep_lines(shown.arms), *pd_lines(shown.arms)]
    return [*lines, *words.geometry_lines(shown.arms)]


def repeat_lines(verdict: RunVerdict) -> list[str]:
    """One line for each repeated arm: its boots, and what they make of the numbers."""
    found = together(verdict)
    if found is None:
        return []
    return [_line(found, arm) for arm in found.arms if len(arm.parts) > 1]


def repetitions(verdict: RunVerdict) -> Section:
    """Each repetition by itself; empty where no arm was repeated."""
    missed = any(arm.sessions_missed for arm in verdict.arms)
    rows = [_row(arm, missed) for arm in verdict.arms] if together(verdict) is not None else []
    heads = tuple(head for head in HEADS if missed or head != "missed")
    return Section("Boot by boot", heads, tuple(rows))


def boot(arm: ArmVerdict) -> str:
    """The number of the boot that served the arm, as the servers' logs have it; a dash of none."""
    return "–" if arm.boot is None else str(arm.boot)


def _row(arm: ArmVerdict, missed: bool) -> tuple[str, ...]:
    return (
        *(arm.name, boot(arm), words.of(arm), words.number(arm.rate)),
        *([words.missed(arm)] if missed else []),
        *(str(arm.unfinished), arm.verdict),
    )


def _line(found: Together, arm: Repeated) -> str:
    same = len(arm.parts) - len(arm.counted)
    if same == len(arm.parts) - 1:
        return (
            f"{arm.arm.name}: {len(arm.parts)} runs with one history, event for event: counted once"
        )
    each = ", ".join(f"{k} of {n}" for k, n in arm.counts)
    if arm.arm.sessions_missed:
        each += "; missed too, " + ", ".join(f"{k} of {n}" for k, n in arm.wrong)
    besides = f" ({same} more had the same history)" if same else ""
    unit = "boots" if arm.booted else "rounds"
    told = f"{arm.arm.name}: {each} in {len(arm.counted)} {unit}{besides}"
    return f"{told}; {_differ(found, arm)}" if arm.booted else told


def _differ(found: Together, arm: Repeated) -> str:
    how = arm.correlation
    said = f"boots differ (rho {how.rho:.2f}, {words.p_is(how.p_value)}): the interval is by boot"
    if not arm.differ:
        said = f"boots differ no more than sessions do ({words.p_is(how.p_value)})"
    first = found.arms[0]
    by_boot = {pair.b for pair in found.verdict.comparisons if pair.test == BY_BOOT}
    others = [it for it in found.arms[1:] if it.arm.name in by_boot and arm in (first, it)]
    if not others:
        return said
    least = min(least_p(len(first.counts), len(it.counts)) for it in others)
    few = f"p is by boot, with so few never below {words.p_value(least)}"
    alone = f"were sessions independent: {_by_session(first, others)}"
    return f"{said}; {few} ({alone})"


def _by_session(first: Repeated, others: Sequence[Repeated]) -> str:
    """Fisher's p of the arms with the first one."""
    told = [(it.arm, first.arm) for it in others]
    return ", ".join(
        words.p_is(
            fisher(*(a.sessions_corrupt, a.sessions_judged, b.sessions_corrupt, b.sessions_judged))
        )
        for a, b in told
    )
