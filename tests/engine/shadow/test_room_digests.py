"""A room's pages are compared position by position, and a pool that differs is named."""

from __future__ import annotations

import pytest

from engine.disagg.mail import TransferInfo
from engine.shadow.mirrors import unpadded
from tests.engine.shadow.hand_over import CHUNKED, POOLS, HandOver

TOKENS = 700  # three pages, the last in part: [512, 700), with the last 128 tokens
PAGES = [7, 5, 9]


@pytest.fixture
def it() -> HandOver:
    return HandOver()


def sent(it: HandOver, room: int = 1) -> TransferInfo:
    """A room of three pages, which have other numbers over there."""
    info = it.opened(room, PAGES, slot=2)
    it.send(room, [2, 3, 4], info, TOKENS)
    return info


def test_a_room_that_arrives_as_it_left_is_counted_and_nothing_else(it: HandOver) -> None:
    it.watch.committed(1, sent(it), TOKENS)
    assert it.events.counters["rooms_checked"] == 1
    assert it.seen == []


def test_a_run_in_which_no_room_is_taken_says_that_it_checked_none(it: HandOver) -> None:
    sent(it)
    assert it.events.counters["rooms_checked"] == 0


@pytest.mark.parametrize("pool", POOLS)
def test_a_bit_that_differs_names_its_pool_position_and_page(it: HandOver, pool: str) -> None:
    info = sent(it)
    at, position = (2, 0) if pool == "c128_state" else (9, 2)
    it.pool(pool).layers[-1].pages[at, 9] ^= 1
    it.watch.committed(1, info, TOKENS)
    assert it.seen == [
        {
            "name": "room_bytes_differ",
            "n": 1,
            "room": 1,
            "pool": pool,
            "position": position,
            "page": at,
            **({} if pool == "c128_state" else {"generation": 1}),
        }
    ]


def test_every_page_that_differs_is_counted_once_and_the_first_is_named(it: HandOver) -> None:
    info = sent(it)
    for page in (9, 5):
        it.pool("c4").layers[0].pages[page, 40:60] ^= 1
    it.watch.committed(1, info, TOKENS)
    [said] = it.seen
    assert (said["n"], said["position"], said["page"]) == (2, 1, 5)


def test_two_pages_that_change_places_differ_though_all_bytes_are_there(it: HandOver) -> None:
    info = it.opened(1, PAGES)
    it.watch.stored(1, 0, [2, 3, 4])
    it.watch.stored_state(1, [2], [4], 1)
    it.land(1, it.kv([3, 2, 4], PAGES), info, TOKENS)
    it.land(1, it.state([2, 3, 4], info, TOKENS), info, TOKENS)
    it.watch.committed(1, info, TOKENS)
    assert [(said["pool"], said["n"], said["position"]) for said in it.seen] == [
        (pool, 2, 0) for pool in CHUNKED
    ]


def test_two_rows_of_a_page_that_change_places_differ(it: HandOver) -> None:
    info = sent(it)
    page = it.pool("index_k").layers[0].rows("value")[5]
    page[[3, 4]] = page[[4, 3]]
    it.watch.committed(1, info, TOKENS)
    assert [said["pool"] for said in it.seen] == ["index_k"]


def test_rows_behind_the_prompt_s_end_are_compared_too(it: HandOver) -> None:
    info = sent(it)
    it.pool("c4").layers[0].rows("value")[9, -1] ^= 1
    it.watch.committed(1, info, TOKENS)
    assert [said["position"] for said in it.seen] == [2]


def test_padding_is_no_data_and_may_differ(it: HandOver) -> None:
    info = sent(it)
    for pool in it.dst.pools:
        for view in pool.layers:
            view.pages[:, unpadded(view).pages.shape[1] :] ^= 1
    it.watch.committed(1, info, TOKENS)
    assert it.seen == []


def test_a_position_that_was_never_sent_differs(it: HandOver) -> None:
    info = it.opened(1, PAGES)
    it.watch.stored(1, 0, [2, 3])
    it.watch.stored_state(1, [2], [4], 1)
    it.land(1, it.kv([2, 3], PAGES[:2]), info, TOKENS)
    it.land(1, it.state([2, 3, 4], info, TOKENS), info, TOKENS)
    it.watch.committed(1, info, TOKENS)
    assert [(said["pool"], said["n"], said["position"]) for said in it.seen] == [
        (pool, 1, 2) for pool in CHUNKED
    ]


def test_chunks_are_put_together_by_position(it: HandOver) -> None:
    info = it.opened(1, PAGES)
    for start, src in ((0, [2, 3]), (2, [4])):
        it.watch.stored(1, start, src)
        it.land(1, it.kv(src, PAGES[start : start + len(src)]), info, TOKENS)
    it.watch.stored_state(1, [2], [4], 1)
    it.land(1, it.state([2, 3, 4], info, TOKENS), info, TOKENS)
    it.watch.committed(1, info, TOKENS)
    assert it.seen == []


def test_what_the_prefill_page_becomes_after_it_was_sent_is_nobody_s_business(
    it: HandOver,
) -> None:
    info = sent(it)
    it.src.poison([2, 3, 4])
    it.watch.committed(1, info, TOKENS)
    assert it.seen == []


def test_pages_behind_the_prompt_are_not_compared(it: HandOver) -> None:
    info = it.opened(1, [*PAGES, 11])
    it.send(1, [2, 3, 4], info, TOKENS)
    it.watch.committed(1, info, TOKENS)
    assert it.seen == []


def test_a_window_across_two_pages_is_compared_in_both(it: HandOver) -> None:
    tokens = 600  # its last 128 tokens begin in the second page
    info = it.opened(1, PAGES)
    it.send(1, [2, 3, 4], info, tokens)
    it.pool("swa").layers[0].pages[[7, 5], 9] ^= 1
    it.watch.committed(1, info, tokens)
    assert [(said["pool"], said["n"], said["position"]) for said in it.seen] == [("swa", 1, 1)]


def test_both_sides_digests_are_kept_by_position_layer_and_page(it: HandOver) -> None:
    it.watch.committed(1, sent(it), TOKENS)
    rows = {
        stage: {
            (row.pool, row.layer, row.position): row
            for row in it.watch.digests
            if row.stage == stage
        }
        for stage in ("post_store", "post_transfer")
    }
    assert len(it.watch.digests) == sum(map(len, rows.values())) == 2 * (3 * 3 + 4 + 1 + 1 + 1)
    one, other = rows["post_store"]["c4", 0, 1], rows["post_transfer"]["c4", 0, 1]
    assert (one.room, one.page, other.page) == (1, 3, 5)
    assert {at: row.digest for at, row in rows["post_store"].items()} == {
        at: row.digest for at, row in rows["post_transfer"].items()
    }


def test_a_room_that_never_ends_keeps_what_was_sent_of_it(it: HandOver) -> None:
    it.watch.stored(3, 1, [4])
    assert [(row.room, row.stage, row.pool, row.position) for row in it.watch.digests] == [
        (3, "post_store", pool, 1) for pool in ("c4", "index_k", "c128")
    ]


def test_another_layout_over_there_is_seen_in_its_pool() -> None:
    it = HandOver(decode_index_k="bf16")
    it.watch.committed(1, sent(it), TOKENS)
    assert {said["pool"] for said in it.seen} == {"index_k"}
