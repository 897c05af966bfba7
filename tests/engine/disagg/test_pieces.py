"""Pieces: every page of every pool once, in wire order, and what each of them weighs."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.config import EngineConfig
from engine.disagg.metadata import MetadataBuffers
from engine.disagg.pieces import Piece, Plan, layouts_of, regions_of, window_pages
from engine.disagg.wire import Region
from engine.events import EventLog
from engine.pools.device import DevicePools, SizedByLayout, allocate

POOLS = ["c4", "index_k", "c128", "swa", "c4_state", "index_state", "c128_state"]
ORDER = ["c4", "index_k", "c128", *["swa"] * 4, "c4_state", "index_state", "c128_state", "aux"]
SIZES = {"c4": 37_440, "index_k": 8_448, "c128": 1_728, "swa": 149_760}
SIZES |= {"c4_state": 65_536, "index_state": 16_384, "c128_state": 524_288, "aux": 64}


def side() -> tuple[DevicePools, list[Region]]:
    """The pools of four pages and two requests, and their regions."""
    pools = allocate(EngineConfig(pool_pages=4, max_running=2), SizedByLayout())
    return pools, regions_of(pools, MetadataBuffers(2))


SIDE = side()


def plan(events: EventLog | None = None, **peer: int) -> Plan:
    """A plan between two sides that are alike, but for ``peer``."""
    pools, regions = SIDE
    alike = {name: layout.page_bytes for name, layout in layouts_of(pools)}
    return Plan(regions, {**alike, **peer}, events or EventLog(lambda: 0))


def pools_of(piece: Piece) -> list[str]:
    """The pool of each write."""
    return [SIDE[1][write.region].pool for write in piece.writes]


def test_regions_are_layer_by_layer_in_wire_order_and_the_slots_come_last() -> None:
    _, regions = side()
    assert [region.pool for region in regions] == ORDER
    assert [region.layer for region in regions if region.pool == "swa"] == [0, 1, 2, 3]


def test_an_item_is_a_page_of_a_layer_a_request_s_states_or_a_slot() -> None:
    _, regions = side()
    assert {region.pool: region.item_len for region in regions} == SIZES
    items = [len(region.memory) / region.item_len for region in regions]
    assert items == [5] * (len(items) - 2) + [3, 3]


def test_what_is_written_to_a_region_is_in_the_pool() -> None:
    pools, regions = side()
    for region in regions[:-1]:
        (pool,) = (pool for pool in pools.pools if pool.name == region.pool)
        region.memory[2 * region.item_len : 3 * region.item_len] = 7
        pages = pool.layers[region.layer].pages
        assert pages[2].eq(7).all() and not pages[1].any(), region.pool
        assert region.memory.is_contiguous()


def test_a_layer_s_region_holds_no_other_layer() -> None:
    pools, regions = side()
    second = next(region for region in regions if (region.pool, region.layer) == ("swa", 1))
    second.memory.fill_(7)
    assert [bool(view.pages.any()) for view in pools.swa] == [False, True, False, False]


def test_a_peer_is_told_each_pool_once_in_wire_order_and_no_slots() -> None:
    pools, _ = side()
    assert [name for name, _ in layouts_of(pools)] == POOLS
    assert dict(layouts_of(pools))["swa"].layers == 4


@given(st.data())
def test_pieces_of_consecutive_chunks_cover_every_page_once_in_wire_order(
    data: st.DataObject,
) -> None:
    pages = data.draw(st.integers(1, 40))
    src = data.draw(st.permutations(range(1, pages + 1)))
    dst = data.draw(st.permutations(range(1, pages + 1)))
    cuts = data.draw(st.lists(st.integers(0, pages), max_size=5).map(sorted))
    made, covered = plan(), dict[int, list[tuple[int, int]]]()
    for chunk, (a, b) in enumerate(pairwise([0, *cuts, pages])):
        piece = made.kv(chunk, b == pages, src[a:b], dst[a:b])
        assert pools_of(piece) == (["c4", "index_k", "c128"] if b > a else [])
        for write in piece.writes:
            pairs = zip(write.src, write.dst, strict=True)
            covered.setdefault(write.region, []).extend(pairs)
    assert covered == {region: list(zip(src, dst, strict=True)) for region in range(3)}


def test_kv_moves_whole_items_as_far_apart_as_each_side_has_them() -> None:
    piece = plan(index_k=16_384).kv(0, False, [3, 1], [2, 4])
    lens = [(write.src_len, write.dst_len) for write in piece.writes]
    assert lens == [(37_440, 37_440), (8_448, 16_384), (1_728, 1_728)]
    assert {(write.src, write.dst) for write in piece.writes} == {((3, 1), (2, 4))}


def test_a_piece_says_which_chunk_it_is_and_whether_it_is_the_last() -> None:
    first, second = plan().kv(0, False, [1], [1]), plan().kv(1, True, [2], [2])
    assert [(p.kind, p.chunk, p.last) for p in (first, second)] == [
        ("kv", 0, False),
        ("kv", 1, True),
    ]


@pytest.mark.parametrize(("src", "dst"), [([1, 2, 3], [4]), ([1], [4, 2, 3])])
def test_of_lists_that_differ_the_shorter_goes_and_the_rest_is_counted(
    src: list[int], dst: list[int]
) -> None:
    events = EventLog(lambda: 0)
    piece = plan(events).kv(0, True, src, dst)
    assert {(write.src, write.dst) for write in piece.writes} == {((1,), (4,))}
    assert events.counters == {"truncated_pages": 2}


def test_lists_of_one_length_are_not_truncated() -> None:
    events = EventLog(lambda: 0)
    made = plan(events)
    made.kv(0, True, [1, 2], [3, 4])
    made.state([2], [4], 1, 2)
    assert events.counters == {"truncated_pages": 0}


def test_state_is_the_window_by_page_and_c128_s_states_by_request() -> None:
    piece = plan().state([3, 1], [2, 4], src_slot=1, dst_slot=2)
    assert pools_of(piece) == ORDER[3:-1]
    *paged, by_request = piece.writes
    assert {(write.src, write.dst) for write in paged} == {((3, 1), (2, 4))}
    assert (by_request.src, by_request.dst) == ((1,), (2,))
    assert (piece.kind, piece.last) == ("state", True)


def test_aux_is_one_slot() -> None:
    piece = plan().aux(1, 2)
    (write,) = piece.writes
    assert pools_of(piece) == ["aux"]
    assert (write.src, write.dst, write.src_len, write.dst_len) == ((1,), (2,), 64, 64)
    assert piece.flash_bytes == 64.0


def test_a_page_stands_for_as_many_layers_as_flash_has() -> None:
    piece = plan().kv(0, True, [1], [1])
    assert piece.flash_bytes == 37_440 * 21 + 8_448 * 21 + 1_728 * 20


def test_the_states_stand_for_flash_s_layers_too() -> None:
    piece = plan().state([1], [1], 1, 1)
    assert piece.flash_bytes == 149_760 * 43 + (65_536 + 16_384) * 21 + 524_288 * 20


@pytest.mark.parametrize(
    ("tokens", "pages"),
    [(1, [0]), (128, [0]), (256, [0]), (257, [0, 1]), (383, [0, 1]), (384, [1]), (8192, [31])],
)
def test_the_window_is_in_the_pages_of_the_last_128_tokens(tokens: int, pages: list[int]) -> None:
    assert list(window_pages(tokens)) == pages


@given(st.integers(1, 100_000))
def test_the_window_s_pages_are_those_of_its_tokens(tokens: int) -> None:
    held = dict.fromkeys(at // 256 for at in range(max(0, tokens - 128), tokens))
    assert list(window_pages(tokens)) == list(held)
