"""A run whose arms are the levels of one numeric knob, and where the knob turns.

One rule: a bracket, never a point: clean at one level, corrupt at the next one that was run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lab.records import ArmVerdict

FEWEST = 3  # levels: two arms are an A/B test


@dataclass(frozen=True)
class Sweep:
    """The arms by level, the smallest first, of the knob ``toggle``.

    ``clean_below`` is the last clean level before ``bad_above``, the first corrupt one, seen from
    the end of the ladder that is clean; None where there is no such level. ``monotone``: no level
    beyond ``bad_above`` is clean again, and the ladder is not corrupt at both ends.
    """

    toggle: str
    levels: tuple[tuple[float, ArmVerdict], ...]
    clean_below: float | None
    bad_above: float | None
    monotone: bool

    def document(self) -> dict[str, Any]:
        """For `--json`; the arms stand in ``arms``."""
        return {
            "toggle": self.toggle,
            "levels": [level for level, _ in self.levels],
            "clean_below": self.clean_below,
            "bad_above": self.bad_above,
            "monotone": self.monotone,
        }

    def arm(self, level: float) -> ArmVerdict:
        """The arm at ``level``."""
        return next(arm for at, arm in self.levels if at == level)


def sweep_of(arms: Sequence[ArmVerdict]) -> Sweep | None:
    """The arms as a ladder; None where they are none: they differ in one number, and nothing else.

    >>> sweep_of([]) is None
    True
    """
    knob = _knob(arms)
    if knob is None:
        return None
    levels = tuple(sorted(((arm.settings[knob], arm) for arm in arms), key=lambda pair: pair[0]))
    clean, bad, monotone = _turns(levels)
    return Sweep(knob, levels, clean, bad, monotone)


def _knob(arms: Sequence[ArmVerdict]) -> str | None:
    """The one number in which all arms differ, each from each."""
    if len(arms) < FEWEST:
        return None
    keys = [key for key in arms[0].settings if len({repr(a.settings.get(key)) for a in arms}) > 1]
    if len(keys) != 1:
        return None
    values = [arm.settings.get(keys[0]) for arm in arms]
    numbers = all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in values
    )
    return keys[0] if numbers and len(set(values)) == len(values) else None


def _turns(levels: Sequence[tuple[float, ArmVerdict]]) -> tuple[float | None, float | None, bool]:
    """The two levels between which clean becomes corrupt, and whether it stays so beyond."""
    known = [(at, arm.verdict) for at, arm in levels if arm.verdict in ("clean", "corrupt")]
    bad = [at for at, verdict in known if verdict == "corrupt"]
    clean = [at for at, verdict in known if verdict == "clean"]
    if not bad or not clean:
        return (None, bad[0] if bad else None, True) if not clean else (clean[-1], None, True)
    if known[0][1] == "corrupt" and known[-1][1] == "clean":
        known = known[::-1]  # less is worse: pages, patience, bandwidth
    order = [verdict for _, verdict in known]
    first = order.index("corrupt")
    below = known[first - 1][0] if first else None
    return below, known[first][0], below is not None and "clean" not in order[first:]
