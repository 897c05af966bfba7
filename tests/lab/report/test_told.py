"""A stranger's reply is shown with its calls, and beside them the call that was due."""

from __future__ import annotations

from lab.report.replies import Case, case_text
from tests.lab.replies import EXPECTED_CALL, openai, strange


def lines(**changes: object) -> list[str]:
    return case_text(Case("a", strange(**changes), ()), 100).plain.splitlines()


def test_what_came_and_what_was_due_stand_below_each_other() -> None:
    made = (openai("get_record", '{"table": "X"}'),)
    found = lines(content="Looking.", tool_calls=made, expected_call=EXPECTED_CALL)
    assert found[1:] == [
        "  | Looking.",
        '  | get_record {"table": "X"}',
        '  due was the call get_record {"table": "MINE12345", "row": "OURS13579"}',
    ]


def test_of_a_text_that_nobody_knows_no_first_difference_is_told() -> None:
    assert lines(content="Hello.")[1:] == ["  | Hello."]
