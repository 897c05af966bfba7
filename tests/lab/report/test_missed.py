"""What a report says where less is known: misses, silent sessions, counters that a server lacks."""

from __future__ import annotations

from dataclasses import replace

from lab.report import words
from lab.report.markdown import markdown
from lab.report.table import run_report
from tests.lab.report.test_table import ALONE, cells, four_arms, printed


def test_a_counter_that_a_server_has_not_is_not_reported_and_not_zero() -> None:
    verdict = four_arms()
    theirs = replace(verdict.arms[-1], exposure={"prefix_hits": 3, "evicted_pages": 0})
    both = replace(verdict, arms=(*verdict.arms[:-1], theirs))
    text = printed(run_report(both), width=140)
    none = "not reported"
    assert cells(text[text.index("exposure") :], ALONE) == [none, "3", none, "0", none]
    alone = printed(run_report(replace(verdict, arms=(theirs,), comparisons=())))
    assert "evicted" in alone and "retrac-" not in alone and none not in alone


def test_what_a_model_missed_stands_beside_what_is_corrupt() -> None:
    verdict = four_arms()
    assert "missed" not in printed(run_report(verdict))
    weak = replace(
        verdict.arms[1],
        sessions_missed=7,
        replies_missed=9,
        missed={"dropped_call": 9},
        sessions_silent=4,
    )
    both = replace(verdict, arms=(verdict.arms[0], weak), comparisons=verdict.comparisons[:1])
    text = printed(run_report(both), width=120)
    assert cells(text, weak.name)[4:6] == ["7", "0 of 240"]
    assert "dropped_call 9" in text and "dropped_call 9" in markdown(both)
    assert "0 of 56 seen corrupt, 7 missed: shows no bound" in text
    assert "4 of 60 sessions got no whole reply and show nothing" in text
    besides = "(0 of 56 sessions corrupt, 7 missed, no more than where the model is alone)"
    assert besides in words.headline(both)
    worse = replace(weak, verdict="corrupt", control="alone", expected=None)
    said = f'"{worse.name}" misses calls in 7 of 56 sessions, more than its control "alone"'
    assert said in words.headline(replace(both, arms=(worse,), comparisons=()))
