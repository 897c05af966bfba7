"""token_granular_c4_geometry: real, and dormant until something cuts a page."""

from __future__ import annotations

import pytest

from engine.defects import catalog
from tests.engine.pools.mirrored import PAIRS, Tiers, round_trip

NAME, CUT = "token_granular_c4_geometry", "partial_page_transfers"


@pytest.mark.parametrize("index_k", ["fp8", "bf16"])
@pytest.mark.parametrize(("layout", "io"), PAIRS)
def test_no_configuration_reaches_it_without_a_cut_page(layout: str, io: str, index_k: str) -> None:
    tiers = Tiers(index_k=index_k, hicache_layout=layout, hicache_io=io, build=(NAME,))
    assert round_trip(tiers, 2) == []
    assert not [name for name in tiers.counted("path:") if "token_granular" in name]


@pytest.mark.parametrize("index_k", ["fp8", "bf16"])
def test_layer_first_and_a_cut_page_make_it_fire(index_k: str) -> None:
    tiers = Tiers(index_k=index_k, build=(NAME, CUT))
    assert {"index_k", "c128", "swa"} <= {*round_trip(tiers)}
    assert tiers.counted("path_rows:index_k:load:token_granular:") == {
        "path_rows:index_k:load:token_granular:layer_first": 64
    }
    evidence = {event.fields["name"] for event in tiers.events.events}
    assert evidence == {*catalog()[NAME].evidence}


def test_c4_latents_are_what_its_constants_are_right_for() -> None:
    assert "c4" not in round_trip(Tiers(build=(NAME, CUT)))


def test_page_first_has_no_data_pointers_for_it() -> None:
    assert round_trip(Tiers(hicache_layout="page_first", build=(NAME, CUT))) == []


def test_a_cut_page_alone_costs_nothing() -> None:
    tiers = Tiers(build=(CUT,))
    assert round_trip(tiers, 3) == []
    assert tiers.events.events == []
