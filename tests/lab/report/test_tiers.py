"""Copy paths and geometry: dormancy is a zero that is printed, a mismatch is a word."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from engine.config import EngineConfig
from engine.shapes import geometry_of
from lab.copies import BY_TOKEN, CopyPath, copy_paths, never_ran, others, stored_geometry
from lab.report.tiers import MISMATCH, geometry_table, orders, paths_table
from lab.report.views import arm_view
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
    assert ["index_k", "load", "per_layer_mla", "85", "340", "page", "rows"] in shown
    assert ["index_k", "load", "token_granular", "0", "0", "tokens"] in shown
    assert "Copies between the tiers; the host is layer_first" in text and DORMANT not in text


def test_what_never_ran_is_a_sentence_token_by_token_first() -> None:
    ran = CopyPath("c4", "load", "per_layer_mla", "layer_first", 1, 4)
    never = [
        CopyPath(pool, operation, branch, "layer_first", 0, 0)
        for pool, branch in (("c4", "all_layer_mla"), ("c4", BY_TOKEN), ("swa", BY_TOKEN))
        for operation in ("backup", "load")
    ]
    said = "token_granular (backup, load) for c4, swa"
    assert never_ran([ran, *never]) == [said, "all_layer_mla (backup, load) for c4"]
    assert f"Never ran: {said}; all_layer_mla (backup," in printed(paths_table([ran, *never]))
    assert "Every one of these ran." in printed(paths_table([ran]))


def test_a_pool_of_another_order_is_named_with_it() -> None:
    named = [("swa", "page_first"), ("c4", "page_first"), ("hisparse_c4", "layer_first")]
    assert orders(named) == "page_first (hisparse_c4 layer_first)"
    assert orders(named[:2]) == "page_first"


def test_a_zero_of_nothing_compared_says_so() -> None:
    counters = {"restored_differs:c4": 0, "pages_backed_up": 3, "path:c4:load:x:y": 2}
    assert others(counters) == {"pages_backed_up": "3", "restored_differs:c4": "0 of 0"}
    assert others({**counters, "pages_restored": 340})["restored_differs:c4"] == "0 of 340"


def test_an_arm_shows_the_geometry_that_its_server_stated() -> None:
    text = printed(arm_view(tiered("one", GOOD)))
    shown = [line.split() for line in text.splitlines() if line.strip().startswith("index_k ")]
    assert ["index_k", "1", "64/256", "16,384", "16,384", "833", "1665", "yes"] in shown
    assert "Geometry: device layer_first, host layer_first" in text and MISMATCH not in text


def test_the_decode_side_of_a_pair_stands_beside_the_prefill_s() -> None:
    pair = [*GOOD, row("decode", 8448, agrees=False)]
    text = printed(geometry_table(pair))
    (line,) = [line for line in text.splitlines() if "64/256" in line]
    sizes, pages = ["16,384", "8,448", "16,384"], ["833", "833", "1665"]
    assert line.split() == ["index_k", "1", "64/256", *sizes, *pages, MISMATCH]
    assert "8,448 bytes a row on the decode side, 16,384 on the prefill side" in text
    assert "Of a pair, device is the prefill side's" in text
    assert "Of a pair" not in printed(geometry_table(GOOD))


def test_a_pool_s_tiers_stand_in_one_row_whatever_their_order() -> None:
    c4 = [{**found, "pool": "c4"} for found in GOOD]
    text = printed(geometry_table([GOOD[0], c4[0], GOOD[1], c4[1]]))
    shown = [line.split()[0] for line in text.splitlines() if "64/256" in line]
    assert shown == ["index_k", "c4"]


def test_what_goes_by_request_slot_has_no_tokens_a_page() -> None:
    (line,) = [
        line
        for line in printed(geometry_table([{**GOOD[0], "pool": "c128_state"}])).splitlines()
        if "64/" in line
    ]
    assert line.split() == ["c128_state", "1", "64/–", "16,384", "–", "833", "–", "yes"]


@pytest.mark.parametrize("pd", [False, True])
def test_the_largest_pools_fit_a_terminal_of_eighty_columns(pd: bool) -> None:
    config = EngineConfig(pd=pd, hicache=True, hisparse=True, pool_pages=65_536, host_ratio=64.0)
    rows = [found.as_dict() for found in geometry_of(config)]
    rows = [{**found, "agrees": False} for found in rows]
    lines = printed(geometry_table(rows), width=80).splitlines()
    assert all(len(line) <= 80 for line in lines)
    told = [line for line in lines if MISMATCH in line and not line.startswith(MISMATCH)]
    assert len(told) == 9


def test_a_row_that_does_not_agree_says_so_with_and_without_colour() -> None:
    table = geometry_table([row("device", 16384), row("host", 8448, agrees=False)])
    lines = printed(table).splitlines()
    wrong, said = [line for line in lines if MISMATCH in line]
    told = "index_k: 8,448 bytes a row on the host, 16,384 on the device"
    assert said.strip() == f"{MISMATCH}: {told}"
    assert "8,448" in wrong and "\x1b" not in wrong
    console = Console(file=io.StringIO(), width=100, force_terminal=True, color_system="standard")
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    red, _ = [line for line in console.file.getvalue().splitlines() if MISMATCH in line]
    assert "\x1b[1;31m" in red


def test_an_arm_of_before_the_geometry_has_none() -> None:
    arm = history("one")
    assert (stored_geometry(arm), copy_paths(arm.counters)) == ([], [])
    arm.events.insert(0, (0, "server_info", {"info": "{}"}))
    assert stored_geometry(arm) == []
    assert cells(printed(arm_view(arm)), "padded_rows") == ["5123"]
