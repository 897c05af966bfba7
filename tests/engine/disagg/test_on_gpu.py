"""A pair whose two engines live on a GPU: bytes go from device to device, and replies are exact."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import torch

from engine import clock
from engine.config import EngineConfig, ModelConfig
from engine.disagg.pair import Pair
from tests.engine.scribe.world import Session, session

pytestmark = pytest.mark.gpu

SESSIONS = [session(seed, shared=4, private=2, turns=1) for seed in range(5)]


async def _replies(pair: Pair) -> list[list[int]]:
    async def one(s: Session) -> list[int]:
        handle = pair.submit(s.tokens[: s.prompt], 300)
        return [token async for group in handle for token in group]

    replies = await asyncio.gather(*map(one, SESSIONS))
    await pair.stop()
    return list(replies)


@pytest.mark.parametrize(
    "toggles",
    [{}, {"index_k": "bf16"}, {"graph": False, "overlap": True}, {"hicache": True, "tp": 2}],
    ids=str,
)
def test_every_reply_is_the_known_one_and_every_room_is_exact(toggles: dict[str, Any]) -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    sizes = {"pool_pages": 48, "chunked_prefill": 1024, "max_running": 8, "graph_max_bs": 8}
    config = EngineConfig(
        model=ModelConfig(index_topk=16), device="cuda", pd=True, **(sizes | toggles)
    )
    pair = Pair(config)
    assert clock.run(_replies(pair)) == [s.tokens[s.prompt :] for s in SESSIONS]
    assert pair.events.counters["rooms_checked"] == len(SESSIONS)
    assert not any(name.startswith("violation:") for name in pair.events.counters)
    assert [engine.scheduler.check() for engine in pair.engines] == [[] for _ in pair.engines]
