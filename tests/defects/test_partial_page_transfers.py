"""partial_page_transfers: an amplifier: it sends copies down another path, which is sound."""

from __future__ import annotations

import pytest

from engine.defects import catalog
from tests.engine.pools.mirrored import Tiers
from tests.scenarios.dirty import dirty
from tests.scenarios.whole import arms

FILE = "incidents/partial_page_transfers"


def test_pieces_cover_a_page_once_and_only_where_tokens_can_be_addressed() -> None:
    for layout, pieces in (
        ("layer_first", [(0, 255), (255, 256)]),
        ("page_first", [(0, 256)]),
    ):
        pool = Tiers(hicache_layout=layout, build=("partial_page_transfers",)).host.pools[0]
        assert pool.moves.pieces.pieces(pool) == pieces


@pytest.mark.parametrize("slot_page", [128, 256])
@pytest.mark.parametrize("pages", range(1, 9))
def test_copies_go_by_tokens_however_many_pages_are_merged(pages: int, slot_page: int) -> None:
    tiers = Tiers(pool_pages=8, hicache_slot_page=slot_page, build=("partial_page_transfers",))
    tiers.scribble(range(1, 9))
    device = list(range(1, pages + 1))
    tiers.restore(tiers.back_up(device), device)
    by_pages = [
        name
        for name in tiers.counted("path_rows:")
        if "state" not in name and "token_granular" not in name
    ]
    assert by_pages == []
    assert tiers.events.events == []


def test_it_names_no_evidence_of_its_own() -> None:
    found = catalog()["partial_page_transfers"]
    assert (found.kind, found.evidence) == ("amplifier", ())


@pytest.mark.parametrize("arm", arms(FILE))
def test_every_arm_of_the_incident_is_clean_though_prefixes_came_from_the_host(arm: str) -> None:
    ran = dirty(FILE, arm)
    assert ran.clean, ran.verdict
    assert ran.count("host_hits") > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("arm", arms(FILE))
def test_every_arm_is_clean_on_other_seeds(arm: str, seed: int) -> None:
    ran = dirty(FILE, arm, seed)
    assert ran.clean, ran.verdict


@pytest.mark.parametrize("pool", ["swa", "c4", "index_k", "c128"])
def test_copies_of_a_layer_first_pool_go_by_tokens(pool: str) -> None:
    ran = dirty(FILE, "layer_first")
    for operation in ("backup", "load"):
        assert ran.count(f"path_rows:{pool}:{operation}:token_granular:layer_first") > 0


def test_a_page_first_pool_has_no_data_pointers_and_goes_by_pages() -> None:
    ran = dirty(FILE, "page_first")
    assert ran.moved("path:", "token_granular") == {}
    assert ran.count("path_rows:index_k:load:per_layer_pf_lf:page_first") > 0


def test_the_same_load_on_a_healthy_build_passes_by_pages() -> None:
    ran = dirty(FILE, "layer_first", 0, "build=[]")
    assert ran.clean, ran.verdict
    assert ran.moved("path:", "token_granular") == {}
