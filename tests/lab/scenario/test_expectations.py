"""What a scenario may expect of an arm beside its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lab.errors import ScenarioError
from lab.scenario.loader import load_scenario
from tests.lab.scenario.files import broken

if TYPE_CHECKING:
    from pathlib import Path

SEEN = "[padded_row_wrote_owned_slot]"


def complaint(path: Path) -> str:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    return str(caught.value)


def test_a_violation_that_no_engine_can_name_is_told_with_those_that_one_can(
    tmp_path: Path,
) -> None:
    said = complaint(broken(tmp_path, SEEN, "[padded_row_wrote_owned_slots]"))
    assert ":16: " in said
    assert "violations.0: unknown violation 'padded_row_wrote_owned_slots'" in said
    accepted = said.partition("accepted: ")[2].partition(" (did you mean")[0].split(", ")
    named = {"padded_row_wrote_owned_slot", "page_books_broken", "row_shared_by_two_slots"}
    assert named <= set(accepted) and accepted == sorted(accepted)
    assert "did you mean 'padded_row_wrote_owned_slot'" in said


def test_violations_belong_to_an_arm_that_is_corrupt(tmp_path: Path) -> None:
    expected = "{verdict: clean, violations: [page_books_broken]}"
    said = complaint(broken(tmp_path, "{verdict: clean}", expected))
    assert ":17: " in said
    assert "an arm with violations is corrupt, and clean is expected" in said


@pytest.mark.parametrize("verdict", ["clean", "wedged", "inconclusive", "corrupt"])
def test_a_fault_may_be_expected_with_any_verdict_since_others_may_still_be_served(
    tmp_path: Path, verdict: str
) -> None:
    expected = f"{{verdict: {verdict}, violations: [no_progress]}}"
    found = load_scenario(broken(tmp_path, "{verdict: clean}", expected))
    assert [e.violations for e in found.expect.values()].count(("no_progress",)) == 1


def test_every_engine_can_break_its_books(tmp_path: Path) -> None:
    found = load_scenario(broken(tmp_path, SEEN, "[page_books_broken]"))
    assert found.expect["bf16, graph on"].violations == ("page_books_broken",)
