"""What went wrong, by arm: classes of corrupt replies, violations, faults."""

from __future__ import annotations

from dataclasses import replace

from lab.report.table import run_report
from tests.lab.report.test_table import ALONE, cells, printed
from tests.lab.samples import sample_run


def test_a_long_violation_is_not_broken_either() -> None:
    verdict, _ = sample_run()
    outcomes = dict.fromkeys(("leaked_markup", "wrong_value", "loop", "script_mix", "tag_salad"), 7)
    violations = {"page_changed_between_match_and_read": 12, "page_books_broken": 3}
    first = replace(verdict.arms[0], name=ALONE, outcomes=outcomes, violations=violations)
    text = printed(run_report(replace(verdict, arms=(first,), comparisons=())), 80)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert {*outcomes, *violations} <= set(text.replace(",", " ").split())


def test_faults_have_a_column_of_their_own_where_there_are_any() -> None:
    verdict, _ = sample_run()
    first, *others = verdict.arms
    faulty = replace(others[0], faults={"no_progress": 2})
    text = printed(run_report(replace(verdict, arms=(first, faulty))), 200)
    wrong = text[text.index("what went wrong") :]
    assert "faults" in wrong.splitlines()[0]
    assert cells(wrong, first.name) == [
        "leaked_markup 10",
        "padded_row_wrote_owned_slot 31",
        "none",
    ]
    assert cells(wrong, faulty.name) == ["none", "none", "no_progress 2"]
    assert " faults" not in printed(run_report(verdict), 200)
