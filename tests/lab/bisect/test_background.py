"""More than the background, at whatever moment one looks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lab.bisect import background
from lab.bisect.background import beyond
from lab.bisect.parameters import Parameters
from lab.bisect.trials import Tally
from lab.stats import lower_bound

ERRS = Parameters(exact=False)


def test_one_corrupt_unit_is_beyond_an_exact_checkers_background() -> None:
    assert beyond(Tally(9000, 1), Parameters())
    assert not beyond(Tally(9000, 0), Parameters())


def test_looks_share_alpha() -> None:
    assert beyond(Tally(100, 8), ERRS)
    assert not beyond(Tally(100, 8), ERRS, looks=100)


def test_a_background_is_hardly_ever_exceeded_though_looked_at_after_every_unit() -> None:
    draw = np.random.default_rng(5)
    wrong = 0
    for _ in range(100):
        corrupt = np.cumsum(draw.random(400) < ERRS.p_tol)
        at = np.flatnonzero(np.diff(corrupt, prepend=0))  # it may be exceeded only where it grows
        wrong += any(beyond(Tally(int(i) + 1, int(corrupt[i])), ERRS) for i in at)
    assert wrong <= 2


def test_a_background_is_hardly_ever_beyond_its_bound_however_often_one_looks() -> None:
    """A bound for a number of units that was fixed is exceeded some time in far more worlds."""
    looks, worlds, p_tol = 400, 300, ERRS.p_tol
    once = fixed = 0
    for seed in range(worlds):
        draw = np.random.default_rng([11, seed])
        sums = np.cumsum(draw.random(looks) < p_tol)
        seen = [(int(sums[n - 1]), n) for n in range(10, looks, 10)]
        once += any(beyond(Tally(n, k), replace(ERRS, alpha=0.05)) for k, n in seen)
        fixed += any(lower_bound(k, n, 0.05) > p_tol for k, n in seen)
    assert once <= 0.05 * worlds < fixed


def test_a_bound_is_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    worked: list[int] = []

    def counting(corrupt: int, units: int, alpha: float) -> tuple[float, float]:
        worked.append(units)
        return 0.5, 1.0

    monkeypatch.setattr(background, "sequence", counting)
    background.least.cache_clear()
    assert all(beyond(Tally(units, 3), ERRS) for units in (90, 91, 90, 91))
    background.least.cache_clear()  # others are told the truth
    assert worked == [90, 91]
