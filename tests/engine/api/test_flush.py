"""``POST /flush_cache``: the next request finds nothing cached; nobody is flushed while served."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from engine import clock
from engine.config import EngineConfig, ModelConfig
from engine.disagg.pair import Pair
from engine.engine import Engine
from tests.engine.api.conversation import CHAT, body
from tests.engine.api.fakes import client

if TYPE_CHECKING:
    import httpx

FLUSH = "/flush_cache"
LONG = [{"role": "user", "content": "clerk " * 200}]
SIZES: dict[str, Any] = {"pool_pages": 24, "max_running": 4, "model": ModelConfig(index_topk=16)}
ENGINES = {
    "one tier": lambda: Engine(EngineConfig(**SIZES)),
    "two tiers": lambda: Engine(EngineConfig(hicache=True, **SIZES)),
    "no cache": lambda: Engine(EngineConfig(radix=False, **SIZES)),
    "a pair": lambda: Pair(EngineConfig(pd=True, **SIZES)),
}


async def cached(http: httpx.AsyncClient) -> int:
    answer = await http.post(CHAT, json=body(messages=LONG, max_tokens=2))
    found: int = answer.json()["usage"]["prompt_tokens_details"]["cached_tokens"]
    return found


@pytest.mark.parametrize("name", ENGINES)
def test_nothing_is_cached_after_it(name: str) -> None:
    async def go() -> tuple[int, int, int, int]:
        async with client(ENGINES[name]()) as http:
            cold, warm = await cached(http), await cached(http)
            await clock.sleep(1.0)
            flushed = await http.post(FLUSH)
            return cold, warm, flushed.status_code, await cached(http)

    cold, warm, status, after = clock.run(go())
    assert (cold, status, after) == (0, 200, 0)
    assert (warm > 0) == (name != "no cache")


def test_it_is_refused_while_anybody_is_served() -> None:
    async def go() -> tuple[int, int]:
        async with client(Engine(EngineConfig(**SIZES))) as http:
            asked = asyncio.ensure_future(cached(http))
            await clock.sleep(1e-6)
            during = await http.post(FLUSH)
            await asked
            return during.status_code, (await http.post(FLUSH)).status_code

    assert clock.run(go()) == (400, 200)
