"""The whole engine with its c4 latents on the host: the same replies, and single tokens copied."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import torch

from engine import clock
from engine.config import EngineConfig, ModelConfig
from engine.engine import Engine
from engine.streams import Direction, Streams
from tests.engine.scribe.world import Session, session

SESSIONS = [session(seed, shared=4, private=2, turns=1) for seed in range(5)]
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


async def _replies(engine: Engine) -> list[list[int]]:
    async def one(s: Session) -> list[int]:
        handle = engine.submit(s.tokens[: s.prompt], 300)
        return [token async for group in handle for token in group]

    replies = await asyncio.gather(*(one(s) for s in SESSIONS))
    await clock.sleep(1.0)  # under overlap a last step is in flight
    await engine.stop()
    return list(replies)


def _serve(**toggles: Any) -> tuple[Engine, list[list[int]]]:
    sizes: dict[str, Any] = {
        "pool_pages": 48,
        "chunked_prefill": 1024,
        "max_running": 8,
        "graph_max_bs": 8,
        "hisparse": True,
        "hisparse_buffer": 16,  # as many as a step reads
        "model": ModelConfig(index_topk=16),
    }
    engine = Engine(EngineConfig(**(sizes | toggles)))
    return engine, clock.run(_replies(engine))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "toggles",
    [
        {"index_k": "bf16"},
        {"graph": False},
        {"overlap": True, "topk": "v2"},
        {"poison_free_pages": True, "pool_pages": 32},
        {"hicache": True, "poison_free_pages": True, "pool_pages": 32},
    ],
    ids=lambda toggles: "+".join(toggles),
)
def test_every_reply_is_the_known_one(device: str, toggles: dict[str, Any]) -> None:
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    engine, replies = _serve(device=device, **toggles)
    assert replies == [s.tokens[s.prompt :] for s in SESSIONS]
    assert engine.scheduler.idle
    assert engine.scheduler.check() == []
    assert not [name for name in engine.events.counters if name.startswith("violation:")]


def test_the_copies_of_the_latents_are_those_of_single_tokens() -> None:
    engine, _ = _serve()
    counters = engine.events.counters
    fetched = counters["path_rows:hisparse_c4:load:token_granular:layer_first"]
    assert fetched == counters["hisparse_swap_ins"] > 0
    assert counters["path_rows:hisparse_c4:backup:token_granular:layer_first"] > 0
    assert counters["path_rows:hisparse_c4:backup:all_layer_mla:layer_first"] > 0
    assert counters["path_rows:hisparse_c4:load:per_layer_mla:layer_first"] == 0


@pytest.mark.parametrize("device", DEVICES)
def test_a_token_copy_that_takes_every_pool_for_c4_is_right_about_this_one(device: str) -> None:
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    engine, replies = _serve(device=device, graph=True, build=("token_granular_c4_geometry",))
    assert engine.events.counters["hisparse_swap_ins"] > 0
    assert replies == [s.tokens[s.prompt :] for s in SESSIONS]


def test_what_rows_store_as_they_decode_takes_its_turn_on_the_way_to_the_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    carried = {"d2h": 0.0, "h2d": 0.0}
    carry = Streams.carry

    def noted(self: Streams, direction: Direction, nbytes: float, at: float | None = None) -> float:
        carried[direction] += nbytes
        return carry(self, direction, nbytes, at)

    monkeypatch.setattr(Streams, "carry", noted)
    counters = _serve()[0].events.counters
    assert carried["d2h"] == counters["hisparse_backups"] * 584 * 21 > 0
    assert carried["h2d"] == counters["hisparse_swap_ins"] * 584 * 21 > 0


def test_a_slower_link_makes_a_longer_run() -> None:
    slow, _ = _serve(host_gb_per_s=0.01)
    fast, _ = _serve(host_gb_per_s=55.0)
    assert slow.events.events[-1].at_ns > fast.events.events[-1].at_ns
