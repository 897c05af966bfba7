"""The whole engine over its tiers: what comes back from the host is what was there, at any toggle.

Whenever it rests, the books balance on the device and on the host, and no watch has seen anything.
"""

from __future__ import annotations

from typing import Any

import pytest

from engine import clock
from engine.pools.device import POISON, REQUEST_ADDRESSED
from tests.engine.pools import mirrored
from tests.engine.scribe.world import session
from tests.engine.waves import MINE, OTHERS, Waves, config, play

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
SLOW = 0.5  # GB/s: a page of Flash takes 18 ms, half a decode step
PAIRS = [{"hicache_layout": layout, "hicache_io": io} for layout, io in mirrored.PAIRS]
DIRTY = {"poison_free_pages": True}
TOGGLES: list[dict[str, Any]] = [
    *({**pair, **DIRTY} for pair in PAIRS),
    {"index_k": "bf16", **PAIRS[1], **DIRTY},
    {"hicache_write": "write_back", **DIRTY},
    {"hicache_write": "write_back", "overlap": True, "host_gb_per_s": SLOW},
    {"overlap": True, "host_gb_per_s": SLOW, **DIRTY},
    {"overlap": True, "graph": True, "index_k": "bf16", "topk": "v2"},
    {"host_ratio": 1.5, "host_gb_per_s": SLOW, **DIRTY},
    {"allocator": "random", "chunked_prefill": 256, "overlap": True, **DIRTY},
    {"hisparse": True, **DIRTY},
    {"hisparse": True, "overlap": True, "graph": True, "host_gb_per_s": SLOW},
    {"hisparse": True, "hicache_write": "write_back", "index_k": "bf16", "overlap": True},
]


def named(toggles: dict[str, Any]) -> str:
    return "+".join(f"{name}={value}" for name, value in toggles.items())


async def a_conversation_goes_on(waves: Waves) -> None:
    """A turn; others, until the device has lost it; then the next turn, on what was kept of it:
    pages that prefill filled, and one that decode did.
    """
    await waves.wave(MINE, 60)
    await waves.wave(OTHERS, 2)
    await waves.wave(MINE, 100, turn=1)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("toggles", TOGGLES, ids=named)
def test_a_conversation_goes_on_from_the_host(device: str, toggles: dict[str, Any]) -> None:
    waves = play(config(device=device, **toggles), a_conversation_goes_on)
    assert waves.count("host_hits") > 0
    assert waves.count("pages_restored") > 0
    assert waves.count("pages_checked") > 0


def test_a_prefix_found_once_is_not_copied_selectively_and_one_found_again_is() -> None:
    async def story(waves: Waves) -> None:
        await waves.wave(MINE, 2)
        assert waves.count("pages_backed_up") == 0
        await waves.wave(MINE, 2)
        assert waves.count("pages_backed_up") > 0
        await waves.wave(OTHERS, 2)
        await waves.wave(MINE, 30)
        assert waves.count("pages_restored") > 0

    play(config(hicache_write="write_through_selective"), story)


@pytest.mark.parametrize("overlap", [False, True], ids=["normal", "overlap"])
@pytest.mark.parametrize("policy", ["write_through", "write_through_selective", "write_back"])
def test_a_pool_that_is_nearly_too_small_for_two_still_serves_five(
    policy: str, overlap: bool
) -> None:
    async def story(waves: Waves) -> None:
        for _ in range(2):  # used again: by every policy worth a copy
            await waves.wave(MINE[:1], 2)
        await waves.wave([*MINE, *OTHERS], 55)
        await waves.wave([*OTHERS, *MINE], 55)

    tight = {"pool_pages": 13, "host_gb_per_s": SLOW, "host_ratio": 1.5, **DIRTY}
    waves = play(config(hicache_write=policy, overlap=overlap, **tight), story)
    for name in ("retractions", "evicted_pages", "pages_restored"):
        assert waves.count(name) > 0, name


def test_what_the_host_has_is_not_computed_again() -> None:
    async def story(waves: Waves) -> None:
        await waves.flood()
        before = waves.count("prefill_tokens")
        await waves.wave(MINE, 2)
        computed = waves.count("prefill_tokens") - before
        kept = 256 * waves.count("pages_restored")
        assert computed == sum(s.prompt for s in MINE) - kept < 1024

    play(config(), story)


def test_a_restore_over_a_slow_link_takes_its_time() -> None:
    took: list[float] = []

    async def story(waves: Waves) -> None:
        await waves.flood()
        before = clock.now()
        await waves.read(MINE[0], 1)
        took.append(clock.now() - before)
        await waves.rest()

    for rate in (55.0, 0.1):
        play(config(host_gb_per_s=rate), story)
    fast, slow = took
    assert slow - fast == pytest.approx(5 * 9.158e6 / 0.1e9, rel=0.2)  # five pages


def test_who_needs_pages_waits_while_write_back_copies_them_out() -> None:
    took: list[float] = []

    async def story(waves: Waves) -> None:
        await waves.wave([*MINE, OTHERS[0]], 1)
        before = clock.now()
        await waves.wave(OTHERS[1:2], 1)
        took.append(clock.now() - before)
        assert waves.count("pages_backed_up") == waves.count("evicted_pages") == 3

    for rate in (55.0, 0.002):
        play(config(host_gb_per_s=rate, hicache_write="write_back"), story)
    fast, slow = took
    assert slow - fast == pytest.approx(3 * 9.158e6 / 0.002e9, abs=2.0)


@pytest.mark.parametrize("overlap", [False, True], ids=["normal", "overlap"])
@pytest.mark.parametrize("hisparse", [False, True], ids=["", "hisparse"])
def test_no_copy_has_landed_ahead_of_the_clock_when_a_step_is_composed(
    hisparse: bool, overlap: bool
) -> None:
    ahead: list[float] = []

    async def story(waves: Waves) -> None:
        cache, streams = waves.scheduler.holdings.cache, waves.engine.streams
        poll = cache.poll

        def watched() -> bool:
            ahead.append(streams._reached - clock.now())
            return poll()

        cache.poll = watched  # type: ignore[method-assign]
        await waves.wave([*MINE, *OTHERS], 55)
        await waves.wave([*OTHERS, *MINE], 55)
        assert waves.count("pages_restored") > 0

    slow = {"hicache_write": "write_back", "host_gb_per_s": SLOW, "pool_pages": 13}
    play(config(overlap=overlap, hisparse=hisparse, **slow), story)
    assert max(ahead) < 1e-9


def test_the_chunk_after_the_one_that_restored_finds_every_layer() -> None:
    first, second = (session(seed, shared=2, private=4, turns=1, group=77) for seed in (70, 71))

    async def story(waves: Waves) -> None:
        await waves.wave([first], 1)
        await waves.wave(OTHERS, 1)
        await waves.wave(MINE, 1)
        await waves.wave([second], 100)
        assert waves.count("pages_restored") == 2

    play(config(host_gb_per_s=0.02, chunked_prefill=256, **DIRTY), story)


@pytest.mark.parametrize("overlap", [False, True], ids=["normal", "overlap"])
def test_a_request_that_arrives_while_copies_land_does_not_wait_for_them(overlap: bool) -> None:
    async def story(waves: Waves) -> None:
        await waves.wave(MINE[:1], 1)
        await waves.read(MINE[1], 1)
        assert (waves.engine.streams.wait_s() or 0.0) > 30.0
        await clock.sleep(0.5)
        before = clock.now()
        await waves.read(OTHERS[0], 1)
        assert clock.now() - before < 1.0

    play(config(host_gb_per_s=0.001, overlap=overlap), story)


def test_a_page_that_nobody_holds_is_poison_in_a_dirty_pool() -> None:
    async def story(waves: Waves) -> None:
        await waves.wave(MINE, 2)
        free = waves.scheduler.holdings.allocator.free_pages()
        assert 0 < len(free) < 18
        for pool in waves.engine.runner.pools.pools:
            if pool.name != REQUEST_ADDRESSED:
                assert (pool.layout.by_page(pool.buffer)[free] == POISON).all(), pool.name

    play(config(poison_free_pages=True), story)


@pytest.mark.parametrize("hicache", [False, True])
@pytest.mark.parametrize("hisparse", [False, True])
def test_the_geometry_tells_of_every_tier(hicache: bool, hisparse: bool) -> None:
    async def story(waves: Waves) -> None:
        rows = waves.engine.info()["geometry"]
        assert all(row["agrees"] for row in rows)
        host = {row["pool"] for row in rows if row["tier"] == "host"}
        assert ("swa" in host, "index_k" in host) == (hicache, hicache)
        assert ("hisparse_c4" in host) == hisparse

    play(config(hicache=hicache, hisparse=hisparse), story)


def test_one_seed_gives_one_digest_with_copies_on_their_way() -> None:
    async def story(waves: Waves) -> None:
        await waves.flood()
        await waves.wave(MINE, 2)

    slow, fast = config(host_gb_per_s=SLOW, overlap=True), config(overlap=True)
    once, again, other = (play(each, story).engine.events.digest() for each in (slow, slow, fast))
    assert once == again != other
