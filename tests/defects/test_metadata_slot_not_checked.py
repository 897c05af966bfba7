"""metadata_slot_not_checked: what a slot says is taken by whoever holds it, from whomever it is."""

from __future__ import annotations

from engine.defects import catalog, seams
from engine.disagg.metadata import MetadataBuffers
from engine.disagg.questions import Arrival
from tests.defects.quiet_pair import INSIDE, known, one_after_another

NAME = "metadata_slot_not_checked"


def found_by_the_next_room(build: list[str], used: bool) -> Arrival:
    """Room 2 has a slot before its first token is written; room 1 may have had it before."""
    slots = MetadataBuffers(1)
    slot = slots.take()
    assert slot is not None
    if used:
        slots.write(slot, 1, 65, 0, 0)
    slots.give(slot)
    assert slots.take() == slot
    seams(build).metadata_take().take(slots, slot)
    return seams(build).metadata_check().arrival(slots.read(slot).room, 2)


def test_what_another_room_left_is_taken() -> None:
    assert found_by_the_next_room([NAME], used=True) is Arrival.MINE
    assert found_by_the_next_room([], used=True) is Arrival.NOT_YET


def test_a_slot_that_was_never_used_is_waited_for() -> None:
    assert found_by_the_next_room([NAME], used=False) is Arrival.NOT_YET


def test_a_reply_begins_with_another_request_s_token_and_the_tag_says_whose() -> None:
    served, right = one_after_another([NAME]), known()
    assert {*served.names} == {*catalog()[NAME].evidence}
    assert [(it["room"], it["tag"]) for it in served.evidence] == [(2, 1), (3, 2)]
    assert served.said[0] == right[0]
    for said, mine, before in zip(served.said[1:], right[1:], right, strict=False):
        assert said[0] == before[0] != mine[0]


def test_a_healthy_build_waits_for_the_token_that_is_behind() -> None:
    served = one_after_another([])
    assert (served.said, served.evidence) == (known(), [])
    assert served.counters["metadata_waits"] == len(INSIDE)


def test_with_a_slot_for_every_room_nothing_is_wrong() -> None:
    served = one_after_another([NAME], metadata_slots=8)
    assert (served.said, served.evidence) == (known(), [])
