"""A ladder of one knob, as the arms of a scenario."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.errors import ScenarioError
from lab.scenario.loader import load_scenario
from lab.scenario.sweeping import swept
from tests.lab.scenario.files import GOOD, write


def levels(toggle: str | None, path: Path) -> list[object]:
    found = swept(load_scenario(path), toggle)
    (key,) = {key for arm in found.arms for key in arm.overrides}
    assert [arm.name for arm in found.arms] == [
        f"{key}={arm.overrides[key]:g}" for arm in found.arms
    ]
    return [arm.overrides[key] for arm in found.arms]


def test_levels_are_run_as_they_are_named(tmp_path: Path) -> None:
    assert levels("concurrency=60,8,1", write(tmp_path)) == [60, 8, 1]
    assert levels("waiting_timeout=0.5,2,8", write(tmp_path)) == [0.5, 2, 8]


def test_a_range_becomes_a_ladder_of_whole_numbers_with_both_ends(tmp_path: Path) -> None:
    found = levels("concurrency=1..60", write(tmp_path))
    assert (found[0], found[-1]) == (1, 60)
    assert len(found) > 4
    assert all(isinstance(level, int) for level in found)
    assert found == sorted(set(found), key=float)  # type: ignore[arg-type]


def test_a_file_may_bring_its_own_ladder(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD + "sweep: {concurrency: [1, 4, 16]}\n")
    assert levels(None, path) == [1, 4, 16]
    assert levels("graph_max_bs=8,16,32", path) == [8, 16, 32]


def test_a_sweep_keeps_load_build_and_settings_and_expects_nothing(tmp_path: Path) -> None:
    whole = load_scenario(write(tmp_path))
    found = swept(whole, "concurrency=1,4,16")
    assert (found.build, found.workload, found.seed) == (whole.build, whole.workload, whole.seed)
    assert found.settings(found.arms[0]) == {**whole.settings(whole.arms[0]), "concurrency": 1}
    assert found.expect == {}


@pytest.mark.parametrize(
    ("toggle", "said"),
    [
        (None, "good.yaml: has no `sweep`; --toggle KEY=V1,V2,..., or KEY=LOW..HIGH names one"),
        ("concurrency", "--toggle concurrency: not a ladder; accepted: KEY=V1,V2"),
        ("concurrency=", "--toggle concurrency=: not a ladder"),
        ("concurrency=4", "--toggle concurrency=4: not a ladder; accepted: KEY=V1,V2"),
        ("concurrency=4,4", "levels that differ, two at least"),
        ("concurrency=4..4", "--toggle concurrency=4..4: not a ladder"),
        ("concurrency=1..2..3", "--toggle concurrency=1..2..3: not a ladder"),
        ("concurency=1,2", "unknown key 'concurency'"),
        ("index_k=bf16,fp8", "a ladder is of numbers; `kvlab ab` compares two values"),
        ("graph=true,false", "a ladder is of numbers"),
        ("host_ratio=1..1e400", "--toggle host_ratio=1..1e400: not a ladder; levels are numbers"),
        ("host_ratio=.nan,1", "--toggle host_ratio=.nan,1: not a ladder; levels are numbers"),
        (f"concurrency=1,1{'0' * 400}", "not a ladder; levels are numbers of at most 1e+15"),
        (f"concurrency={','.join(map(str, range(1, 70)))}", "two at least and 64 at most"),
        ("concurrency=0,4", "--toggle concurrency=0,4: arms.0.concurrency: 0 is not accepted"),
    ],
)
def test_what_is_no_ladder_is_one_line(tmp_path: Path, toggle: str | None, said: str) -> None:
    with pytest.raises(ScenarioError) as error:
        swept(load_scenario(write(tmp_path)), toggle)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
