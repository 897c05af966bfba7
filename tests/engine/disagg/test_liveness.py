"""A pair that cannot go on says so, in virtual time: who waits, for whom, since when.

Nobody here has a timeout of its own; what ends a wait is the pair, or the clock's stall.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from engine import clock
from engine.disagg.mail import Message, Tag
from engine.disagg.pair import QUIET_S, Pair
from engine.disagg.rooms import KVPoll
from engine.errors import EngineError, RoomFailed, Stalled
from engine.handle import Handle
from engine.sched.batch import Batch
from tests.engine.disagg import tokens_only
from tests.engine.disagg.pairs import config, play, read
from tests.engine.sched.fakes import prompt, reply
from tests.engine.scribe.world import session

PROMPTS = [session(seed, shared=1, private=1, turns=1) for seed in range(4)]
RIGHT = [prompt.tokens[prompt.prompt :] for prompt in PROMPTS]
SLOW = {"wire_gb_per_s": 0.05}  # a room is open for 0.2 s and more
DEAF = {"build": ("abort_kills_bootstrap",), **SLOW}
TWO = {"tp": 2, "overlap": True, **SLOW}
SKIPS = {"build": ("rank_skips_collective",), **TWO}

Story = Callable[[Pair], Awaitable[None]]


def ask(pair: Pair, number: int) -> Handle:
    prompt = PROMPTS[number]
    return pair.submit(prompt.tokens[: prompt.prompt], 300)


async def answers(handles: Sequence[Handle]) -> list[Any]:
    """What every reader gets: tokens, or the error that it raises."""
    return list(await asyncio.gather(*map(read, handles), return_exceptions=True))


def told(pair: Pair) -> list[tuple[float, str]]:
    """When the watchdog spoke, in seconds, and who waits by its words."""
    events = [event for event in pair.events.events if event.kind == "no_progress"]
    return [(event.at_ns / 1e9, str(event.fields["waiting"])) for event in events]


def stalls(setting: dict[str, Any], story: Story) -> tuple[Pair, float]:
    """Tell a story that has no end; the pair, and when the clock stalled."""
    kept: list[Pair] = []

    async def told_to(pair: Pair) -> None:
        kept.append(pair)
        await story(pair)

    with pytest.raises(Stalled) as stall:
        play(config(**setting), told_to)
    return kept[0], float(str(stall.value).split()[2])


async def one_rank_hears_of_a_failure(pair: Pair) -> list[Handle]:
    """Reply 0 is being decoded, room 2 on its way, and rank 1 alone is told that it failed."""
    handles = [ask(pair, 0)]
    await anext(aiter(handles[0]))
    handles.append(ask(pair, 1))
    await clock.sleep(0.1)
    assert pair.decode[0].scheduler.batches_in_flight
    pair.lanes[1].to_decode.send(Message(Tag.FAILED, 2, why="a link is down"))
    return handles


async def wedged(pair: Pair) -> None:
    await answers(await one_rank_hears_of_a_failure(pair))


def test_without_any_timeout_the_clock_stalls_and_the_watchdog_has_spoken_before() -> None:
    pair, stalled_s = stalls(SKIPS, wedged)
    ((at_s, _),) = told(pair)
    assert at_s < stalled_s
    assert pair.events.counters["fault:no_progress"] == 1


def test_the_ranks_are_named_with_the_collectives_in_which_they_wait() -> None:
    pair, _ = stalls(SKIPS, wedged)
    ((at_s, waiting),) = told(pair)
    first, second, *rooms = waiting.split("; ")
    assert first.startswith("rank 0 of decode waits in poll #")
    assert " for rank 1, which came to forward of " in first
    assert second.startswith("rank 1 of decode waits in forward of ")
    assert rooms[0].startswith("decode: WaitingForInput, waiting for bytes: only room 2 since ")
    since_s = float(first.split(" since ")[1].split(" s ")[0])
    assert at_s == pytest.approx(since_s + QUIET_S, abs=0.5)


def test_a_healthy_pair_fails_the_room_on_both_ranks_and_goes_on() -> None:
    heard: list[Any] = []

    async def story(pair: Pair) -> None:
        first, second = await one_rank_hears_of_a_failure(pair)
        heard.extend(await answers([first, second, ask(pair, 2)]))

    pair = play(config(**TWO), story)
    assert isinstance(heard[1], RoomFailed)
    assert heard[2] == RIGHT[2]
    assert told(pair) == []
    assert {record.outcome for record in pair.room_records() if record.room == 2} == {"Failed"}


@pytest.mark.parametrize("overlap", [True, False], ids=["overlap", "normal"])
def test_a_skipping_rank_needs_a_batch_in_flight(overlap: bool) -> None:
    async def story(pair: Pair) -> None:
        handle = ask(pair, 0)
        await clock.sleep(0.1)
        pair.lanes[1].to_decode.send(Message(Tag.FAILED, 1, why="a link is down"))
        [heard] = await answers([handle])
        assert isinstance(heard, RoomFailed)

    pair = play(config(**SKIPS | {"overlap": overlap}), story)
    assert told(pair) == []


def test_a_wedged_pair_can_be_stopped_and_its_readers_hear_of_it() -> None:
    heard: list[Any] = []

    async def story(pair: Pair) -> None:
        handles = await one_rank_hears_of_a_failure(pair)
        readers = [asyncio.create_task(read(handle)) for handle in handles]
        await clock.sleep(2 * QUIET_S)
        assert told(pair)
        await pair.stop()
        heard.extend(await asyncio.gather(*readers, return_exceptions=True))

    play(config(**SKIPS), story)
    assert [type(error) for error in heard] == [EngineError, EngineError]


SLOW_COPIES: list[dict[str, Any]] = [
    {"hicache": True, "pool_pages": 20, "host_ratio": 6.0, "host_gb_per_s": 0.002},
    {"hisparse": True, "host_gb_per_s": 0.0001, "max_running": 1},
]


@pytest.mark.parametrize("slow", SLOW_COPIES, ids=["hicache", "hisparse"])
def test_a_copy_that_takes_longer_than_the_limit_is_no_silence(slow: dict[str, Any]) -> None:
    async def story(pair: Pair) -> None:
        for seeds in ([1], [2], [3], [4], [5], [6], [1, 2]):  # what was first is on the host by now
            prompts, asked_s = [prompt(seed, 3000) for seed in seeds], clock.now()
            heard = await answers([pair.submit(tokens, 2) for tokens in prompts])
            assert heard == [reply(tokens, 2) for tokens in prompts]
        assert clock.now() > asked_s + QUIET_S

    assert told(tokens_only.play(config(**slow), story)) == []


def test_a_step_that_takes_longer_than_the_limit_is_no_silence() -> None:
    async def story(pair: Pair) -> None:
        runner, tokens = pair.prefill[0].runner, prompt(1, 300)
        launch = runner.launch

        def slow(batch: Batch, late_s: float = 0.0) -> Any:
            work = launch(batch, late_s)
            return lambda: (work()[0], 3 * QUIET_S)

        runner.launch = slow  # type: ignore[method-assign]
        assert await read(pair.submit(tokens, 2)) == reply(tokens, 2)
        assert clock.now() > 3 * QUIET_S

    assert told(tokens_only.play(config(), story)) == []


async def deaf(pair: Pair) -> list[Any]:
    """Reply 1 is given up in its room; replies 2 and 3 are asked for after that."""
    handles = [ask(pair, 0), ask(pair, 1)]
    await clock.sleep(0.1)
    handles[1].abort()
    await clock.sleep(0.1)
    return await answers([handles[0], ask(pair, 2), ask(pair, 3)])


def test_one_abort_ends_the_bootstrap_loop_and_every_later_room() -> None:
    heard: list[Any] = []

    async def story(pair: Pair) -> None:
        heard.extend(await deaf(pair))

    pair = play(config(**DEAF), story)
    assert heard[0] == RIGHT[0]
    assert [type(error) for error in heard[1:]] == [RoomFailed, RoomFailed]
    ((_, waiting),) = told(pair)
    cause, *rooms = waiting.split("; ")
    assert cause.startswith("prefill's bootstrap loop died at 0.10")
    assert cause.endswith("AssertionError: ABORT is not NixlMsgGuard")
    assert rooms[0] == (
        "prefill: Bootstrapping, waiting for the decode side to name its pages: "
        "2 rooms, first room 3 since 0.200 s"
    )
    assert pair.events.counters["fault:bootstrap_loop_died"] == 1


def test_whatever_ends_the_bootstrap_loop_is_told() -> None:
    async def story(pair: Pair) -> None:
        role: Any = pair.prefill[0].role
        hear = role._hear

        def forgets(message: Message) -> None:
            if message.room == 1:
                raise KeyError(message.room)
            hear(message)

        role._hear = forgets
        assert [type(it) for it in await answers([ask(pair, 0), ask(pair, 1)])] == [RoomFailed] * 2

    pair = play(config(**SLOW, bootstrap_timeout=50.0), story)
    ((_, waiting),) = told(pair)
    assert waiting.startswith("prefill's bootstrap loop died at ")
    assert "KeyError: 1" in waiting
    assert pair.events.counters["fault:bootstrap_loop_died"] == 1


def test_a_healthy_pair_serves_on_after_an_abort() -> None:
    heard: list[Any] = []

    async def story(pair: Pair) -> None:
        heard.extend(await deaf(pair))

    pair = play(config(**SLOW), story)
    assert heard == [RIGHT[0], RIGHT[2], RIGHT[3]]
    assert told(pair) == []


def test_a_timeout_of_300_virtual_seconds_costs_no_wall_time() -> None:
    seen: list[float] = []

    async def story(pair: Pair) -> None:
        began_s = clock.wall_s()
        await deaf(pair)
        seen.extend((clock.now(), clock.wall_s() - began_s))

    play(config(**DEAF), story)
    virtual_s, wall_s = seen
    assert virtual_s > 300.0
    assert wall_s < 10.0


def test_a_room_that_is_never_told_its_pages_fails_on_both_sides_and_its_client_hears() -> None:
    """The decode pool holds one prompt: the second waits for pages longer than it may."""
    heard: list[Any] = []

    async def story(pair: Pair) -> None:
        heard.extend(await answers([ask(pair, 0), ask(pair, 1)]))

    pair = play(config(decode_pool_pages=8, bootstrap_timeout=0.5), story)
    first, second = heard
    assert first == RIGHT[0]
    assert isinstance(second, RoomFailed)
    assert "timed out in Bootstrapping" in str(second)
    record = pair.room_records()[1]
    assert (record.outcome, record.why) == ("Failed", "timed out in Bootstrapping")
    assert record.prefill[KVPoll.FAILED.title] == pytest.approx(0.5, abs=0.05)
    assert record.decode[KVPoll.FAILED.title] == pytest.approx(0.5, abs=0.05)
    assert pair.events.counters["bootstrap_timeouts"] == 1
    assert [pair.decode[0].scheduler.idle, pair.prefill[0].scheduler.idle] == [True, True]
    assert told(pair) == []


async def prefill_dies(pair: Pair) -> list[Any]:
    """The prefill's loop ends with room 2 on its way and reply 0 decoding; when all have ended."""
    first = ask(pair, 0)
    await anext(aiter(first))

    def broken(*_: Any) -> Any:
        raise RuntimeError("an illegal memory access")

    pair.prefill[0].runner.launch = broken  # type: ignore[method-assign]
    second = ask(pair, 1)
    return [await answers([first, second]), clock.now()]


def test_rooms_fail_when_the_prefill_side_has_missed_two_heartbeats() -> None:
    seen: list[Any] = []

    async def story(pair: Pair) -> None:
        seen.extend(await prefill_dies(pair))
        assert isinstance(pair.died, RuntimeError)
        with pytest.raises(RuntimeError, match="illegal memory access"):
            ask(pair, 2)

    pair = play(config(), story)
    (tokens, error), at_s = seen
    assert tokens == RIGHT[0][1:]  # one was read before
    assert isinstance(error, RoomFailed)
    assert "the prefill side is dead" in str(error)
    assert 10.0 <= at_s <= 15.0
    assert pair.decode[0].scheduler.idle
    assert pair.decode[0].scheduler.check() == []
