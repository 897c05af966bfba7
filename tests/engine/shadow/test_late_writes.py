"""A write that lands in somebody else's page is judged by what it destroys there."""

from __future__ import annotations

import pytest

from engine.disagg.mail import TransferInfo
from engine.shadow.room_tags import wire_write
from tests.engine.shadow.hand_over import HandOver

SRC = [2, 3]
TOKENS = 500  # two pages, the last in part: [256, 500), with the last 128 tokens
KV, STATE = "c4, index_k, c128", "swa, c4_state, index_state"


@pytest.fixture
def it() -> HandOver:
    return HandOver()


def failed(it: HandOver, slot: int = 1) -> TransferInfo:
    """Room 1 was given pages 5 and 6, and lost them with its writes still posted."""
    info = it.opened(1, [5, 6], slot)
    it.books.free([5, 6])
    return info


def kv_of_room_1(it: HandOver, info: TransferInfo) -> None:
    it.land(1, it.kv(SRC, info.pages), info, TOKENS)


def state_of_room_1(it: HandOver, info: TransferInfo) -> None:
    it.land(1, it.state(SRC, info, TOKENS), info, TOKENS)


def violation(**fields: int | str) -> dict[str, int | str]:
    """A late write of room 1, into request 102 of room 2 unless said otherwise."""
    usual: dict[str, int | str] = {"victim": "request 102", "victim_room": 2, **wire_write(1)}
    return {"name": "late_write_into_owned_page", **usual, **fields}


def test_a_room_writes_its_own_pages_and_they_count_as_written(it: HandOver) -> None:
    info = it.opened(1, [5, 6])
    it.send(1, SRC, info, TOKENS)
    assert it.seen == [] and it.harmless == 0
    assert [it.pages.rows_written(page) for page in (5, 6)] == [256, 244]


def test_a_write_over_what_another_room_was_sent_names_both(it: HandOver) -> None:
    late = failed(it)
    it.send(2, SRC, it.opened(2, [5, 6], slot=2), TOKENS)
    kv_of_room_1(it, late)
    assert it.seen == [violation(n=2, piece="kv", pools=KV, page=5, generation=2, rows=256 + 244)]
    assert it.harmless == 0


def test_a_write_before_the_other_room_was_sent_anything_destroys_nothing(it: HandOver) -> None:
    late, info = failed(it), it.opened(2, [5, 6])
    kv_of_room_1(it, late)
    it.send(2, SRC, info, TOKENS)
    it.watch.committed(2, info, TOKENS)
    assert it.seen == []
    assert it.harmless == 2


def test_a_write_into_free_pages_destroys_nothing_and_leaves_them_unwritten(it: HandOver) -> None:
    late = failed(it)
    kv_of_room_1(it, late)
    assert it.seen == [] and it.harmless == 2
    it.opened(2, [5, 6])
    assert it.pages.rows_written(5) == 0


def test_a_page_that_decode_fills_loses_the_rows_it_had(it: HandOver) -> None:
    late, info = failed(it), it.opened(2, [9, 6])
    it.decoded(2, info, 256, 296)
    kv_of_room_1(it, late)
    assert it.seen == [violation(n=1, piece="kv", pools=KV, page=6, generation=2, rows=40)]
    assert it.harmless == 1  # page 5 is free


def test_rows_that_complete_no_entry_are_not_in_the_pools_of_a_chunk(it: HandOver) -> None:
    late, info = failed(it), it.opened(2, [9, 6])
    it.decoded(2, info, 256, 259)
    kv_of_room_1(it, late)
    assert it.seen == []
    state_of_room_1(it, late)
    assert it.seen == [violation(n=1, piece="state", pools=STATE, page=6, generation=2, rows=3)]


def test_a_late_window_destroys_nothing_where_only_a_chunk_had_come(it: HandOver) -> None:
    late, info = failed(it), it.opened(2, [5, 6])
    it.land(2, it.kv(SRC, info.pages), info, TOKENS)
    state_of_room_1(it, late)
    assert it.seen == []
    assert it.harmless == 2  # a page and a request slot


def test_a_late_window_destroys_the_window_that_came_and_the_rows_decoded_since(
    it: HandOver,
) -> None:
    late, info = failed(it), it.opened(2, [5, 6], slot=2)
    it.send(2, SRC, info, TOKENS)
    it.decoded(2, info, 500, 503)
    state_of_room_1(it, late)
    assert it.seen == [violation(n=1, piece="state", pools=STATE, page=6, generation=2, rows=247)]


def test_a_slot_with_another_room_s_states_is_judged_alike(it: HandOver) -> None:
    late = failed(it, slot=3)
    it.send(2, SRC, it.opened(2, [8, 9], slot=3), TOKENS)
    state_of_room_1(it, late)
    assert it.seen == [violation(n=1, piece="state", pools="c128_state", page=3, rows=128)]


def test_a_slot_whose_request_has_gone_has_nothing_to_lose(it: HandOver) -> None:
    late = failed(it, slot=3)
    it.send(2, SRC, it.opened(2, [8, 9], slot=3), TOKENS)
    it.books.free([8, 9])
    state_of_room_1(it, late)
    assert it.seen == []


def test_pages_of_two_owners_make_two_violations(it: HandOver) -> None:
    late = failed(it)
    it.decoded(2, it.opened(2, [5]), 0, 8)
    it.decoded(3, it.opened(3, [6]), 0, 12)
    kv_of_room_1(it, late)
    assert [(said["victim"], said["victim_room"], said["rows"]) for said in it.seen] == [
        ("request 102", 2, 8),
        ("request 103", 3, 12),
    ]


def test_a_victim_that_is_no_room_s_has_room_0(it: HandOver) -> None:
    late = failed(it)
    it.books.hand_out([5], "cache")
    it.pages.restored([5])
    kv_of_room_1(it, late)
    assert it.seen == [
        violation(
            n=1, piece="kv", pools=KV, page=5, generation=2, rows=256, victim="cache", victim_room=0
        )
    ]


def test_the_victim_s_own_comparison_sees_it_too(it: HandOver) -> None:
    late, info = failed(it), it.opened(2, [5, 6])
    it.send(2, [4, 7], info, TOKENS)
    kv_of_room_1(it, late)
    it.watch.committed(2, info, TOKENS)
    assert [said["name"] for said in it.seen] == [
        "late_write_into_owned_page",
        *["room_bytes_differ"] * 3,
    ]


def test_a_metadata_slot_is_not_of_a_page(it: HandOver) -> None:
    late = failed(it)
    it.land(1, it.plan.aux(1, late.aux_index), late, TOKENS)
    assert it.seen == [] and it.harmless == 0


def test_pages_that_wait_for_their_writer_are_its_own(it: HandOver) -> None:
    info = it.opened(1, [5, 6])  # failed, and kept until the writer is done
    kv_of_room_1(it, info)
    assert it.seen == [] and it.harmless == 0


def kv_to_8_and_9(it: HandOver) -> None:
    """Room 1 has pages 5 and 6, still its own, and its chunk is sent elsewhere."""
    info = it.opened(1, [5, 6])
    it.land(1, it.kv(SRC, [8, 9]), info, TOKENS)


def test_a_page_that_never_was_the_room_s_is_judged_as_one_that_it_lost(it: HandOver) -> None:
    it.send(2, SRC, it.opened(2, [8, 9], slot=2), TOKENS)
    kv_to_8_and_9(it)
    assert it.seen == [violation(n=2, piece="kv", pools=KV, page=8, generation=1, rows=256 + 244)]
    assert [it.pages.rows_written(page) for page in (5, 6)] == [0, 0]


def test_a_page_that_never_was_anybody_s_has_nothing_to_lose(it: HandOver) -> None:
    kv_to_8_and_9(it)
    assert it.seen == [] and it.harmless == 2


def test_a_window_sent_elsewhere_is_judged_alike(it: HandOver) -> None:
    it.send(2, SRC, it.opened(2, [8, 9], slot=2), TOKENS)
    info = it.opened(1, [5, 6])
    it.land(1, it.plan.state([3], [9], 1, info.req_slot), info, TOKENS)
    assert it.seen == [violation(n=1, piece="state", pools=STATE, page=9, generation=1, rows=244)]
