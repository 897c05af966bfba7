"""What a report says where less is known: misses, silent sessions, counters that a server lacks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lab.report import words
from lab.report.document import document
from lab.report.markdown import markdown
from lab.report.sweeps import sweep_lines
from lab.report.table import run_report
from lab.report.views import outcomes_table
from lab.stats import wilson
from tests.lab.report.test_table import ALONE, cells, four_arms, printed

if TYPE_CHECKING:
    from lab.records import ArmVerdict, RunVerdict


def test_a_counter_that_a_server_has_not_is_not_reported_and_not_zero() -> None:
    verdict = four_arms()
    theirs = replace(verdict.arms[-1], exposure={"prefix_hits": 3, "evicted_pages": 0})
    both = replace(verdict, arms=(*verdict.arms[:-1], theirs))
    text = printed(run_report(both), width=140)
    none = "not reported"
    assert cells(text[text.index("exposure") :], ALONE) == [none, "3", none, "0", none]
    alone = printed(run_report(replace(verdict, arms=(theirs,), comparisons=())))
    assert "evicted" in alone and "retrac-" not in alone and none not in alone


def weak(missed: int = 7) -> tuple[RunVerdict, ArmVerdict]:
    """A run whose second arm missed in so many of 56 sessions."""
    verdict = four_arms()
    arm = replace(
        verdict.arms[1],
        sessions_missed=missed,
        replies_missed=9,
        missed={"dropped_call": 9},
        sessions_silent=4,
        ci95_missed=wilson(missed, 56),
    )
    pair = replace(
        verdict.comparisons[0], p_value_missed=0.002, difference_ci95_missed=(-0.2, -0.05)
    )
    return replace(verdict, arms=(verdict.arms[0], arm), comparisons=(pair,)), arm


def test_what_a_model_missed_is_a_rate_beside_what_is_corrupt() -> None:
    assert "missed" not in printed(run_report(four_arms()))
    both, arm = weak()
    text = printed(run_report(both), width=160)
    assert cells(text, arm.name)[4:8] == ["7 of 56", "12.5", "6.2–23.6", "0.002"]
    assert "dropped_call 9" in text and "dropped_call 9" in markdown(both)
    assert "| 7 of 56 | 12.5 | 6.2–23.6 | 0.002 |" in markdown(both)
    assert "0 of 56 seen corrupt, 7 missed (12.5 %, 95 % 6.2–23.6)" in text
    assert "against the first +5.0 to +20.0 points with what was missed" in " ".join(text.split())
    assert "4 of 60 sessions got no whole reply and show nothing" in text
    told = document(both)["arms"][1]
    assert (told["rate_missed"], told["ci95_missed"]) == (0.125, wilson(7, 56))


def test_the_headline_tells_both() -> None:
    both, arm = weak()
    besides = "(0 of 56 sessions corrupt, 7 missed, no more than where the model is alone)"
    assert besides in words.headline(both)
    worse = replace(arm, verdict="corrupt", control="alone", expected=None)
    said = f'"{worse.name}" misses calls in 7 of 56 sessions (12.5 %), more than its control "alon'
    assert said in words.headline(replace(both, arms=(worse,), comparisons=()))
    unsure = replace(worse, verdict="inconclusive")
    said = f'Inconclusive: "{worse.name}" (misses calls in 7 of 56)'
    assert said in words.headline(replace(both, arms=(unsure,), comparisons=()))
    sick = replace(both.arms[0], sessions_missed=3)
    assert "and misses calls in 3 more" in words.headline(replace(both, arms=(sick, arm)))


def test_a_run_from_near_has_the_classes_of_what_was_missed() -> None:
    both, arm = weak()
    quiet = replace(both, arms=(arm,), comparisons=())
    assert cells(printed(outcomes_table(quiet)), "missed: dropped_call") == ["9"]


def test_a_ladder_tells_what_its_levels_missed() -> None:
    _, arm = weak(40)
    levels = [
        replace(arm, settings={"concurrency": n}, sessions_missed=0, verdict="clean")
        for n in (1, 4)
    ]
    high = replace(arm, settings={"concurrency": 16}, verdict="corrupt")
    (line,) = sweep_lines([*levels, high])
    assert line.endswith("and 16 (corrupt: 0 of 56 corrupt, 40 of 56 missed)")


def test_a_verdict_of_older_rules_is_told_as_one() -> None:
    verdict = four_arms()
    assert "older_rules" not in document(verdict)
    old = replace(verdict, arms=(replace(verdict.arms[0], rules=0), *verdict.arms[1:]))
    assert words.headline(old).startswith(
        f"Judged by older rules (`kvlab judge {verdict.run}` judges anew); "
    )
    assert document(old)["older_rules"] is True
