"""A sweep's bracket in words. One rule: a level is named with its n, and a clean one with what its
n leaves possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lab.report import words
from lab.sweeps import sweep_of

if TYPE_CHECKING:
    from lab.records import ArmVerdict
    from lab.sweeps import Sweep


def sweep_lines(arms: Sequence[ArmVerdict]) -> list[str]:
    """What the arms say about their knob, in one line; nothing where they are no ladder."""
    sweep = sweep_of(arms)
    return [bracket(sweep)] if sweep is not None else []


def bracket(sweep: Sweep) -> str:
    """``concurrency turns between 1 (clean: 0 of 60, below 6.0 %) and 4 (corrupt: 9 of 60)``."""
    said = _between(sweep)
    unsure = [f"{level:g} ({arm.verdict})" for level, arm in sweep.levels if _unsure(arm)]
    return f"{said}; not counted: {', '.join(unsure)}" if unsure else said


def _between(sweep: Sweep) -> str:
    key, clean, bad = sweep.toggle, sweep.clean_below, sweep.bad_above
    if bad is None:
        return f"{key}: no level is corrupt" if clean is not None else f"{key}: no level is judged"
    if clean is None and sweep.monotone:
        return f"{key}: every level is corrupt, the ladder does not reach a clean one"
    if clean is None:
        return f"{key}: corrupt at both ends of the ladder, and clean between: no threshold"
    turns = f"{key} turns between {_level(sweep, clean)} and {_level(sweep, bad)}"
    return turns if sweep.monotone else f"{turns}; not for good: a level beyond is clean again"


def _level(sweep: Sweep, level: float) -> str:
    arm = sweep.arm(level)
    if arm.sessions_missed:
        return f"{level:g} ({arm.verdict}: {words.of(arm)} corrupt, {words.missed(arm)} missed)"
    bound = f", below {words.percent(arm.ci95[1])}" if not arm.sessions_corrupt else ""
    return f"{level:g} ({arm.verdict}: {words.of(arm)}{bound})"


def _unsure(arm: ArmVerdict) -> bool:
    return arm.verdict not in ("clean", "corrupt")
