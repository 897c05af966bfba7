"""More than the background, at whatever moment one looks."""

from __future__ import annotations

import numpy as np

from lab.bisect.background import beyond
from lab.bisect.parameters import Parameters
from lab.bisect.trials import Tally

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
