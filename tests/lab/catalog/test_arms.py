"""What exposes and what clears, read from a file's arms."""

from __future__ import annotations

from lab.catalog import arms
from lab.scenario.loader import parse_scenario
from lab.scenario.models import Scenario
from tests.lab.scenario.files import GOOD

ARM = '  - {name: "bf16, one at a time", concurrency: 1, sessions: 12}\n'
EXPECTED = '"*": {verdict: clean}'


def scenario(text: str = GOOD) -> Scenario:
    return parse_scenario(text, "good.yaml")


def words(changes: list[arms.Change]) -> list[str]:
    return [change.words for change in changes]


def test_a_clean_arm_clears_by_what_it_changes() -> None:
    assert words(arms.clearing(scenario())) == ["index_k=fp8", "concurrency=1"]


def test_an_arm_is_held_against_the_most_alike_that_shows_the_incident() -> None:
    more = ARM + '  - {name: "graph off, overlap", graph: false, overlap: true}\n'
    more += '  - {name: "graph off, overlap, fp8", graph: false, overlap: true, index_k: fp8}\n'
    shown = '"graph off, overlap": {verdict: corrupt}\n  "*": {verdict: clean}'
    found = scenario(GOOD.replace(ARM, more).replace(EXPECTED, shown))
    last = arms.clearing(found)
    assert words(last) == ["index_k=fp8", "concurrency=1"]  # said once, by either fp8 arm
    assert words(arms.innocent(found)) == ["graph=false and overlap=true"]


def test_an_arm_that_shows_a_fault_is_no_clean_one() -> None:
    shown = '"fp8, graph on": {verdict: inconclusive, violations: [no_progress]}\n  ' + EXPECTED
    found = scenario(GOOD.replace(EXPECTED, shown))
    assert [arm.name for arm in arms.failing(found)] == ["bf16, graph on", "fp8, graph on"]
    assert arms.verdicts(found) == ["corrupt", "inconclusive"]
    assert arms.evidence(found) == ["padded_row_wrote_owned_slot", "no_progress"]


def test_where_no_arm_shows_it_nothing_clears_it() -> None:
    text = "\n".join(line for line in GOOD.splitlines() if "verdict: corrupt" not in line) + "\n"
    found = scenario(text)
    assert arms.clearing(found) == [] and arms.verdicts(found) == ["clean"]
    assert words(arms.easing(found)) == ["index_k=fp8", "graph=false"]


def test_an_arm_of_which_nothing_is_expected_says_nothing() -> None:
    found = scenario(GOOD.replace(f"  {EXPECTED}\n", ""))
    assert arms.clearing(found) == []
