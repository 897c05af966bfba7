"""Who of a pair has heard of whose work, and who has not."""

from __future__ import annotations

import numpy as np

from engine.disagg.mail import Mailbox
from tests.engine.shadow.two_sides import TwoSides

JOB, ROOM = object(), 1


def knows(it: TwoSides, stream: int, op: int) -> bool:
    """Whether a stream has heard that an operation is over."""
    said = it.prefill.log[op]
    return bool(it.prefill.clocks.knows(stream, np.array([said.stream]), np.array([said.epoch]))[0])


def works(it: TwoSides, stream: int) -> int:
    """An operation of a stream."""
    return it.prefill.begin("none", "work", stream)


def posts(it: TwoSides, room: int) -> int:
    """A write of a room; its operation."""
    it.post(room, it.kv([2], [5]), f"{room}_kv")
    return len(it.prefill.log) - 1


def test_a_queue_knows_what_the_host_knew_when_it_queued_the_job_and_no_more() -> None:
    it = TwoSides()
    before = works(it, it.prefill.host)
    it.edges.queued(JOB)
    after = works(it, it.prefill.host)
    queue = it.edges.queue(ROOM)
    assert not knows(it, queue, before)
    it.edges.turn(ROOM, JOB)
    assert knows(it, queue, before) and not knows(it, queue, after)


def test_rooms_of_two_queues_do_not_hear_of_each_other() -> None:
    it = TwoSides()
    assert not knows(it, it.edges.queue(2), posts(it, 1))
    assert knows(it, it.edges.queue(3), posts(it, 1))


def test_the_prefill_hears_of_a_write_at_its_job_s_end() -> None:
    it = TwoSides()
    op = posts(it, ROOM)
    assert not knows(it, it.prefill.host, op)
    it.edges.ended(ROOM, JOB)
    assert knows(it, it.prefill.host, op)


def test_the_decode_side_hears_of_a_write_when_it_reads_its_note() -> None:
    it = TwoSides()
    post = it.post(ROOM, it.kv([2], [5]), "1_kv")
    op = len(it.prefill.log) - 1
    behind = posts(it, ROOM)
    it.land(post)
    assert not knows(it, it.decode.host, op)
    it.edges.heard("1_kv")
    assert knows(it, it.decode.host, op) and not knows(it, it.decode.host, behind)


def test_a_note_that_has_not_arrived_tells_nothing() -> None:
    it = TwoSides()
    op = posts(it, ROOM)
    it.edges.heard("1_kv")
    assert not knows(it, it.decode.host, op)


def test_a_revocation_tells_of_the_room_s_writes_and_of_no_later_one_s() -> None:
    it = TwoSides()
    op, later = posts(it, 1), posts(it, 3)
    it.edges.revoked(1)
    assert knows(it, it.decode.host, op) and not knows(it, it.decode.host, later)


def test_a_room_that_posted_nothing_is_revoked_and_nobody_learns_anything() -> None:
    it = TwoSides()
    op = posts(it, 3)
    it.edges.revoked(1)
    assert not knows(it, it.decode.host, op)


def test_of_a_room_that_is_closed_nothing_is_left_to_hear() -> None:
    it = TwoSides()
    op = posts(it, ROOM)
    it.edges.closed(ROOM)
    it.edges.posted(ROOM)  # a late one
    it.edges.revoked(ROOM)
    assert not knows(it, it.decode.host, op)


def test_a_note_that_nobody_read_when_it_came_is_read_by_nobody_later() -> None:
    it = TwoSides()
    it.land(it.post(ROOM, it.kv([2], [5]), "1_kv"))
    op = len(it.prefill.log) - 1
    it.edges.lost("1_kv")
    it.edges.heard("1_kv")
    assert not knows(it, it.decode.host, op)


def test_a_letter_tells_what_its_writer_knew_when_it_was_written() -> None:
    it = TwoSides()
    to_prefill, to_decode = Mailbox(0.0), Mailbox(0.0)
    it.edges.join(to_prefill, to_decode)
    before = works(it, it.decode.host)
    known = to_prefill.sealed()
    after = works(it, it.decode.host)
    to_prefill.opened(known)
    assert knows(it, it.prefill.host, before) and not knows(it, it.prefill.host, after)
    back = works(it, it.prefill.host)
    to_decode.opened(to_decode.sealed())
    assert knows(it, it.decode.host, back)
