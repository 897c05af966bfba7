"""A setting that changes nothing is noted: a reader of the file would think that it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.scenario.idle import without_effect
from lab.scenario.loader import load_scenario
from lab.toggles import TOGGLES
from tests.lab.scenario.files import GOOD, broken, write

if TYPE_CHECKING:
    from pathlib import Path

ENGINE = "concurrency: 60}"


def noted(folder: Path, given: str, *sets: str) -> list[str]:
    """The notes on the good scenario with more engine settings."""
    return without_effect(load_scenario(broken(folder, ENGINE, f"{ENGINE[:-1]}, {given}}}"), sets))


def test_what_only_a_host_tier_reads_is_noted_where_there_is_none(tmp_path: Path) -> None:
    said = ["hicache_write, host_ratio have no effect: hicache is off"]
    assert noted(tmp_path, "host_ratio: 3, hicache_write: write_back") == said
    assert noted(tmp_path, "host_ratio: 3, hicache: true") == []


def test_a_default_is_not_noted(tmp_path: Path) -> None:
    assert without_effect(load_scenario(write(tmp_path))) == []


def test_an_option_s_setting_is_noted_too(tmp_path: Path) -> None:
    said = ["hisparse_buffer has no effect: hisparse is off"]
    assert without_effect(load_scenario(write(tmp_path), ["engine.hisparse_buffer=256"])) == said


def test_one_arm_in_which_a_setting_counts_is_enough(tmp_path: Path) -> None:
    assert noted(tmp_path, "host_ratio: 3", "arms.1.hicache=true") == []


def test_the_link_is_read_by_either_tier(tmp_path: Path) -> None:
    assert noted(tmp_path, "host_gb_per_s: 3, hisparse: true") == []
    said = ["host_gb_per_s has no effect: hicache and hisparse are off"]
    assert noted(tmp_path, "host_gb_per_s: 3") == said


def test_an_arm_s_own_setting_is_noted_with_the_arm(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD.replace("concurrency: 1,", "graph: false, graph_max_bs: 8,"))
    said = ["arm 'bf16, one at a time': graph_max_bs has no effect: graph is off"]
    assert without_effect(load_scenario(path)) == said


def test_what_a_toggle_needs_are_switches() -> None:
    needed = {switch for found in TOGGLES.all().values() for switch in found.needs}
    assert {type(TOGGLES.all()[switch].default) for switch in needed} == {bool}
