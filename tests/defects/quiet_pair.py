"""A pair with few users: its decode side idles whenever the last KV of a room arrives."""

from __future__ import annotations

from typing import NamedTuple

from engine import clock
from engine.config import EngineConfig, ModelConfig
from engine.disagg.pair import Pair
from engine.errors import RoomFailed
from tests.engine.scribe.world import session

# Prompts that end within their reply, each at another place, so that first tokens differ.
SESSION = session(0, shared=1, private=1, turns=1)
INSIDE = (0, 8, 17)
MOST = 3  # tokens a reply


class Served(NamedTuple):
    """What was said to each request, or why its room failed, and what was counted."""

    said: list[list[int] | str]
    counters: dict[str, int]
    evidence: list[dict[str, int | str]]  # violations and faults

    @property
    def names(self) -> list[str]:
        """What the evidence is of."""
        return [str(found["name"]) for found in self.evidence]


def known() -> list[list[int]]:
    """What a healthy pair says."""
    start = SESSION.replies[0][0]
    return [SESSION.tokens[start + at : start + at + MOST] for at in INSIDE]


def one_after_another(build: list[str], metadata_slots: int = 1) -> Served:
    """A request for each place in ``INSIDE``, when the one before it is done with."""
    config = EngineConfig(
        pd=True,
        pool_pages=32,
        max_running=2,
        graph_max_bs=2,
        metadata_slots=metadata_slots,
        build=tuple(build),
        model=ModelConfig(index_topk=16),
    )

    async def main() -> Served:
        pair, start = Pair(config), SESSION.replies[0][0]
        said = [await reply(pair, SESSION.tokens[: start + at]) for at in INSIDE]
        await pair.stop()
        found = [e.fields for e in pair.events.events if e.kind in ("violation", "fault")]
        return Served(said, pair.events.counters, found)

    return clock.run(main())


async def reply(pair: Pair, prompt: list[int]) -> list[int] | str:
    """A whole reply, or the failure of its room; then the pair comes to rest."""
    try:
        said = [token async for group in pair.submit(prompt, MOST) for token in group]
    except RoomFailed as failed:
        return str(failed)
    finally:
        await clock.sleep(1.0)
    return said
