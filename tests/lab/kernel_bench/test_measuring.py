"""A case beside torch and its floor: ratios, goals, and what cannot be measured."""

from __future__ import annotations

import json
from dataclasses import asdict
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from kernels.production.case import Case, Goal
from lab.kernel_bench import measuring, tables
from lab.kernel_bench.measuring import Bench, Measured
from lab.kernel_bench.run import FIGURE, draw
from lab.kernel_bench.trying import ALONE, COMPILED, OURS, PLAIN, REFERENCE
from tests.lab.kernel_bench.cases import (
    CEILINGS,
    FakeStopwatch,
    case,
    doubled,
    failing,
    plainly,
    wrongly,
)


@pytest.fixture(autouse=True)
def uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch.compile compiles nothing here."""
    monkeypatch.setattr(measuring, "torch_compiled", lambda plain: plain)


def measure(given: Case, times: list[float], failed: Any = None) -> Measured:
    return Bench(FakeStopwatch(times), CEILINGS, failed or {}, lambda _: None).measure(given)


def document(*cases: Measured) -> dict[str, Any]:
    about = {"device": "H200", "torch": "2.11", "triton": "3.6", "date": "2026-11-30"}
    return about | {"ceilings": asdict(CEILINGS), "cases": [each.document() for each in cases]}


def test_ours_is_told_over_its_floor_and_its_peer_and_torch_over_ours() -> None:
    said = measure(case(), [2.0, 8.0, 4.0]).document()
    assert {name: tried["ms"] for name, tried in said["versions"].items()} == {
        OURS: 2.0,
        PLAIN: 8.0,
        COMPILED: 4.0,
    }
    assert said["ours_over_floor"] == 2.0 and said["ours_over_peer"] == 1.6
    assert said["plain_over_ours"] == 4.0 and said["compiled_over_ours"] == 2.0
    assert said["gb_per_s"] == 2000.0 and said["peer"]["measured"] == "apart"


def test_the_floor_is_the_larger_of_bytes_and_operations() -> None:
    found = measure(case(flops=4 * 10**12, matrix="fp8"), [5.0, 8.0, 4.0])
    assert (found.bytes_ms, found.flops_ms, found.floor_ms) == (1.0, 2.5, 2.5)
    slow = measure(case(link="d2h", moved_bytes=50_000_000), [5.0, 8.0, 4.0])
    assert slow.floor_ms == pytest.approx(1.0)


def test_what_a_link_bounds_is_told_over_the_memcpy_that_took_turns_with_it() -> None:
    given = case(link="d2h", plain=None, goal=Goal(1 / 0.9, "link"))
    watch = FakeStopwatch([1.1], link_ms=1.0)
    found = Bench(watch, CEILINGS, {}, lambda _: None).measure(given)
    assert found.limit_ms == pytest.approx(1 / 0.9) and found.met
    assert found.document()["ours_over_floor"] == pytest.approx(1.1)
    assert found.document()["versions"][OURS]["link_ms"] == 1.0


@pytest.mark.parametrize(
    ("goal", "limit_ms", "met"),
    [
        (Goal(2.5, "floor"), 2.5, True),
        (Goal(0.2, "torch"), 1.6, False),
        (Goal(1.0, "peer"), 1.25, False),
        (Goal(2.0, "link"), 2.0, True),
        (None, None, None),
    ],
)
def test_a_goal_is_met_where_ours_takes_no_more(goal, limit_ms, met) -> None:
    found = measure(case(goal=goal), [2.0, 8.0, 4.0])
    assert (found.limit_ms, found.met) == (pytest.approx(limit_ms), met)


def test_a_wrong_version_has_a_time_but_no_ratio_and_meets_no_goal() -> None:
    found = measure(case(ours=wrongly), [0.5, 8.0, 4.0])
    said = found.document()
    assert said["versions"][OURS]["ms"] == 0.5 and "wrong" in said["versions"][OURS]["error"]
    assert said["ours_over_floor"] is None and found.met is False


def test_torch_that_cannot_be_compiled_is_a_dash_and_its_reason_is_kept() -> None:
    found = measure(case(), [2.0, 8.0], {("double, 8 numbers", COMPILED): "no such operator"})
    said = document(found)
    assert said["cases"][0]["versions"][COMPILED]["error"] == "no such operator"
    assert "no such operator" not in shown(said) and " - " in shown(said)


def test_a_case_that_cannot_run_is_told_below_the_table() -> None:
    said = document(measure(case(make=failing), []))
    assert "double, 8 numbers: RuntimeError: out of shared memory" in shown(said)


def test_the_table_tells_times_ratios_peers_goals_and_ceilings() -> None:
    text = shown(document(measure(case(), [2.0, 8.0, 4.0])))
    for word in ("2.000", "8.000", "4.000", "1.000", "2.00", "4.00", "1.250", "yes"):
        assert word in text
    assert "4,000 GB/s" in text and "ahead of theirs (double) at 0 of 1 sizes" in text
    assert max(map(len, text.splitlines())) <= 100


def test_ours_alone_is_told_beside_ours_and_a_goal_that_it_misses_is_marked() -> None:
    given = case(alone=doubled, goal=Goal(1.0, "peer"))
    found = measure(given, [1.0, 1.5, 8.0, 4.0])
    assert (found.met, found.met_alone) == (True, False)
    said = document(found)
    assert said["cases"][0]["versions"][ALONE]["ms"] == said["cases"][0]["alone_over_floor"] == 1.5
    text = shown(said)
    assert "yes+" in text and "apart" in text and "1.500" in text
    assert "yes+: met by ours, not by ours alone" in text
    assert "ahead of theirs (double) at 1 of 1 sizes, alone at 0" in text


def test_ours_that_does_not_overlap_is_alone_already() -> None:
    found = measure(case(), [2.0, 8.0, 4.0])
    text = shown(document(found))
    assert found.met_alone and "+" not in text and "starting while" not in text


def test_a_wrong_copy_is_found_where_there_is_a_reference_and_no_plain_torch() -> None:
    found = measure(case(plain=None, base=plainly, ours=wrongly), [2.0])
    tried = found.versions[OURS]
    assert "wrong" in tried.error and tried.against == REFERENCE


def test_what_nothing_else_computes_is_unchecked() -> None:
    found = measure(case(plain=None), [2.0])
    said = document(found)
    ours = said["cases"][0]["versions"][OURS]
    assert ours["off_by"] is None and ours["against"] == "" and not ours["error"]
    assert "double, 8 numbers: unchecked" in shown(said)
    assert "unchecked" in found.versions[OURS].told(1.0)


def test_a_time_without_a_graph_is_marked_and_the_mark_explained() -> None:
    found = measure(case(), [2.0, 8.0, 4.0])
    assert "*" not in shown(document(found))
    found.versions[PLAIN].graph = False
    text = shown(document(found))
    assert "8.000*" in text and "* waits for the device: timed call by call" in text


def test_the_figure_is_drawn_of_the_document_alone(tmp_path: Path) -> None:
    multiplied = measure(case(flops=10**12), [2.0, 8.0, 4.0])
    copied = measure(case(plain=None, peer=None, link="h2d", size="9"), [2.0])
    failed = measure(case(make=failing, size="10"), [])
    said = json.loads(json.dumps(document(multiplied, copied, failed)))
    draw(said, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {f"{FIGURE}.png", f"{FIGURE}.svg"}


def test_a_run_without_cases_has_no_figure(tmp_path: Path) -> None:
    draw(document(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def shown(said: dict[str, Any]) -> str:
    """The table as a terminal of 100 columns has it."""
    file = StringIO()
    Console(width=100, file=file).print(tables.measured(said))
    return file.getvalue()
