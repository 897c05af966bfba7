"""A whole engine under waves of sessions, idle between them: then nothing may be out of place."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
import torch

from engine import clock
from engine.config import EngineConfig, ModelConfig
from engine.engine import Engine
from engine.handle import Handle
from tests.engine.scribe.world import Session, session

WHOLE = 300  # tokens: more than any reply
BETWEEN = (
    "\nThe entries below are this clerk's own; whatever is not found above is to be looked for "
    "here, and nowhere else, before the tool is called with what it says.\n"
    "One entry has two values.\n"
)
# Two turns, each with a manual of its own, so that nothing is shared. The first prompt ends some 50
# tokens before its sixth page does: a reply of 60 fills it, and starts another.
SESSIONS = [session(i, shared=1, private=1, turns=2, group=i, between=BETWEEN) for i in range(5)]
MINE, OTHERS = SESSIONS[:2], SESSIONS[2:]


def config(**toggles: Any) -> EngineConfig:
    """An engine whose device holds two of the sessions at once, or three of the prompts."""
    sizes: dict[str, Any] = {
        "pool_pages": 18,
        "chunked_prefill": 1024,
        "max_running": 4,
        "graph": False,
        "graph_max_bs": 4,
        "hicache": True,
        "hisparse_buffer": 16,
        "model": ModelConfig(index_topk=16),
    }
    return EngineConfig(**(sizes | toggles))


def known(s: Session, most: int = WHOLE, turn: int = 0) -> list[int]:
    """The reply of one turn, as far as it is asked for."""
    start, end = s.replies[turn]
    return s.tokens[start:end][:most]


class Waves:
    """One engine on the running loop."""

    def __init__(self, config: EngineConfig) -> None:
        self.engine = Engine(config)
        self.scheduler = self.engine.scheduler

    def submit(self, s: Session, most: int = WHOLE, turn: int = 0) -> Handle:
        return self.engine.submit(s.tokens[: s.replies[turn][0]], most)

    async def reply(self, s: Session, most: int = WHOLE, turn: int = 0) -> list[int]:
        """What is said in one turn, from arrival to end."""
        return [token async for group in self.submit(s, most, turn) for token in group]

    async def read(self, s: Session, most: int = WHOLE, turn: int = 0) -> None:
        """One turn, whose reply is the known one."""
        assert await self.reply(s, most, turn) == known(s, most, turn)

    async def wave(self, sessions: Sequence[Session], most: int = WHOLE, turn: int = 0) -> None:
        """Sessions at once; then the engine comes to rest."""
        await asyncio.gather(*(self.read(s, most, turn) for s in sessions))
        await self.rest()

    async def flood(self) -> None:
        """Mine, then others; then the device has next to nothing of mine left."""
        await self.wave(MINE, 2)
        await self.wave(OTHERS, 2)

    async def rest(self) -> None:
        """Let every copy land. Then nobody holds anything: pages are free or cached, unpinned."""
        for _ in range(1000):
            if self.engine.streams.wait_s() is None and self.scheduler.idle:
                break
            await clock.sleep(1.0)
        assert self.engine.streams.wait_s() is None and self.scheduler.idle, "it does not rest"
        self.check()
        held = self.scheduler.holdings
        assert held.allocator.available + held.cache.cached_pages == held.allocator.pages
        assert held.cache.evictable_pages == held.cache.cached_pages
        assert held.slots.available == held.slots.pages

    def check(self) -> None:
        """Holds at every moment, of whatever build is healthy."""
        assert self.scheduler.check() == []
        assert self.seen == []

    @property
    def seen(self) -> list[str]:
        return [name for name in self.engine.events.counters if name.startswith("violation:")]

    def count(self, name: str) -> int:
        return self.engine.events.counters.get(name, 0)


def play(config: EngineConfig, story: Callable[[Waves], Awaitable[None]]) -> Waves:
    """Tell ``story(waves)`` under a virtual clock, and stop the engine."""
    if config.device == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")

    async def main() -> Waves:
        waves = Waves(config)
        await story(waves)
        await waves.engine.stop()
        return waves

    return clock.run(main())
