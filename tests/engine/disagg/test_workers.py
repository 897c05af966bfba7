"""A queue carries one job at a time; a room keeps to its queue, and keeps up nobody outside it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import clock
from engine.config import EngineConfig
from engine.disagg.pieces import Kind, Piece
from engine.disagg.wire import PostState
from engine.disagg.workers import Job, Workers, queue_rate
from engine.errors import Stalled
from engine.events import EventLog
from engine.runner.step_cost import preset
from tests.engine.disagg.fake_wire import FakeWire

DONE, ERR, CANCELLED = PostState.DONE, PostState.ERR, PostState.CANCELLED
SECOND = 1e9  # bytes that one thread moves in a second, in these tests


def piece(nbytes: float, kind: Kind = "kv") -> Piece:
    return Piece(kind, 0, False, (), nbytes, 0)


def job(room: int, *nbytes: float, chunk: int = 0, last: bool = False) -> Job:
    """A job of one piece of KV for each size."""
    return Job(room, chunk, tuple(map(piece, nbytes)), last)


class Site:
    """Workers over a wire without memory, and what they told, with its time."""

    def __init__(self, wire: FakeWire | None = None, rank: int = 0, **config: Any) -> None:
        self.wire = wire or FakeWire()
        self.events = EventLog(clock.now_ns)
        self.arrived: list[tuple[int, float]] = []  # (room, at)
        self.ended: list[tuple[int, PostState, float]] = []
        self.dead: list[int] = []
        setting = EngineConfig(**{"wire_gb_per_s": SECOND / 1e9, **config})
        self.workers = Workers(
            self.wire, setting, rank, self._piece, self._end, self.dead.__contains__, self.events
        )

    @property
    def order(self) -> list[int]:
        """The rooms of the jobs that have ended, in order."""
        return [room for room, _, _ in self.ended]

    def run(self, *jobs: Job, after: Callable[[], Coroutine[Any, Any, None]] | None = None) -> None:
        """Queue the jobs at time 0, do what comes ``after``, and carry until nothing is left."""

        async def main() -> None:
            self.workers.start()
            for one in jobs:
                self.workers.add(one)
            if after is not None:
                await after()
            while self.workers.busy:
                await clock.sleep(0.01)

        clock.run(main())

    def _piece(self, one: Job, _: Piece) -> None:
        self.arrived.append((one.room, clock.now()))

    def _end(self, one: Job, state: PostState) -> None:
        self.ended.append((one.room, state, clock.now()))


def seconds(site: Site, *jobs: Job) -> float:
    """When the last of the jobs has ended."""
    site.run(*jobs)
    return site.ended[-1][2]


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


def test_one_queue_has_one_post_on_the_wire_at_a_time() -> None:
    site = Site(queue_size=1)
    site.run(job(1, SECOND, SECOND), job(2, SECOND))
    posts = site.wire.posts
    assert all(later >= post.due_s for (_, post), (later, _) in pairwise(posts))


def test_the_chunks_of_a_room_go_in_order() -> None:
    site = Site(queue_size=4)
    site.run(*(job(6, SECOND / (1 + chunk), chunk=chunk, last=chunk == 3) for chunk in range(4)))
    assert site.wire.said == ["6_kv_0_0_0", "6_kv_1_0_0", "6_kv_2_0_0", "6_kv_3_1_0"]


def test_notes_name_the_room_the_kind_the_chunk_and_the_rank() -> None:
    site = Site(rank=1)
    pieces = (piece(1.0), piece(1.0, "state"), piece(1.0, "aux"))
    site.run(Job(7, 2, pieces, last=True))
    assert site.wire.said == ["7_kv_2_1_1", "7_state_1", "7_aux_1"]


def test_a_piece_takes_a_latency_and_its_bytes_at_the_rate_of_its_queue() -> None:
    site = Site(queue_size=1, workers=1)
    site.run(job(1, 2 * SECOND))
    ((at, post),) = site.wire.posts
    nominal = 10e-6 + 2.0
    assert nominal <= post.due_s - at <= nominal * 1.05
    assert site.ended == [(1, DONE, post.due_s)]


def test_equal_seeds_give_equal_times_and_ranks_differ() -> None:
    def times(seed: int, rank: int) -> list[tuple[int, PostState, float]]:
        site = Site(seed=seed, rank=rank)
        site.run(*(job(room, SECOND) for room in range(8)))
        return site.ended

    assert times(1, 0) == times(1, 0)
    assert times(1, 0) != times(1, 1)
    assert times(1, 0) != times(2, 0)


def test_more_queues_with_their_threads_finish_a_backlog_sooner() -> None:
    jobs = [job(room, SECOND) for room in range(16)]
    took = [seconds(Site(queue_size=n, workers=n), *jobs) for n in (1, 2, 4)]
    assert took[0] > 1.9 * took[1] > 3.6 * took[2]


def test_more_workers_finish_a_backlog_sooner() -> None:
    jobs = [job(room, SECOND) for room in range(8)]
    took = [seconds(Site(queue_size=2, workers=n), *jobs) for n in (2, 4, 8)]
    assert took[0] > 1.9 * took[1] > 3.6 * took[2]


@pytest.mark.parametrize("hardware", ["h200", "rtx-pro-6000"])
@pytest.mark.parametrize("queues", [1, 3, 4, 16])
def test_all_queues_together_stay_within_the_link(hardware: str, queues: int) -> None:
    hw = preset(hardware)
    many = EngineConfig(queue_size=queues, workers=64 * queues)
    assert queues * queue_rate(many, hw) == pytest.approx(hw.link_bytes_per_s)


def test_a_queue_has_at_least_one_thread_at_the_rate_of_the_hardware_or_of_the_setting() -> None:
    hw = preset("h200")
    assert queue_rate(EngineConfig(queue_size=4, workers=1), hw) == hw.wire_bytes_per_s
    slow = EngineConfig(queue_size=4, workers=8, wire_gb_per_s=0.5)
    assert queue_rate(slow, hw) == 2 * 0.5e9


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
    assert site.order == [1, 2]
    assert site.ended[1][2] < 2.1


def test_a_refused_piece_ends_its_job_with_the_reason_and_not_the_queue() -> None:
    site = Site(FakeWire(refused=[1]), queue_size=1)
    refused = job(1, SECOND, SECOND)
    site.run(refused, job(2, SECOND))
    assert [(room, state) for room, state, _ in site.ended] == [(1, ERR), (2, DONE)]
    assert refused.why == "outside registered memory"
    assert site.wire.said == ["1_kv_0_0_0", "2_kv_0_0_0"]


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
    tell = site.workers._on_piece

    def told(one: Job, arrived: Piece) -> None:
        seen.append(site.workers.posted(one.room))
        tell(one, arrived)

    site.workers._on_piece = told
    site.run(job(1, SECOND, SECOND))
    assert seen == [1, 1]


def test_a_job_no_longer_counts_when_its_end_is_told() -> None:
    site = Site(queue_size=1)
    left: list[int] = []
    tell = site.workers._on_end

    def told(one: Job, state: PostState) -> None:
        left.append(site.workers.outstanding(one.room))
        tell(one, state)

    site.workers._on_end = told
    site.run(job(1, SECOND), job(1, SECOND, chunk=1))
    assert left == [1, 0]


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
        site.workers._on_end = breaks
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
