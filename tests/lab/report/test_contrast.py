"""Which p a headline quotes: that of an arm known beforehand, corrected for all the others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.report import words
from lab.report.contrast import contrast
from lab.report.markdown import markdown
from lab.report.table import run_report
from tests.lab.report.test_table import printed
from tests.lab.samples import history, run_verdict, sample_run

ARMS = {"sick": 10, "weak": 3, **{f"clean {n}": 0 for n in range(1, 7)}}


def many() -> tuple[float, ...]:
    """P-values of seven arms against the first; a later clean arm has by far the smallest."""
    return (0.2, 0.04, 0.03, 0.00001, 0.05, 0.06, 0.07)


def test_the_smallest_of_many_p_values_is_not_what_is_quoted() -> None:
    verdict = run_verdict("20261129T194500-ab12", [history(name) for name in ARMS], ARMS)
    pairs = [replace(pair, p_value=p) for pair, p in zip(verdict.comparisons, many(), strict=True)]
    told = words.headline(replace(verdict, comparisons=tuple(pairs)))
    assert '"clean 1" 0 of 60 (p = 0.2, Holm over 7 arms)' in told


def test_a_control_is_what_the_first_arm_is_held_against() -> None:
    verdict, _ = sample_run()
    first, *others = verdict.arms
    held = contrast(replace(verdict, arms=(replace(first, control=others[1].name), *others)))
    assert held is not None and held.against is others[1]


def test_one_comparison_is_not_corrected() -> None:
    verdict, _ = sample_run()
    alone = replace(verdict, arms=verdict.arms[:2], comparisons=verdict.comparisons[:1])
    held = contrast(alone)
    assert held is not None and held.p_holm == pytest.approx(alone.comparisons[0].p_value)
    assert "Holm" not in words.headline(alone)


def test_the_tables_say_that_their_p_is_raw() -> None:
    verdict, _ = sample_run()
    assert "raw Fisher" in printed(run_report(verdict))
    assert "raw Fisher p vs first" in markdown(verdict)
