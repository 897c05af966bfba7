"""How long a queue's work takes: its threads' streams, within the link that all queues share."""

from __future__ import annotations

import pytest

from engine.config import EngineConfig
from engine.disagg.wire import PostState
from engine.disagg.workers import Job, queue_rate
from engine.runner.step_cost import preset
from tests.engine.disagg.transfer_site import SECOND, Site, job


def seconds(site: Site, *jobs: Job) -> float:
    """When the last of the jobs has ended."""
    site.run(*jobs)
    return site.ended[-1][2]


def test_a_piece_takes_a_latency_and_its_bytes_at_the_rate_of_its_queue() -> None:
    site = Site(queue_size=1, workers=1)
    site.run(job(1, 2 * SECOND))
    ((at, post),) = site.wire.posts
    nominal = 10e-6 + 2.0
    assert nominal <= post.due_s - at <= nominal * 1.05
    assert site.ended == [(1, PostState.DONE, post.due_s)]


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


@pytest.mark.parametrize("hardware", ["h200", "h200-tcp", "rtx-pro-6000"])
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
