"""Every campaign bisected on the engine itself: the verdict and the culprits that its file says.

All but one are slow, minutes each: `pytest -m slow tests/scenarios/test_campaign_bisections.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lab.bisecting.order import Order
from lab.bisecting.perform import Place, perform
from tests.scenarios.whole import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PADDED = {"index_k", "graph", "concurrency"}  # what the production investigation found
FOUND: dict[str, set[str]] = {
    "one_toggle": {"overlap"},
    "two_toggles": {"index_k", "hicache"},
    "three_toggles": {"hicache", "overlap", "chunked_prefill"},
    "investigation": PADDED,
}
NOTHING = {
    "clean": "NOT-REPRODUCED",
    "dormant": "NOT-REPRODUCED",
    "not_offered": "NOT-CONTROLLED",
    "no_progress": "LIVENESS",
}
SMALLEST = """\
name: smallest
about: tokens of another row under overlap, by the smallest load that has two rows
build: [overlap_row_shift]
target: bundled
workload:
  {kind: tool_sessions, preset: campaign, sessions: 3, turns: 1, shared_entries: 0}
engine: {radix: false}
toggles:
  graph: {bad: true, good: false}
  overlap: {bad: true, good: false}
  topk: {bad: v1, good: v2}
"""


def bisected(file: Path, folder: Path, order: Order | None = None) -> dict[str, Any]:
    """The verdict's document; no failing trial is shortened, which is not what is asked here."""
    place = Place(folder / "lab.duckdb", replay=False)
    return perform(file, order or Order(), place)[0]


def campaign(name: str, folder: Path, order: Order | None = None) -> dict[str, Any]:
    return bisected(ROOT / "campaigns" / f"{name}.yaml", folder, order)


def culprits(of: dict[str, Any]) -> set[str]:
    return {flip["toggle"] for flip in of["culprits"]}


def necessary(of: dict[str, Any]) -> set[str]:
    return {key for key, role in of["roles"].items() if role == "NECESSARY"}


def test_the_engine_itself_is_bisected_to_the_one_toggle_that_exposes_a_defect(
    tmp_path: Path,
) -> None:
    file = tmp_path / "smallest.yaml"
    file.write_text(SMALLEST, encoding="utf-8")
    found = bisected(file, tmp_path, Order(no_confirm=True, unit="session"))
    assert (found["verdict"], culprits(found)) == ("SUSPECT", {"overlap"})
    (corrupt, _), (cleared, clean) = found["with_culprits"], found["without_culprits"]
    assert corrupt > 0 and clean > 0 and cleared == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", FOUND)
def test_a_campaign_is_confirmed_to_be_what_its_file_says(name: str, tmp_path: Path) -> None:
    found = campaign(name, tmp_path)
    assert (found["verdict"], culprits(found)) == ("CONFIRMED", FOUND[name])
    assert necessary(found) == FOUND[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", NOTHING)
def test_a_campaign_without_culprits_ends_as_its_file_says(name: str, tmp_path: Path) -> None:
    found = campaign(name, tmp_path)
    assert (found["verdict"], culprits(found)) == (NOTHING[name], set())


@pytest.mark.slow
def test_of_two_defects_the_second_is_found_once_the_first_is_kept_good(tmp_path: Path) -> None:
    first = campaign("two_defects", tmp_path)
    assert culprits(first) in ({"overlap"}, PADDED)
    kept = max(culprits(first))  # one good culprit is enough to keep the set from showing
    second = campaign("two_defects", tmp_path, Order(fix=(kept,)))
    left = ({"overlap"} | PADDED) - culprits(first)
    assert (second["verdict"], culprits(second)) == ("CONFIRMED", left)
