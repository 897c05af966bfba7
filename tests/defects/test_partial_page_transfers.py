"""partial_page_transfers: an amplifier: it sends copies down another path, which is sound."""

from __future__ import annotations

import pytest

from engine.defects import catalog
from tests.engine.pools.mirrored import Tiers


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
