"""Copy paths and geometry: dormancy is a zero that is printed, a mismatch is a word."""

from __future__ import annotations

import io

from rich.console import Console

from lab.report.tiers import MISMATCH, geometry_table
from lab.report.views import arm_view
from lab.tiers import CopyPath, copy_paths, stored_geometry
from tests.lab.report.test_table import cells, printed
from tests.lab.samples import history
from tests.lab.tiers import DORMANT, LIVE, row, tiered

GOOD = [row("device", 16384), row("host", 16384)]


def test_a_path_that_never_ran_is_a_row_with_a_zero() -> None:
    ran, never = copy_paths(tiered("one", GOOD).counters)
    assert ran == CopyPath("index_k", "load", "per_layer_mla", "layer_first", 85, 340)
    assert never == CopyPath("index_k", "load", "token_granular", "layer_first", 0, 0)


def test_a_counter_that_only_looks_like_a_path_is_none() -> None:
    assert copy_paths({"path:index_k:load": 3, "pathology": 1, f"path_rows:{LIVE}": 2}) == []


def test_an_arm_shows_its_copy_paths_and_not_among_its_counters() -> None:
    text = printed(arm_view(tiered("one", GOOD)))
    shown = [line.split() for line in text.splitlines() if line.strip().startswith("index_k ")]
    assert ["index_k", "load", "per_layer_mla", "layer_first", "85", "340"] in shown
    assert ["index_k", "load", "token_granular", "layer_first", "0", "0"] in shown
    assert DORMANT not in text


def test_an_arm_shows_the_geometry_that_its_server_stated() -> None:
    text = printed(arm_view(tiered("one", GOOD)))
    shown = [line.split() for line in text.splitlines() if line.strip().startswith("index_k ")]
    host = ["index_k", "host", "layer_first", "256", "64", "16384", "1", "1665", "yes"]
    assert host in shown and MISMATCH not in text


def test_a_pool_s_tiers_stand_together() -> None:
    c4 = [{**found, "pool": "c4"} for found in GOOD]
    text = printed(geometry_table([GOOD[0], c4[0], GOOD[1], c4[1]]))
    shown = [tuple(line.split()[:2]) for line in text.splitlines() if " layer_first " in line]
    assert shown == [
        *(("index_k", "device"), ("index_k", "host"), ("c4", "device"), ("c4", "host"))
    ]


def test_a_row_that_does_not_agree_says_so_with_and_without_colour() -> None:
    table = geometry_table([row("device", 16384), row("host", 8448, agrees=False)])
    lines = printed(table).splitlines()
    (wrong,) = [line for line in lines if MISMATCH in line]
    assert "8448" in wrong and "\x1b" not in wrong
    console = Console(file=io.StringIO(), width=100, force_terminal=True, color_system="standard")
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    (red,) = [line for line in console.file.getvalue().splitlines() if MISMATCH in line]
    assert "\x1b[1;31m" in red


def test_an_arm_of_before_the_geometry_has_none() -> None:
    arm = history("one")
    assert (stored_geometry(arm), copy_paths(arm.counters)) == ([], [])
    arm.events.insert(0, (0, "server_info", {"info": "{}"}))
    assert stored_geometry(arm) == []
    assert cells(printed(arm_view(arm)), "padded_rows") == ["5123"]
