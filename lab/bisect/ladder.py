"""The levels at which a numeric knob is tried. One rule: ends included, from good to bad."""

from __future__ import annotations

from math import floor, log2, log10

import numpy as np

LEAST, MOST = 3, 7  # levels where nobody says how many
DIGITS = 2  # significant digits of a float level


def ladder(good: float, bad: float, steps: int | None = None) -> tuple[float, ...]:
    """At most ``steps`` levels from ``good`` to ``bad``, by equal factors; doubling by default.

    Ints stay ints, without repeats. From or to 0 the level beside 0 is 1 for ints, and for floats
    the other end halved until the steps are used up. Across 0 levels are evenly spaced.
    Raises `ValueError` for what is not a number, equal ends, or fewer than two steps.
    """
    for end in (good, bad):
        if isinstance(end, bool) or not isinstance(end, int | float):
            raise ValueError(f"a ladder needs numbers, got {end!r}")
    if good == bad:
        raise ValueError(f"a ladder needs two ends that differ, got {good!r} twice")
    if steps is not None and steps < 2:
        raise ValueError(f"a ladder has two steps at least, got {steps}")
    whole = isinstance(good, int) and isinstance(bad, int)
    inner = _levels(good, bad, steps, whole)[1:-1]
    rounded = [round(level) if whole else _rounded(level) for level in inner]
    low, high = min(good, bad), max(good, bad)
    between = dict.fromkeys(level for level in rounded if low < level < high)
    return good, *between, bad


def _levels(good: float, bad: float, steps: int | None, whole: bool) -> list[float]:
    """Levels unrounded, ends included."""
    if good * bad < 0:
        return [float(level) for level in np.linspace(good, bad, steps or MOST)]
    if good and bad:
        return [float(level) for level in np.geomspace(good, bad, steps or _doublings(good, bad))]
    far = good or bad  # the other end is 0
    sign = 1 if far > 0 else -1
    if whole:
        count = (steps or min(MOST, _doublings(1, far) + 1)) - 1
        near = float(sign)
    else:
        count = (steps or MOST) - 1
        near = far / 2 ** (count - 1)
    rising = [0.0, *(float(level) for level in np.geomspace(near, far, count))]
    return rising if good == 0 else rising[::-1]


def _doublings(one: float, other: float) -> int:
    return min(MOST, max(LEAST, round(abs(log2(abs(one / other)))) + 1))


def _rounded(level: float) -> float:
    """To two significant digits."""
    return round(level, DIGITS - 1 - floor(log10(abs(level)))) if level else 0.0
