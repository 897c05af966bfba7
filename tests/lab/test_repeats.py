"""Repetitions of an arm are one arm: sums, an interval and a test that know of boots."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from lab.records import NO_DIGEST, RunVerdict
from lab.repeats import BY_BOOT, FISHER, together
from lab.report.document import document
from lab.report.markdown import markdown
from lab.report.repeats import repeat_lines
from lab.report.table import run_report
from lab.report.words import p_is
from lab.stats import fisher, least_p, newcombe, wilson
from tests.lab.report.test_table import cells, printed
from tests.lab.samples import arm_verdict, history

if TYPE_CHECKING:
    from lab.records import ArmVerdict

SESSIONS = 20


def arm(name: str, corrupt: int, boot: int | None, digest: str = NO_DIGEST) -> ArmVerdict:
    made = arm_verdict(history(name, sessions=SESSIONS, corrupt=corrupt), corrupt=corrupt)
    settings = {"cached": name.startswith("on")}
    return replace(made, settings=settings, boot=boot, history_digest=digest)


def run(on: list[int], off: list[int]) -> RunVerdict:
    """Two arms in as many rounds as there are numbers, A B B A."""
    arms = []
    for round_, corrupt in enumerate(zip(on, off, strict=True), start=1):
        again = f" #{round_}" if round_ > 1 else ""
        of = zip(("on", "off"), corrupt, strict=True)
        arms += [
            arm(f"{name}{again}", k, 2 * round_ - at) for at, (name, k) in enumerate(of, start=0)
        ]
    return RunVerdict("r1", "boots", 0, 1.0, 1.0, tuple(arms), ())


def test_a_rate_is_that_of_all_sessions_and_boots_that_agree_have_wilson_s_interval() -> None:
    found = together(run([4, 5, 4], [0, 0, 0]))
    assert found is not None
    on, off = found.verdict.arms
    assert (on.sessions_corrupt, on.sessions, on.rate) == (13, 60, pytest.approx(13 / 60))
    assert (on.ci95, off.ci95) == (pytest.approx(wilson(13, 60)), pytest.approx(wilson(0, 60)))
    (pair,) = found.verdict.comparisons
    assert (pair.test, pair.p_value) == (BY_BOOT, pytest.approx(0.1))
    lines = repeat_lines(run([4, 5, 4], [0, 0, 0]))
    p = p_is(fisher(13, 60, 0, 60))
    assert lines[1].endswith(f"with so few never below 0.1 (were sessions independent: {p})")
    assert pair.difference_ci95 == pytest.approx(newcombe(13, 60, 0, 60))


def test_one_sick_boot_widens_the_interval_and_is_tested_by_boot() -> None:
    verdict = run([18, 0, 0], [0, 0, 0])
    found = together(verdict)
    assert found is not None and found.arms[0].differ and not found.arms[1].differ
    (pair,) = found.verdict.comparisons
    assert (pair.test, pair.p_value) == (BY_BOOT, 1.0)
    assert pair.difference_ci95[0] < 0 < pair.difference_ci95[1]
    line, _ = repeat_lines(verdict)
    assert line.startswith("on: 18 of 20, 0 of 20, 0 of 20 in 3 boots; boots differ (rho ")
    few = "p is by boot, with so few never below 0.1 (were sessions independent: p < 0.0001)"
    assert line.endswith(f": the interval is by boot; {few}")


def test_two_boots_that_seem_to_agree_have_one_interval_for_rate_and_difference() -> None:
    found = together(run([10, 12], [0, 0]))
    assert found is not None and not found.arms[0].differ
    on, _ = found.verdict.arms
    (pair,) = found.verdict.comparisons
    assert on.ci95 == pytest.approx(wilson(22, 40))
    assert pair.difference_ci95 == pytest.approx(newcombe(22, 40, 0, 40))
    assert pair.p_value == pytest.approx(least_p(2, 2))


def test_boots_that_served_both_arms_part_none_of_them() -> None:
    verdict = run([4, 5, 4], [0, 0, 0])
    arms = tuple(replace(it, boot=1 + n // 2) for n, it in enumerate(verdict.arms))
    found = together(replace(verdict, arms=arms))
    assert found is not None
    (pair,) = found.verdict.comparisons
    assert (pair.test, pair.p_value) == (FISHER, fisher(13, 60, 0, 60))


def test_rounds_of_a_server_that_nobody_booted_are_no_boots() -> None:
    verdict = run([4, 5, 4], [0, 0, 0])
    served = replace(verdict, arms=tuple(replace(it, boot=None) for it in verdict.arms))
    assert repeat_lines(served)[0] == "on: 4 of 20, 5 of 20, 4 of 20 in 3 rounds"
    found = together(served)
    assert found is not None and found.verdict.comparisons[0].test == FISHER


def test_what_was_missed_is_taken_together_too() -> None:
    verdict = run([0, 0], [0, 0])
    weak = [replace(it, sessions_missed=6, control="off") for it in verdict.arms[::2]]
    found = together(replace(verdict, arms=(weak[0], verdict.arms[1], weak[1], verdict.arms[3])))
    assert found is not None
    on, _ = found.verdict.arms
    assert (on.sessions_missed, on.rate_missed, on.control) == (12, 0.3, "off")
    assert on.ci95_missed == pytest.approx(wilson(12, 40))
    (pair,) = found.verdict.comparisons
    assert pair.p_value == 1.0 and pair.p_value_missed == pytest.approx(least_p(2, 2))


def test_a_verdict_is_the_worst_of_its_repetitions_with_its_reason() -> None:
    verdict = run([0, 0], [0, 0])
    stuck = replace(verdict.arms[2], verdict="inconclusive", reason="3 replies unfinished")
    found = together(replace(verdict, arms=(*verdict.arms[:2], stuck, verdict.arms[3])))
    assert found is not None
    assert [it.verdict for it in found.verdict.arms] == ["inconclusive", "clean"]
    assert found.verdict.arms[0].reason == "3 replies unfinished"


def test_a_history_that_repeats_event_for_event_counts_once() -> None:
    arms = tuple(arm(name, 2, None, "sha256:1") for name in ("on", "on #2", "on #3"))
    verdict = RunVerdict("r1", "same", 0, 1.0, 1.0, arms, ())
    found = together(verdict)
    assert found is not None and found.verdict.arms[0].sessions == SESSIONS
    assert repeat_lines(verdict) == ["on: 3 runs with one history, event for event: counted once"]


def test_what_has_other_settings_or_no_first_is_no_repetition() -> None:
    other = replace(arm("on #2", 0, 2), settings={"cached": False})
    for arms in ((arm("on", 0, 1), other), (arm("on #2", 0, 1), arm("off", 0, 1))):
        assert together(RunVerdict("r1", "x", 0, 1.0, 1.0, arms, ())) is None


def test_the_report_has_each_arm_once_with_its_boots_under_it() -> None:
    verdict = run([4, 5, 4], [0, 0, 0])
    text = printed(run_report(verdict))
    assert text.startswith('"on" corrupts 13 of 60 sessions (21.7 %), "off" 0 of 60')
    assert cells(text, "on")[:2] == ["13 of 60", "21.7"]
    assert cells(text, "on #3")[:3] == ["6", "4 of 20", "20.0"]
    assert "on: 4 of 20, 5 of 20, 4 of 20 in 3 boots; boots differ no more than sessions" in text
    pasted = markdown(verdict)
    assert "| on | 13/60 |" in pasted and "## Boot by boot" in pasted
    assert "| off #2 | 3 | 0 of 20 |" in pasted


def test_the_document_has_every_repetition_with_its_boot_and_the_arms_together() -> None:
    told = document(run([18, 0, 0], [0, 0, 0]))
    assert [it["boot"] for it in told["arms"]] == [2, 1, 4, 3, 6, 5]
    on, off = told["repeats"]["arms"]
    assert (on["boots"], on["by_boot"]) == ([2, 4, 6], [[18, 20], [0, 20], [0, 20]])
    assert (on["boots_differ"], off["boots_differ"]) == (True, False)
    (pair,) = told["repeats"]["comparisons"]
    assert pair["fisher_p_value"] < 1e-4 and pair["by_boot_p_value"] == 1.0
    assert pair["by_boot_least_p_value"] == pytest.approx(0.1)
    assert "repeats" not in document(run([1], [0]))
