"""host_mirror_sized_as_fp8: bf16 index keys lose the rows that an fp8 page has no room for."""

from __future__ import annotations

import pytest

from engine.defects import catalog
from engine.shapes import geometry_of
from tests.engine.pools.mirrored import PAIRS, Tiers, round_trip

NAME = "host_mirror_sized_as_fp8"


@pytest.mark.parametrize(("layout", "io"), PAIRS)
def test_bf16_index_keys_and_nothing_else_come_back_damaged(layout: str, io: str) -> None:
    tiers = Tiers(index_k="bf16", hicache_layout=layout, hicache_io=io, build=(NAME,))
    assert round_trip(tiers) == ["index_k"]
    assert tiers.counted("restored_differs:") == {"restored_differs:index_k": 1}
    evidence = {event.fields["name"] for event in tiers.events.events}
    assert evidence == {*catalog()[NAME].evidence}


def test_entries_0_to_32_survive_and_33_to_63_are_the_page_s_last_holder_s() -> None:
    tiers = Tiers(index_k="bf16", build=(NAME,))
    tiers.scribble(range(7))
    keys = tiers.device.index_k.pages.view(7, 64, 256)
    before = keys[1].clone()
    host = tiers.back_up([1])
    tiers.scribble(range(7))
    stranger = keys[4].clone()
    tiers.restore(host, [4])
    same = (keys[4] == before).all(dim=1).nonzero().flatten().tolist()
    assert same == list(range(33))
    assert (keys[4, 33:] == stranger[33:]).all()


def test_fp8_index_keys_are_sized_right_by_the_same_mistake() -> None:
    tiers = Tiers(index_k="fp8", build=(NAME,))
    assert round_trip(tiers) == []
    assert tiers.events.events == []


def test_the_same_load_is_clean_on_a_healthy_build() -> None:
    tiers = Tiers(index_k="bf16")
    assert round_trip(tiers) == []
    assert tiers.events.events == []


def test_the_geometry_report_shows_8448_against_16384() -> None:
    found = geometry_of(Tiers(index_k="bf16", build=(NAME,)).config)
    wrong = [(row.pool, row.tier, row.item_bytes) for row in found if not row.agrees]
    assert wrong == [("index_k", "host", 8_448)]
    assert [row.item_bytes for row in found if row.pool == "index_k"] == [16_384, 8_448]


def test_with_cut_pages_rows_of_unequal_planes_still_go_whole() -> None:
    tiers = Tiers(index_k="bf16", build=(NAME, "partial_page_transfers"))
    assert round_trip(tiers) == ["index_k"]
    assert tiers.counted("path_rows:index_k:load:token") == {}
