"""What a wire's posts do to pages, and which of them nobody waited for."""

from __future__ import annotations

import pytest

from engine.disagg.wire import Posted
from engine.shadow.chains import DAMAGED, UNWRITTEN
from tests.engine.shadow.two_sides import TwoSides

SRC, DST = [2, 3], [5, 6]
MINE, OTHER = 11, 22  # chains of two prompts


@pytest.fixture
def it() -> TwoSides:
    """The prefill has computed two pages of a prompt."""
    two = TwoSides()
    two.prefill.taken([*SRC, 4])
    for page in SRC:
        two.computed(page, MINE)
    return two


def posted(it: TwoSides, room: int = 1, note: str = "1_kv") -> Posted:
    """The decode side takes pages for a room, and a write to them is under way."""
    it.decode.taken(DST)
    it.told()
    return it.post(room, it.kv(SRC, DST), note)


def given_back(it: TwoSides, by: str = "request 1") -> None:
    it.decode.freed(DST, by)


def names(it: TwoSides) -> list[int | str]:
    return [said["name"] for said in it.seen]


def test_a_room_that_is_waited_for_is_in_order_to_its_end(it: TwoSides) -> None:
    it.land(posted(it))
    it.edges.heard("1_kv")
    given_back(it)
    it.edges.ended(1, None)
    it.prefill.freed(SRC, "request 1")
    assert it.seen == []
    assert [it.chains("c4", page) for page in DST] == [[MINE], [MINE]]


def test_pages_given_back_under_a_write_are_told_with_it_and_with_the_missing_edge(
    it: TwoSides,
) -> None:
    it.now_us = 88
    posted(it)
    given_back(it)
    [said] = it.seen
    assert said == {
        "name": "unordered_access",
        "n": 2,
        "page": 5,
        "state": "IN_FLIGHT_IN",
        "generation": 1,
        "freed": "",
        "owner": "nobody",
        "writer": "wire write of room 1",
        "writer_kind": "transfer",
        "writer_room": 1,
        "writer_at_us": 88,
        "edge": "the release by request 1 did not wait for wire write of room 1",
    }


def test_bytes_that_are_there_before_the_pages_go_were_not_waited_for_either(
    it: TwoSides,
) -> None:
    it.land(posted(it))
    given_back(it)
    assert names(it) == ["unordered_access"]


def test_a_room_that_was_revoked_gives_its_pages_back_in_order(it: TwoSides) -> None:
    post = posted(it)
    it.tags.revoked(1)
    it.tags.ended(post)
    given_back(it)
    assert it.seen == []


def test_a_late_write_leaves_its_prompt_in_the_page_of_whoever_holds_it(it: TwoSides) -> None:
    late = posted(it)
    given_back(it)
    it.decode.taken(DST)
    before = it.decode.book.version[DST].tolist()
    it.land(late)
    group = it.decode.groups["c4", 0]
    assert it.chains("c4", 5) == [MINE]
    assert {*group.take[group.shape.slots_of(5)].tolist()} == {2}
    assert all(now > then for now, then in zip(it.decode.book.version[DST], before, strict=True))


def test_of_a_write_that_failed_on_its_way_what_has_moved_is_there_and_the_rest_is_nobody_s(
    it: TwoSides,
) -> None:
    post = posted(it)
    places = it.rows._places
    of = {place.target.shape.pool: w for w in post.writes if (place := places[w.region])}
    it.tags.torn(post, [of["c4"]], [of["index_k"]])
    it.tags.ended(post)
    held = [it.chains(pool, DST[0]) for pool in ("c4", "index_k", "c128")]
    assert held == [[MINE], [DAMAGED], [UNWRITTEN]]
    it.edges.heard("1_kv")
    given_back(it)
    assert names(it) == ["unordered_access"]  # no note came of it


def test_a_write_that_lands_over_another_room_s_has_two_writers(it: TwoSides) -> None:
    late = posted(it)
    given_back(it)
    it.computed(4, OTHER)
    it.decode.taken(DST)
    it.told()
    its = it.post(2, it.kv([4], [6]))
    it.land(its)
    it.land(late)
    assert names(it) == ["unordered_access", "two_writers_in_flight"]
    assert it.seen[1]["page"] == 6
    assert it.seen[1]["writer"] == "wire write of room 1"
    assert it.seen[1]["edge"] == (
        "wire write of room 1 and wire write of room 2 did not wait for each other"
    )
    assert it.chains("c4", 6) == [MINE]


def test_it_has_them_though_its_queue_has_heard_of_the_other_by_then(it: TwoSides) -> None:
    late = posted(it)
    given_back(it)
    it.decode.taken(DST)
    it.told()
    its = it.post(2, it.kv([4], [6]))
    it.land(its)
    it.edges.ended(2, None)
    it.post(3, it.kv([4], [8]))
    it.land(late)
    assert names(it)[-1] == "two_writers_in_flight"


def test_a_step_that_reads_a_page_while_a_write_is_on_its_way_there_is_found(it: TwoSides) -> None:
    before = it.decode.book.version[DST].tolist()
    late = posted(it)
    assert all(now > then for now, then in zip(it.decode.book.version[DST], before, strict=True))
    own = it.decode.begin("decode", "decode step 1", it.decode.compute)
    it.decode.book.read(own, DST)
    it.land(late)
    assert [said["edge"] for said in it.seen] == [
        "wire write of room 1 did not wait for decode step 1"
    ]


def test_a_write_that_nobody_s_lands_over_has_one_writer(it: TwoSides) -> None:
    late = posted(it)
    given_back(it)
    it.decode.taken(DST)
    it.land(late)
    assert names(it) == ["unordered_access"]


def test_a_write_posted_to_pages_that_were_given_back_since_is_told_too(it: TwoSides) -> None:
    """It was queued before: the prefill knew of nothing."""
    it.decode.taken(DST)
    it.told()
    given_back(it)
    it.post(1, it.kv(SRC, DST))
    [said] = it.seen
    assert said["edge"] == "wire write of room 1 did not wait for the release by request 1"


def test_whoever_reads_what_a_stranger_posts_to_need_not_wait_for_him(it: TwoSides) -> None:
    it.decode.taken(DST)
    given_back(it)
    it.decode.taken(DST)
    own = it.decode.begin("decode", "decode step 1", it.decode.compute)
    it.decode.book.writes(own, DST)
    it.post(1, it.kv(SRC, DST))
    before = len(it.seen)
    read = it.decode.begin("decode", "decode step 2", it.decode.compute)
    assert it.decode.book.reads(read, DST) == []
    assert len(it.seen) == before


def test_pages_that_are_sent_out_of_are_not_free_before_the_job_has_ended(it: TwoSides) -> None:
    posted(it)
    it.prefill.freed(SRC, "request 1")
    [said] = it.seen
    assert (said["name"], said["writer"]) == ("unordered_access", "wire write of room 1")


def test_what_is_under_way_shows_on_both_sides_until_it_ends(it: TwoSides) -> None:
    post = posted(it)
    assert it.prefill.book.state(2) == "IN_FLIGHT_OUT"
    assert it.decode.book.state(5) == "IN_FLIGHT_IN"
    it.land(post)
    assert (it.prefill.book.state(2), it.decode.book.state(5)) == ("VALID", "VALID")


def test_a_post_that_was_refused_ends_and_was_never_under_way(it: TwoSides) -> None:
    it.tags.ended(Posted(1, (), "", 0.0))
    assert not it.decode.book.copies_in.any()


def test_pages_that_are_kept_back_are_in_quarantine_until_they_are_free(it: TwoSides) -> None:
    it.decode.taken(DST)
    it.tags.withheld(tuple(DST))
    assert it.decode.book.state(5) == "QUARANTINE"
    given_back(it)
    it.decode.taken(DST)
    assert it.decode.book.state(5) == "ALLOCATED"


def test_of_a_page_s_writers_the_one_of_another_room_is_named(it: TwoSides) -> None:
    late = posted(it)
    given_back(it)
    it.decode.taken(DST)
    it.land(late)
    assert it.tags.writer("c4", 5, but=2)["writer"] == "wire write of room 1"
    assert it.tags.writer("c4", 5)["edge"] == it.seen[0]["edge"]
    assert it.tags.writer("c4", 9)["writer"] == "nobody"


def test_a_metadata_slot_names_the_room_that_filled_it_last(it: TwoSides) -> None:
    it.now_us = 7
    it.land(it.post(3, it.plan.aux(1, 2)))
    said = it.tags.slot_writer(2)
    assert (said["writer"], said["writer_at_us"]) == ("wire write of room 3", 7)
    assert it.tags.slot_writer(1)["writer_kind"] == "none"
