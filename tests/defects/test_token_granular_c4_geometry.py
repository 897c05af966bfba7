"""token_granular_c4_geometry: real, and dormant until something cuts a page."""

from __future__ import annotations

import pytest

from engine.defects import catalog
from tests.engine.pools.mirrored import PAIRS, Tiers, differing

NAME, CUT = "token_granular_c4_geometry", "partial_page_transfers"


def round_trip(pages: int = 1, **config: object) -> tuple[Tiers, list[str]]:
    tiers = Tiers(**config)
    tiers.scribble(range(7))
    device = list(range(1, pages + 1))
    before = [tiers.bytes_of(page) for page in device]
    host = tiers.back_up(device)
    tiers.scribble(range(7))
    tiers.restore(host, [6 - i for i in range(pages)])
    lost = [differing(was, tiers.bytes_of(6 - i)) for i, was in enumerate(before)]
    return tiers, sorted({name for names in lost for name in names})


@pytest.mark.parametrize("index_k", ["fp8", "bf16"])
@pytest.mark.parametrize(("layout", "io"), PAIRS)
def test_no_configuration_reaches_it_without_a_cut_page(layout: str, io: str, index_k: str) -> None:
    tiers, lost = round_trip(
        2, index_k=index_k, hicache_layout=layout, hicache_io=io, build=(NAME,)
    )
    assert lost == []
    assert not [name for name in tiers.counted("path:") if "token_granular" in name]


@pytest.mark.parametrize("index_k", ["fp8", "bf16"])
def test_layer_first_and_a_cut_page_make_it_fire(index_k: str) -> None:
    tiers, lost = round_trip(index_k=index_k, build=(NAME, CUT))
    assert {"index_k", "c128", "swa"} <= {*lost}
    assert tiers.counted("path_rows:index_k:load:token_granular:") == {
        "path_rows:index_k:load:token_granular:layer_first": 64
    }
    evidence = {event.fields["name"] for event in tiers.events.events}
    assert evidence == {*catalog()[NAME].evidence}


def test_c4_latents_are_what_its_constants_are_right_for() -> None:
    _, lost = round_trip(build=(NAME, CUT))
    assert "c4" not in lost


def test_page_first_has_no_data_pointers_for_it() -> None:
    _, lost = round_trip(hicache_layout="page_first", build=(NAME, CUT))
    assert lost == []


def test_a_cut_page_alone_costs_nothing() -> None:
    tiers, lost = round_trip(3, build=(CUT,))
    assert lost == []
    assert tiers.events.events == []
