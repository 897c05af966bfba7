"""partial_page_transfers: an amplifier: it sends copies down another path, which is sound."""

from __future__ import annotations

from engine.defects import catalog
from tests.engine.pools.mirrored import Tiers


def test_pieces_cover_a_page_once_and_only_where_tokens_can_be_addressed() -> None:
    for layout, pieces in (
        ("layer_first", [(0, 192), (192, 256)]),
        ("page_first", [(0, 256)]),
    ):
        pool = Tiers(hicache_layout=layout, build=("partial_page_transfers",)).host.pools[0]
        assert pool.moves.pieces.pieces(pool) == pieces


def test_it_names_no_evidence_of_its_own() -> None:
    found = catalog()["partial_page_transfers"]
    assert (found.kind, found.evidence) == ("amplifier", ())
