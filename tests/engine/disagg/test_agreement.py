"""What ranks agree on while they see unlike things, and what agreeing costs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from engine import clock
from engine.disagg.mail import Message, Tag
from engine.disagg.pair import Pair
from engine.disagg.rooms import Cause, KVPoll
from engine.errors import RoomFailed
from tests.engine.disagg import pairs
from tests.engine.disagg.test_dying import explode
from tests.engine.disagg.test_hand_over import LONG, asked, setting
from tests.engine.disagg.tokens_only import play
from tests.engine.sched.fakes import prompt


def test_a_timeout_of_one_rank_alone_is_counted_and_its_client_hears_of_it() -> None:
    async def story(pair: Pair) -> None:
        handle = pair.submit(prompt(1, 300), 3)
        pair.prefill[1].role.workers.latency_s = 9.0  # type: ignore[attr-defined]
        with pytest.raises(RoomFailed, match="timed out in WaitingForInput"):
            await pairs.read(handle)
        await pairs.rest(pair)

    pair = play(setting(tp=2, waiting_timeout=2.0), story)
    assert pair.events.counters["waiting_timeouts"] == pair.events.counters["rooms_failed"] == 1
    assert {room.why for room in pair.room_records()} == {Cause.LATE.words}


def test_what_arrives_while_ranks_agree_on_a_timeout_is_no_fault_of_it() -> None:
    async def story(pair: Pair) -> None:
        handle = pair.submit(prompt(1, 300), 3)
        pair.prefill[1].role.workers.latency_s = 9.0  # type: ignore[attr-defined]
        role, lane = pair.decode[1].role, pair.lanes[1]
        poll = role._poll  # type: ignore[attr-defined]

        def and_then_it_lands(each: Any) -> KVPoll:
            state: KVPoll = poll(each)
            if state is KVPoll.FAILED:
                lane.wire._arrived += ["1_kv_0_1_1", "1_state_1", "1_aux_1"]  # type: ignore[attr-defined]
            return state

        role._poll = and_then_it_lands  # type: ignore[attr-defined]
        with pytest.raises(RoomFailed):
            await pairs.read(handle)
        await pairs.rest(pair)

    play(setting(tp=2, waiting_timeout=2.0), story)


def test_an_abort_that_is_heard_while_ranks_agree_on_a_success_is_answered() -> None:
    async def story(pair: Pair) -> None:
        held: list[Message] = []
        sent = [lane.to_prefill.send for lane in pair.lanes]

        def hold(rank: int, message: Message) -> None:
            if message.tag is not Tag.ABORT:
                sent[rank](message)
            elif rank == 0:
                held.append(message)
            else:  # slower still
                asyncio.get_running_loop().call_later(2.0, sent[rank], message)

        for lane in pair.lanes:
            lane.to_prefill.send = partial(hold, lane.rank)  # type: ignore[method-assign]
        role: Any = pair.prefill[0].role
        stand = role._stand

        def and_then_it_is_heard(each: Any) -> Any:
            stands = stand(each)
            if stands.poll == KVPoll.SUCCESS and held:
                asyncio.get_running_loop().call_soon(role._hear, held.pop())
            return stands

        role._stand = and_then_it_is_heard
        handle = pair.submit(prompt(1, 1000), 5)
        await clock.sleep(0.1)
        handle.abort()
        assert await pairs.read(handle) == []
        await clock.sleep(5.0)
        assert not pair.decode[0].role.open  # type: ignore[attr-defined]

    play(setting(tp=2, deferred_release=True, wire_gb_per_s=0.02), story)


@pytest.mark.parametrize("most", range(1, 16))
def test_ranks_that_hear_of_a_failure_at_unlike_moments_stay_together(most: int) -> None:
    """Pages come free for the second room about when the prefill gives it up."""

    async def story(pair: Pair) -> None:
        pair.lanes[1].to_decode.latency_s = 0.02
        first = pair.submit(prompt(LONG[0], 300), most)
        second = pair.submit(prompt(LONG[1], 300), 5)
        assert len(await pairs.read(first)) == most
        with suppress(RoomFailed):
            await pairs.read(second)
        await asked(pair, prompt(LONG[2], 300), 5)
        await pairs.rest(pair)

    tight = {"decode_pool_pages": 2, "bootstrap_timeout": 0.12, "deferred_release": True}
    play(setting(tp=2, wire_gb_per_s=1.0, **tight), story)


def polled(pair: Pair, side: str) -> list[tuple[str, int]]:
    """Names and lengths of what the first rank of a side reduces, as it does so."""
    ranks, seen = pair._meet[side], []
    reduce = ranks.all_reduce_min

    async def noted(rank: int, name: str, values: Sequence[int]) -> list[int]:
        if rank == 0:
            seen.append((name, len(values)))
        return await reduce(rank, name, values)

    ranks.all_reduce_min = noted  # type: ignore[method-assign]
    return seen


@pytest.mark.parametrize("side", ["prefill", "decode"])
def test_a_poll_is_as_long_as_the_rooms_that_can_change_however_many_wait(side: str) -> None:
    async def story(pair: Pair) -> None:
        seen = polled(pair, side)
        await asyncio.gather(*(asked(pair, prompt(seed, 300), 1) for seed in range(30)))
        assert max(n for name, n in seen if name == "poll") <= 3 * (2 + 2)

    play(setting(tp=2, metadata_slots=2), story)


@pytest.mark.parametrize("tp", [1, 2])
def test_rooms_that_wait_for_a_dead_prefill_fail_at_one_moment(tp: int) -> None:
    async def story(pair: Pair) -> None:
        handles = [pair.submit(prompt(seed, 300), 5) for seed in range(20)]
        pair.prefill[0].runner.launch = explode  # type: ignore[assignment,method-assign]
        ended = await asyncio.gather(*map(pairs.read, handles), return_exceptions=True)
        assert {type(each) for each in ended} == {RoomFailed}
        assert clock.now() == pytest.approx(10.0)

    pair = play(setting(tp=tp, metadata_slots=2), story)
    assert {room.why for room in pair.room_records()} == {Cause.LOST.words}
    assert pair.events.counters["rooms_failed"] == 20
