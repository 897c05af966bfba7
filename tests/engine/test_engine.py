"""The whole engine on texts whose continuation is known: any toggle, any device, nothing wrong."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import torch

from engine import clock
from engine.config import EngineConfig, ModelConfig
from engine.engine import Engine
from engine.errors import EngineError
from tests.engine.scribe.world import Session, session

SESSIONS = [session(seed, shared=4, private=2, turns=1) for seed in range(5)]
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def _config(**toggles: Any) -> EngineConfig:
    model = ModelConfig(index_topk=16)
    sizes = {"pool_pages": 48, "chunked_prefill": 1024, "max_running": 8, "graph_max_bs": 8}
    return EngineConfig(model=model, **(sizes | toggles))


async def _replies(engine: Engine, sessions: list[Session]) -> list[list[int]]:
    async def one(s: Session) -> list[int]:
        handle = engine.submit(s.tokens[: s.prompt], 300)
        return [token async for group in handle for token in group]

    replies = await asyncio.gather(*(one(s) for s in sessions))
    await engine.stop()
    return list(replies)


def _serve(config: EngineConfig) -> tuple[Engine, list[list[int]]]:
    if config.device == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    engine = Engine(config)
    return engine, clock.run(_replies(engine, SESSIONS))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("graph", [True, False])
@pytest.mark.parametrize("index_k", ["fp8", "bf16"])
def test_every_reply_is_the_known_one(device: str, graph: bool, index_k: str) -> None:
    engine, replies = _serve(_config(device=device, graph=graph, index_k=index_k))
    assert replies == [s.tokens[s.prompt :] for s in SESSIONS]
    assert engine.scheduler.idle
    assert engine.scheduler.check() == []
    assert ("graph_replays" in engine.events.counters) == graph


def test_books_are_gone_through_when_something_changed_hands_and_not_again() -> None:
    async def main(engine: Engine) -> list[int]:
        audits = [0]
        check = engine.scheduler.check

        def counted() -> list[str]:
            audits[-1] += 1
            return check()

        engine.scheduler.check = counted  # type: ignore[method-assign]
        await anext(aiter(engine.submit([1] * 300, 1)))
        await clock.sleep(1.0)
        for change in (False, False, True, False):
            audits.append(0)
            if change:
                engine.scheduler.holdings.allocator.allocate(1)  # behind the scheduler's back
            engine.wake()
            await clock.sleep(1.0)
        return audits

    engine = Engine(_config())
    assert clock.run(main(engine)) == [1, 0, 0, 1, 0]
    assert engine.events.counters["violation:page_books_broken"] >= 1


def test_a_request_aborted_in_mid_reply_leaves_no_page_behind() -> None:
    async def main(engine: Engine) -> None:
        handle = engine.submit(SESSIONS[0].tokens[: SESSIONS[0].prompt], 300)
        async for _ in handle:
            handle.abort()
        assert handle.finish_reason == "abort"
        await clock.sleep(1.0)
        assert engine.scheduler.idle
        assert engine.scheduler.check() == []
        await engine.stop()

    clock.run(main(Engine(_config(radix=False))))


def test_a_generation_is_aborted_by_its_number_and_by_no_other() -> None:
    async def main(engine: Engine) -> None:
        handle = engine.submit(SESSIONS[0].tokens[: SESSIONS[0].prompt], 300)
        assert not engine.abort(handle.request_id + 1)
        assert engine.abort(handle.request_id)
        assert not engine.abort(handle.request_id)
        assert ([group async for group in handle], handle.finish_reason) == ([], "abort")
        await engine.stop()

    engine = Engine(_config())
    clock.run(main(engine))
    assert engine.events.counters["aborts"] == 1


def test_abort_all_ends_who_runs_and_who_waits() -> None:
    async def main(engine: Engine) -> list[str | None]:
        prompts = [s.tokens[: s.prompt] for s in SESSIONS]
        handles = [engine.submit(prompt, 300) for prompt in prompts]
        async for _ in handles[0]:
            engine.abort_all()
        for handle in handles[1:]:
            assert [group async for group in handle] == []
        await clock.sleep(1.0)  # the step in flight
        await engine.stop()
        return [handle.finish_reason for handle in handles]

    engine = Engine(_config(max_running=2))
    assert clock.run(main(engine)) == ["abort"] * len(SESSIONS)
    assert engine.scheduler.idle
    assert engine.scheduler.check() == []


def test_a_loop_that_dies_wakes_its_readers() -> None:
    async def main(engine: Engine) -> None:
        handle = engine.submit(SESSIONS[0].tokens[: SESSIONS[0].prompt], 300)
        engine.runner.model.prefill = None  # type: ignore[assignment, method-assign]
        with pytest.raises(TypeError):
            async for _ in handle:
                pass
        with pytest.raises(TypeError):
            engine.submit([1], 1)

    clock.run(main(Engine(_config())))


@pytest.mark.parametrize("served", [True, False])
def test_a_stopped_engine_takes_no_more_requests(served: bool) -> None:
    async def main(engine: Engine) -> None:
        if served:
            handle = engine.submit([1], 1)
            async for _ in handle:
                pass
        await engine.stop()
        with pytest.raises(EngineError, match="the engine was stopped"):
            engine.submit([1], 1)

    clock.run(main(Engine(_config())))


def test_one_seed_gives_one_digest_and_every_toggle_its_own_history() -> None:
    first, again = (_serve(_config())[0].events.digest() for _ in range(2))
    eager = _serve(_config(graph=False))[0].events.digest()
    assert first == again
    assert first != eager
