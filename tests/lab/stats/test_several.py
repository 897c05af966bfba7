"""Holm's correction against its own definition."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import lab
from lab.stats import holm


def step_down(p_values: list[float], alpha: float) -> list[bool]:
    """Holm 1979, word for word: from the smallest up, until one exceeds alpha / (tests left)."""
    rejected = [False] * len(p_values)
    for tested, i in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[i] > alpha / (len(p_values) - tested):
            break
        rejected[i] = True
    return rejected


def test_three_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


@pytest.mark.parametrize("tests", [1, 2, 4, 8])
def test_a_test_is_rejected_where_holm_rejects_it(tests: int) -> None:
    p_values = (np.random.default_rng([37, tests]).random(tests) ** 4).tolist()  # small ones, too
    adjusted = holm(p_values)
    for alpha in np.linspace(0.001, 0.999, 999):
        assert [p <= alpha for p in adjusted] == step_down(p_values, alpha)


def test_no_tests_is_no_p() -> None:
    assert holm([]) == []


def test_statsmodels_is_loaded_only_where_it_is_called() -> None:
    eager = [
        path.name
        for path in Path(lab.__file__).parent.rglob("*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.Import | ast.ImportFrom) and "statsmodels" in ast.unparse(node)
    ]
    assert eager == []
