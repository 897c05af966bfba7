"""One load for captured and eager engines: its batch grows to eight rows and shrinks to one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import torch

from engine import clock
from engine.config import EngineConfig, ModelConfig
from engine.disagg.pair import Pair
from engine.engine import Engine
from engine.serving import open_engine
from tests.engine.scribe.world import Session, session

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
GPU_ONLY = [pytest.param("cuda", marks=pytest.mark.gpu)]
SESSIONS = [session(seed, shared=3, private=1, turns=1) for seed in range(10)]
MOST = [16 + 7 * i for i in range(len(SESSIONS))]  # tokens: one row ends after the other
KNOWN = [s.tokens[s.prompt :][:most] for s, most in zip(SESSIONS, MOST, strict=True)]
STALE, WRAPS = "padded_scatter_stale_slots", "padded_scatter_wraps_to_last_slot"


def config(**toggles: Any) -> EngineConfig:
    """An engine of eight rows; skips the test where its device is not here."""
    if toggles.get("device") == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    sizes = {"pool_pages": 64, "chunked_prefill": 1024, "max_running": 8, "graph_max_bs": 8}
    return EngineConfig(model=ModelConfig(index_topk=16), **(sizes | toggles))


def serve(config: EngineConfig) -> tuple[Engine | Pair, list[list[int]]]:
    """The engine once it has stopped, and what each session was told."""
    engine = open_engine(config)

    async def one(s: Session, most: int) -> list[int]:
        handle = engine.submit(s.tokens[: s.prompt], most)
        return [token async for group in handle for token in group]

    async def main() -> list[list[int]]:
        replies = await asyncio.gather(*map(one, SESSIONS, MOST))
        await engine.stop()
        return list(replies)

    return engine, clock.run(main())


def violations(engine: Engine | Pair, name: str = "") -> list[dict[str, Any]]:
    """The fields of every violation, or of those of one name."""
    found = [event.fields for event in engine.events.events if event.kind == "violation"]
    return [fields for fields in found if name in ("", fields["name"])]


def padded_to(engine: Engine | Pair) -> set[int]:
    """The sizes to which smaller batches were padded."""
    steps = [event.fields for event in engine.events.events if event.kind == "decode"]
    return {int(it["size"]) for it in steps if int(it["rows"]) < int(it["size"])}
