"""What a pair makes of a request, over a model that computes nothing: chunks, prefixes, ends."""

from __future__ import annotations

import asyncio
import gc
import math
from dataclasses import replace

import pytest

from engine import clock
from engine.config import EngineConfig
from engine.disagg.pair import Pair
from engine.disagg.records import RoomRecord
from engine.disagg.rooms import Cause
from engine.errors import EngineError, RequestRefused, RoomFailed
from tests.engine.disagg import aborts, pairs, schedules
from tests.engine.disagg.tokens_only import play
from tests.engine.sched.fakes import next_token, prompt, reply

TP = pytest.mark.parametrize("tp", [1, 2])
ENDS_AT_ONCE = next(s for s in range(999) if next_token(prompt(s, 300)) == 257)
LONG = [s for s in range(99) if len(reply(prompt(s, 300), 40)) == 40]  # these run to max_tokens


def setting(**toggles: object) -> EngineConfig:
    """Room for everybody; a page of 256 tokens takes some 10 ms."""
    return schedules.setting(0, **({"pool_pages": 40, "decode_pool_pages": 0} | toggles))


async def asked(pair: Pair, tokens: list[int], most: int) -> None:
    """One request, whose reply is the known one."""
    assert await pairs.read(pair.submit(tokens, most)) == reply(tokens, most)


def records(config: EngineConfig, *prompts: list[int], most: int = 5) -> list[RoomRecord]:
    """The rooms of some requests, one after the other."""

    async def story(pair: Pair) -> None:
        for tokens in prompts:
            await asked(pair, tokens, most)
        await pairs.rest(pair)

    return play(config, story).room_records()


@TP
@pytest.mark.parametrize(
    ("tokens", "chunks"), [(1, 1), (256, 1), (257, 2), (511, 2), (1024, 4), (1030, 5)]
)
def test_a_prompt_goes_chunk_by_chunk(tp: int, tokens: int, chunks: int) -> None:
    rooms = records(setting(tp=tp), prompt(1, tokens))
    assert [room.chunks for room in rooms] == [chunks] * tp
    assert {room.outcome for room in rooms} == {"Success"}


@TP
@pytest.mark.parametrize("hicache", [False, True])
def test_a_cached_prefix_is_sent_again(tp: int, hicache: bool) -> None:
    tokens = prompt(1, 1030)
    rooms = records(setting(tp=tp, hicache=hicache), tokens, [*tokens, *prompt(2, 30)])
    first, again = rooms[:2]
    assert (first.chunks, again.chunks) == (5, 1)  # four pages were there: one chunk is computed
    assert first.moved_bytes == again.moved_bytes


def test_a_prefix_that_the_host_gave_back_is_sent_like_any() -> None:
    tokens = [prompt(seed, 1000) for seed in LONG[:4]]

    async def story(pair: Pair) -> None:
        for one in [*tokens, *tokens]:
            await asked(pair, one, 5)
        await pairs.rest(pair)

    pair = play(setting(hicache=True, pool_pages=9, decode_pool_pages=9), story)
    assert pair.events.counters["host_hits"]
    assert pair.events.counters["rooms_checked"] == 8


@TP
def test_a_first_token_may_end_the_reply(tp: int) -> None:
    async def story(pair: Pair) -> None:
        handle = pair.submit(prompt(ENDS_AT_ONCE, 300), 20)
        assert await pairs.read(handle) == [257]
        assert handle.finish_reason == "stop"
        await pairs.rest(pair)

    assert "decode_steps" not in play(setting(tp=tp), story).events.counters


@TP
@pytest.mark.parametrize(
    "tight", [{"metadata_slots": 1}, {"decode_pool_pages": 2}, {"max_running": 1}], ids=str
)
def test_who_waits_for_what_a_first_token_gives_back_need_not_wait_longer(
    tp: int, tight: dict[str, int]
) -> None:
    async def story(pair: Pair) -> None:
        await asyncio.gather(*(asked(pair, prompt(seed, 300), 1) for seed in range(6)))
        assert clock.now() < 2.0
        await pairs.rest(pair)

    play(setting(tp=tp, **tight), story)


@TP
@pytest.mark.parametrize("overlap", [False, True], ids=["normal", "overlap"])
def test_a_small_decode_pool_lets_in_whoever_can_end_there(tp: int, overlap: bool) -> None:
    async def story(pair: Pair) -> None:
        await asyncio.gather(*(asked(pair, prompt(seed, 250), 40) for seed in LONG[:6]))
        await pairs.rest(pair)

    pair = play(setting(tp=tp, overlap=overlap, decode_pool_pages=3), story)
    assert pair.events.counters.get("retractions", 0) == 0


def test_what_either_side_could_never_hold_is_refused_and_leaves_no_room() -> None:
    async def story(pair: Pair) -> None:
        for tokens, most in ((prompt(1, 1000), 40), (prompt(1, 250), 600)):
            with pytest.raises(RequestRefused):
                pair.submit(tokens, most)
        await asked(pair, prompt(1, 250), 5)
        await pairs.rest(pair)

    pair = play(setting(pool_pages=3, decode_pool_pages=3), story)
    assert len(pair.room_records()) == 1


@TP
@pytest.mark.parametrize("deferred", [False, True], ids=["immediate", "deferred"])
def test_a_room_that_times_out_is_an_error_that_names_it(tp: int, deferred: bool) -> None:
    async def story(pair: Pair) -> None:
        with pytest.raises(RoomFailed, match=r"room 1 failed after 0\.010 s: timed out in W"):
            await pairs.read(pair.submit(prompt(1, 1000), 5))
        await pairs.rest(pair)

    pair = play(setting(tp=tp, waiting_timeout=0.01, deferred_release=deferred), story)
    assert pair.events.counters["waiting_timeouts"] == 1
    assert {room.why for room in pair.room_records()} == {"timed out in WaitingForInput"}


@TP
def test_an_abort_that_comes_twice_counts_once(tp: int) -> None:
    async def story(pair: Pair) -> None:
        handle = pair.submit(prompt(1, 1000), 5)
        await clock.sleep(0.05)
        assert pair.abort(1)
        assert pair.abort(1)
        assert await pairs.read(handle) == []
        assert not pair.abort(1)
        await pairs.rest(pair)

    pair = play(setting(tp=tp), story)
    assert pair.events.counters["room_aborts"] == pair.events.counters["rooms_failed"] == 1
    assert {room.why for room in pair.room_records()} == {Cause.ABORTED.words}


@TP
def test_a_deferred_release_waits_for_the_writer(tp: int) -> None:
    async def story(pair: Pair) -> None:
        handle = pair.submit(prompt(1, 1000), 5)
        await clock.sleep(0.08)
        handle.abort()
        await pairs.rest(pair)

    for deferred in (False, True):
        pair = play(setting(tp=tp, deferred_release=deferred, wire_gb_per_s=0.02), story)
        for room in pair.room_records():
            failed, released = room.decode["Failed"], room.released_s
            assert released is not None
            assert (released > failed) == deferred
            assert room.drained_s is None or room.drained_s <= released


@TP
def test_pages_that_are_free_while_their_writer_writes_are_known_by_its_last_write(tp: int) -> None:
    async def story(pair: Pair) -> None:
        handle = pair.submit(prompt(1, 1000), 5)
        await clock.sleep(0.08)
        handle.abort()
        await clock.sleep(5.0)

    build = ("pages_freed_under_a_write",)
    for room in play(setting(tp=tp, build=build, wire_gb_per_s=0.02), story).room_records():
        assert room.released_s is not None
        assert room.drained_s is not None
        assert room.drained_s > room.released_s + 0.001


def test_nothing_of_a_room_is_kept_but_its_record() -> None:
    async def story(pair: Pair) -> None:
        for seed in range(5):
            await asked(pair, prompt(seed, 300), 2)
        await pairs.rest(pair)
        gc.collect()
        for engine in pair.engines:  # a loop knows whom it told last
            assert list(engine.role.asked) in ([], [5])  # type: ignore[attr-defined]

    assert len(play(setting(radix=False), story).room_records()) == 5


@TP
@pytest.mark.parametrize("deferred", [False, True], ids=["immediate", "deferred"])
def test_what_the_wire_refuses_fails_the_room_and_is_given_back_at_once(
    tp: int, deferred: bool
) -> None:
    async def story(pair: Pair) -> None:
        handle = pair.submit(prompt(1, 600), 5)
        for lane in pair.lanes[-1:]:
            lane.wire._regions["decode"].clear()  # type: ignore[attr-defined]
        with pytest.raises(RoomFailed, match=r"the wire refused a write"):
            await pairs.read(handle)
        await clock.sleep(0.01)
        for engine in pair.decode:
            assert engine.scheduler.idle
            assert engine.scheduler.holdings.allocator.available == 40
        await pairs.rest(pair)

    play(setting(tp=tp, deferred_release=deferred), story)


@TP
def test_a_deadline_that_is_a_float_s_last_bit_away_is_waited_for_until_the_clock_moves(
    tp: int,
) -> None:
    async def story(pair: Pair) -> None:
        handle = pair.submit(prompt(1, 600), 5)
        await clock.sleep(0.01)
        for engine in pair.decode:
            room = engine.role.open[1]  # type: ignore[attr-defined]
            room.reception.deadline_s = math.nextafter(clock.now(), math.inf)
            wait_s = engine.role.wait_s()
            assert wait_s is not None
            assert wait_s > 1e-9  # asyncio's resolution: a timer within it runs at once
        with pytest.raises(RoomFailed):
            await pairs.read(handle)
        await pairs.rest(pair)

    play(setting(tp=tp), story)


@TP
def test_stop_ends_every_reader(tp: int) -> None:
    async def story(pair: Pair) -> None:
        readers = [asyncio.create_task(pairs.read(pair.submit([1] * 600, 99))) for _ in range(4)]
        await clock.sleep(0.3)
        await pair.stop()
        ended = await asyncio.gather(*readers, return_exceptions=True)
        assert {type(each) for each in ended} == {EngineError}
        with pytest.raises(EngineError, match="stopped"):
            pair.submit([1], 1)

    play(setting(tp=tp), story)


def history(config: EngineConfig) -> str:
    """The digest of twenty abort schedules' events."""
    return aborts.storm(config, range(20)).pair.events.digest()


@TP
@pytest.mark.parametrize("overlap", [False, True], ids=["normal", "overlap"])
def test_equal_seeds_give_equal_histories_and_others_do_not(tp: int, overlap: bool) -> None:
    one = schedules.setting(1, tp=tp, overlap=overlap)
    assert history(one) == history(one) != history(replace(one, seed=2))


@TP
def test_both_wires_give_one_history(tp: int) -> None:
    pytest.importorskip("nixl_cu13")
    one = schedules.setting(1, tp=tp, deferred_release=True)
    assert history(one) == history(replace(one, wire="nixl"))
