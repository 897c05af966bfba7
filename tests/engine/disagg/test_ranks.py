"""A rank's k-th operation meets the others' k-th; whoever skips one leaves the others waiting."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import clock
from engine.disagg.ranks import Collective
from engine.errors import Stalled
from engine.events import EventLog


def group(size: int, side: str = "decode") -> tuple[Collective, EventLog]:
    """Ranks of one side, and the history that they write to."""
    events = EventLog(clock.now_ns)
    return Collective(side, size, events), events


def test_the_least_of_every_value_wins() -> None:
    async def main() -> list[list[int]]:
        ranks, _ = group(3)
        mine = [[4, 1, 2], [3, 3, 3], [4, 4, 0]]
        calls = (ranks.all_reduce_min(rank, "poll", values) for rank, values in enumerate(mine))
        return list(await asyncio.gather(*calls))

    assert clock.run(main()) == [[3, 1, 0]] * 3


def test_nobody_goes_on_before_the_last_one_has_come() -> None:
    async def main() -> list[float]:
        ranks, _ = group(2)

        async def rank(number: int) -> float:
            await clock.sleep(0.5 * (number + 1))
            await ranks.all_reduce_min(number, "forward", [])
            return clock.now()

        return list(await asyncio.gather(rank(0), rank(1)))

    assert clock.run(main()) == [1.0, 1.0]


def test_one_rank_alone_goes_on_without_suspending() -> None:
    ranks, _ = group(1)
    for call in (ranks.all_reduce_min(0, "poll", [4, 2]), ranks.all_reduce_min(0, "forward", [])):
        with pytest.raises(StopIteration):
            call.send(None)


@settings(max_examples=50, deadline=None)
@given(
    st.integers(2, 4),
    st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=2), min_size=1, max_size=6),
    st.lists(st.sampled_from([0.0, 0.1, 0.7]), min_size=24, max_size=24),
)
def test_the_kth_of_one_meets_the_kth_of_the_others(
    size: int, rounds: list[list[int]], pauses: list[float]
) -> None:
    async def main() -> list[list[list[int]]]:
        ranks, _ = group(size)

        async def rank(number: int) -> list[list[int]]:
            heard = []
            for k, values in enumerate(rounds):
                await clock.sleep(pauses[(k * size + number) % len(pauses)])
                mine = [value + number for value in values]
                heard.append(await ranks.all_reduce_min(number, "poll", mine))
            return heard

        return list(await asyncio.gather(*map(rank, range(size))))

    assert clock.run(main()) == [rounds] * size


async def skipping(ranks: Collective) -> None:
    """Rank 1 of two skips the second poll, and sleeps."""

    async def patient() -> None:
        await ranks.all_reduce_min(0, "forward", [])
        await clock.sleep(2.0)
        await ranks.all_reduce_min(0, "poll", [4])

    async def skips() -> None:
        await clock.sleep(1.25)
        await ranks.all_reduce_min(1, "forward", [])
        await asyncio.Event().wait()

    await asyncio.gather(patient(), skips())


def test_a_rank_that_skips_leaves_the_others_in_theirs_until_the_clock_stalls() -> None:
    ranks, _ = group(2)
    with pytest.raises(Stalled, match=r"3\.250000 s"):
        clock.run(skipping(ranks))


def test_who_waits_and_who_is_missing_can_be_read_after_the_stall() -> None:
    ranks, _ = group(2)
    with pytest.raises(Stalled):
        clock.run(skipping(ranks))
    assert ranks.waiting() == [
        "rank 0 of decode waits in poll #2 since 3.250 s for "
        "rank 1, which has not come (last: forward #1 at 1.250 s)"
    ]


def test_every_rank_that_is_stuck_has_a_phrase_of_its_own() -> None:
    ranks, _ = group(3, "prefill")

    async def main() -> None:
        await asyncio.gather(*(ranks.all_reduce_min(rank, "forward", []) for rank in (2, 0)))

    with pytest.raises(Stalled):
        clock.run(main())
    assert ranks.waiting() == [
        f"rank {rank} of prefill waits in forward #1 since 0.000 s for "
        "rank 1, which has not come (it never called)"
        for rank in (0, 2)
    ]


def test_where_all_have_met_nobody_waits() -> None:
    ranks, _ = group(2)

    async def main() -> None:
        await asyncio.gather(*(ranks.all_reduce_min(rank, "forward", []) for rank in (0, 1)))

    clock.run(main())
    assert ranks.waiting() == []


def mismatched(
    first: tuple[str, list[int]], second: tuple[str, list[int]]
) -> tuple[list[str], list[dict[str, Any]]]:
    """What two ranks wait for, and what the history says, where they bring different things."""
    ranks, events = group(2)

    async def main() -> None:
        brought = enumerate((first, second))
        await asyncio.gather(*(ranks.all_reduce_min(rank, *what) for rank, what in brought))

    with pytest.raises(Stalled):
        clock.run(main())
    return ranks.waiting(), [e.fields for e in events.events if e.kind == "collective_mismatch"]


def test_another_operation_completes_for_nobody() -> None:
    waiting, told = mismatched(("poll", [1]), ("sizes", [1]))
    assert waiting == [
        "rank 0 of decode waits in poll #1 since 0.000 s for "
        "rank 1, which came to sizes #1 instead at 0.000 s",
        "rank 1 of decode waits in sizes #1 since 0.000 s for "
        "rank 0, which came to poll #1 instead at 0.000 s",
    ]
    assert told == [{"number": 1, "brought": "poll of 1, sizes of 1"}]


def test_another_length_completes_for_nobody() -> None:
    waiting, told = mismatched(("poll", [1, 2]), ("poll", [1]))
    assert waiting == [
        f"rank {rank} of decode waits in poll #1 since 0.000 s for "
        f"rank {1 - rank}, which brought {brought}, at 0.000 s"
        for rank, brought in enumerate(("1 values, not 2", "2 values, not 1"))
    ]
    assert told == [{"number": 1, "brought": "poll of 2, poll of 1"}]


def test_a_rank_is_called_by_an_operation_that_it_has_not_entered() -> None:
    async def main() -> list[list[bool]]:
        ranks, _ = group(2)
        seen = [[ranks.called(0), ranks.called(1)]]
        waiting = asyncio.create_task(ranks.all_reduce_min(0, "forward", []))
        await clock.sleep(0.0)
        seen.append([ranks.called(0), ranks.called(1)])
        await ranks.all_reduce_min(1, "forward", [])
        await waiting
        return [*seen, [ranks.called(0), ranks.called(1)]]

    assert clock.run(main()) == [[False, False], [False, True], [False, False]]


def test_whoever_enters_wakes_exactly_the_ranks_that_have_not() -> None:
    woken: list[tuple[int, int]] = []  # (who entered, who is woken)

    async def main() -> None:
        ranks, _ = group(4)
        entering = 0

        def wake(rank: int) -> None:
            woken.append((entering, rank))

        async def enter(rank: int) -> None:
            nonlocal entering
            entering = rank
            await ranks.all_reduce_min(rank, "forward", [])

        ranks.on_enter = wake
        await asyncio.gather(*(enter(rank) for rank in (2, 0, 3, 1)))

    clock.run(main())
    assert woken == [(2, 0), (2, 1), (2, 3), (0, 1), (0, 3), (3, 1)]


def test_a_rank_that_is_cancelled_in_an_operation_does_not_keep_the_others() -> None:
    async def main() -> bool:
        ranks, _ = group(2)
        first = asyncio.create_task(ranks.all_reduce_min(0, "forward", []))
        await clock.sleep(0.1)
        first.cancel()
        await ranks.all_reduce_min(1, "forward", [])
        await asyncio.wait([first])
        return first.cancelled()

    assert clock.run(main())
