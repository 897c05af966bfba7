"""Requests that leave while copies for them are on their way: nothing stays behind, nobody else
is touched.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from engine import clock
from tests.engine.waves import MINE, OTHERS, Waves, config, play

CRAWL = 0.05  # GB/s: a page takes 180 ms
DIRTY = {"poison_free_pages": True, "host_gb_per_s": CRAWL}


@pytest.mark.parametrize("overlap", [False, True], ids=["normal", "overlap"])
@pytest.mark.parametrize("after_s", [0.0, 0.001, 0.1, 0.9])
def test_a_request_aborted_while_its_prefix_comes_back(overlap: bool, after_s: float) -> None:
    async def story(waves: Waves) -> None:
        await waves.flood()
        handle = waves.submit(MINE[0])
        await clock.sleep(after_s)
        handle.abort()
        waves.check()
        await waves.rest()
        await waves.wave(MINE, 30)

    play(config(overlap=overlap, **DIRTY), story)


@pytest.mark.parametrize("policy", ["write_through", "write_back"])
def test_a_request_aborted_while_its_prefix_is_copied_out(policy: str) -> None:
    async def story(waves: Waves) -> None:
        await waves.read(MINE[0], 1)
        handle = waves.submit(MINE[0], turn=1)
        async for _ in handle:
            handle.abort()
        waves.check()
        await waves.wave(OTHERS, 2)
        await waves.wave(MINE, 30)

    play(config(hicache_write=policy, **DIRTY), story)


def test_a_request_aborted_while_its_latents_are_staged() -> None:
    async def story(waves: Waves) -> None:
        handle = waves.submit(MINE[0])
        async for _ in handle:  # the first token: the copy has started
            assert waves.scheduler.staged
            handle.abort()
        assert not waves.scheduler.staged
        assert waves.engine.streams.wait_s() is not None
        await waves.read(OTHERS[0], 30)  # on the pages that the copy reads
        await waves.rest()

    play(config(hisparse=True, hicache=False, radix=False, pool_pages=8, **DIRTY), story)


STORMS: list[dict[str, Any]] = [
    {},
    {"overlap": True},
    {"overlap": True, "hicache_write": "write_back"},
    {"overlap": True, "hisparse": True},
    {"hicache_write": "write_through_selective", "host_ratio": 1.0, "graph": True},
]


@pytest.mark.parametrize("toggles", STORMS, ids=lambda toggles: "+".join(toggles) or "default")
@pytest.mark.parametrize("seed", range(2))
def test_a_storm_of_aborts_leaves_nothing_behind(toggles: dict[str, Any], seed: int) -> None:
    rng = random.Random(seed)

    async def story(waves: Waves) -> None:
        for _ in range(30):
            handle = waves.submit(
                rng.choice([*MINE, *OTHERS]), rng.randint(1, 4), rng.randint(0, 1)
            )
            await clock.sleep(rng.choice([0.0, 0.01, 0.1, 1.0]))
            waves.check()
            if rng.random() < 0.7:
                handle.abort()
                waves.check()
        await waves.rest()
        await waves.wave(MINE, 40)
        assert waves.count("aborts") > 5

    play(config(**DIRTY, **toggles), story)
