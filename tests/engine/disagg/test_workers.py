"""A queue carries one job at a time; a room keeps to its queue, and keeps up nobody outside it."""

from __future__ import annotations

import asyncio

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import clock
from engine.disagg.inproc_wire import InprocWire
from engine.disagg.pieces import Piece
from engine.disagg.wire import PostState, Region, Write
from engine.disagg.workers import Job
from engine.errors import Stalled
from tests.engine.disagg.fake_wire import FakeWire
from tests.engine.disagg.transfer_site import SECOND, Site, job, piece

DONE, ERR, CANCELLED = PostState.DONE, PostState.ERR, PostState.CANCELLED


def test_a_room_waits_for_whatever_is_before_it_in_its_shard() -> None:
    site = Site(queue_size=2, workers=2)
    site.run(job(2, 3 * SECOND), job(4, 0.1 * SECOND))
    (_, _, first), (_, _, second) = site.ended
    assert site.order == [2, 4]
    assert 3.0 < first < second


def test_a_room_of_another_shard_overtakes() -> None:
    site = Site(queue_size=2, workers=2)
    site.run(job(2, 3 * SECOND), job(4, 0.1 * SECOND), job(3, 0.1 * SECOND))
    assert site.order == [3, 2, 4]


def test_one_queue_has_one_job_on_the_wire_at_a_time() -> None:
    site = Site(queue_size=1)
    site.run(job(1, SECOND, SECOND), job(2, SECOND))
    (first, _), (second, last), (third, _) = site.wire.posts
    assert first == second < last.due_s <= third


def test_the_pieces_of_a_job_are_posted_at_once_and_arrive_one_behind_the_other() -> None:
    site = Site(queue_size=1, workers=1)
    arrived: list[tuple[float, float]] = []
    site.on_piece = lambda one, it: arrived.append((it.flash_bytes, clock.now()))
    site.run(job(1, SECOND, 2 * SECOND, 0.0))
    assert [at for at, _ in site.wire.posts] == [0.0, 0.0, 0.0]
    assert [nbytes for nbytes, _ in arrived] == [SECOND, 2 * SECOND, 0.0]
    assert [at for _, at in arrived] == [post.due_s for _, post in site.wire.posts]
    first, second, third = (at for _, at in arrived)
    assert second - first == pytest.approx(2 * first, abs=1e-4)
    assert third - second == pytest.approx(10e-6)  # a latency of its own


def test_the_chunks_of_a_room_go_in_order() -> None:
    site = Site(queue_size=4)
    site.run(*(job(6, SECOND / (1 + chunk), chunk=chunk, last=chunk == 3) for chunk in range(4)))
    assert site.wire.said == ["6_kv_0_0_0", "6_kv_1_0_0", "6_kv_2_0_0", "6_kv_3_1_0"]


def test_notes_name_the_room_the_kind_the_chunk_and_the_rank() -> None:
    site = Site(rank=1)
    pieces = (piece(1.0), piece(1.0, "state"), piece(1.0, "aux"))
    site.run(Job(7, 2, pieces, last=True))
    assert site.wire.said == ["7_kv_2_1_1", "7_state_1", "7_aux_1"]


def test_a_room_that_died_before_its_turn_is_skipped() -> None:
    site = Site(queue_size=1, workers=1)
    site.dead.append(2)
    site.run(job(1, SECOND), job(2, 50 * SECOND), job(3, SECOND))
    assert [(room, state) for room, state, _ in site.ended] == [
        (1, DONE),
        (2, CANCELLED),
        (3, DONE),
    ]
    assert site.ended[-1][2] < 3.0
    assert site.events.counters["skipped_transfers"] == 1


def test_a_room_that_is_revoked_frees_its_queue_at_once() -> None:
    site = Site(queue_size=1, workers=1)

    async def revoke() -> None:
        await clock.sleep(1.0)
        site.wire.revoke(1)

    site.run(job(1, 50 * SECOND, SECOND), job(2, SECOND), after=revoke)
    assert site.ended[0] == (1, CANCELLED, 1.0)
    assert [post.state for _, post in site.wire.posts] == [CANCELLED, CANCELLED, DONE]
    assert site.order == [1, 2]
    assert site.ended[1][2] < 2.1


def test_a_refused_piece_ends_its_job_with_the_reason_and_not_the_queue() -> None:
    site = Site(FakeWire(refused=[1]), queue_size=1)
    refused = job(1, SECOND, SECOND)
    site.run(refused, job(2, SECOND))
    assert [(room, state) for room, state, _ in site.ended] == [(1, ERR), (2, DONE)]
    assert refused.why == "outside registered memory"
    assert [post.state for _, post in site.wire.posts] == [ERR, ERR, DONE]


def test_a_wire_that_is_late_is_asked_until_it_is_done() -> None:
    site = Site(FakeWire(late_s=0.01), queue_size=1, workers=1)
    site.run(job(1, SECOND))
    ((_, post),) = site.wire.posts
    assert 0.01 <= site.ended[0][2] - post.due_s < 0.0101


def test_jobs_count_from_their_queueing_and_as_posted_from_their_turn_until_their_end() -> None:
    site = Site(queue_size=1, workers=1)
    seen: list[tuple[int, int, bool]] = []

    def look() -> None:
        seen.append((site.workers.outstanding(1), site.workers.posted(1), site.workers.busy))

    async def watch() -> None:
        look()
        for _ in range(3):
            await clock.sleep(1.1)
            look()

    site.run(job(1, SECOND), job(1, SECOND, chunk=1), after=watch)
    assert seen == [(2, 0, True), (1, 1, True), (0, 0, False), (0, 0, False)]


def test_a_job_counts_as_posted_between_its_pieces() -> None:
    site = Site(queue_size=1)
    seen: list[int] = []
    site.on_piece = lambda one, arrived: seen.append(site.workers.posted(one.room))
    site.run(job(1, SECOND, SECOND))
    assert seen == [1, 1]


def test_a_job_no_longer_counts_when_its_end_is_told() -> None:
    site = Site(queue_size=1)
    left: list[tuple[int, int]] = []

    def count(one: Job, state: PostState) -> None:
        left.append((site.workers.outstanding(one.room), site.workers.posted(one.room)))

    site.on_end = count
    site.run(job(1, SECOND), job(1, SECOND, chunk=1))
    assert left == [(1, 0), (0, 0)]


def test_what_arrived_is_counted_by_piece_and_by_job() -> None:
    site = Site(FakeWire(refused=[2]))
    site.run(job(1, 1000.4, 2000.0), job(2, 500.0))
    assert site.events.counters == {"transfers": 1, "transfer_bytes": 3000}


def test_idle_queues_are_no_timers() -> None:
    site = Site()

    async def main() -> None:
        site.workers.start()
        await asyncio.Event().wait()

    with pytest.raises(Stalled, match=r"0\.000000 s"):
        clock.run(main())


def test_after_stop_nothing_is_on_the_wire_and_no_task_runs() -> None:
    site = Site(queue_size=1)

    async def main() -> list[str]:
        site.workers.start()
        for room in (1, 2):
            site.workers.add(job(room, 50 * SECOND))
        await clock.sleep(1.0)
        site.workers.stop()
        await clock.sleep(0.0)
        return [task.get_name() for task in asyncio.all_tasks() if "transfers" in task.get_name()]

    assert clock.run(main()) == []
    assert [post.state for _, post in site.wire.posts] == [CANCELLED]
    assert (site.workers.busy, site.ended) == (False, [])


def test_somebody_hears_of_what_ends_a_queue() -> None:
    site = Site(queue_size=1)
    heard: list[str] = []

    def breaks(one: Job, state: PostState) -> None:
        raise ValueError("mine")

    async def main() -> None:
        site.on_end = breaks
        site.workers.on_death = lambda error: heard.append(str(error))
        site.workers.start()
        site.workers.add(job(1, SECOND))
        await clock.sleep(5.0)

    clock.run(main())
    assert heard == ["mine"]


LOADS = st.lists(st.tuples(st.integers(0, 7), st.floats(0.0, SECOND)), min_size=1, max_size=25)


@settings(max_examples=40, deadline=None)
@given(LOADS, st.integers(1, 5), st.lists(st.integers(0, 7), max_size=3))
def test_every_job_ends_once_and_in_the_order_of_its_shard(
    load: list[tuple[int, float]], queues: int, dead: list[int]
) -> None:
    site = Site(queue_size=queues)
    site.dead.extend(dead)
    site.run(*(job(room, nbytes) for room, nbytes in load))
    for shard in range(queues):
        queued = [room for room, _ in load if room % queues == shard]
        assert [room for room in site.order if room % queues == shard] == queued
    assert all((state is CANCELLED) == (room in dead) for room, state, _ in site.ended)


def test_the_bytes_of_a_piece_are_there_when_it_is_told() -> None:
    wire = InprocWire()
    source, target = torch.arange(64, dtype=torch.uint8), torch.zeros(64, dtype=torch.uint8)
    wire.register("prefill", [Region("c4", 0, source, 16)])
    wire.register("decode", [Region("c4", 0, target, 16)])
    site = Site(wire, queue_size=1)
    seen: list[list[int]] = []
    site.on_piece = lambda one, arrived: seen.append(target.tolist())
    moves = tuple(
        Piece("kv", 0, True, (Write(0, (src,), (dst,), 16, 16),), SECOND)
        for src, dst in ((1, 2), (3, 0))
    )
    site.run(Job(1, 0, moves, last=True))
    row, none = source.tolist(), [0] * 16
    assert seen == [
        [*none, *none, *row[16:32], *none],
        [*row[48:], *none, *row[16:32], *none],
    ]


def test_every_job_is_told_from_its_turn_to_its_end() -> None:
    site = Site(queue_size=2, workers=2, rank=1)
    site.dead.append(6)
    site.run(job(2, SECOND), job(4, 2 * SECOND, SECOND, chunk=3), job(6, SECOND))
    told = [event.fields for event in site.events.events if event.kind == "span"]
    assert [(it["track"], it["room"], it["chunk"], it["bytes"]) for it in told] == [
        ("wire 1:0", 2, 0, SECOND),
        ("wire 1:0", 4, 3, 3 * SECOND),
        ("wire 1:0", 6, 0, SECOND),
    ]
    assert [it["state"] for it in told] == ["DONE", "DONE", "CANCELLED"]
    first, second, third = ((it["start_us"], it["end_us"]) for it in told)
    assert first[0] == 0 < first[1] == second[0] < second[1] == third[0] == third[1]
