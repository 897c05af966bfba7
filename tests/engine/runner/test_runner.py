"""A launch fixes a step's inputs; chunks run last one first, their tokens come in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import torch
from torch import Tensor

from engine import clock
from engine.engine import Engine
from engine.request import Request
from engine.runner.eager import EagerDecode
from engine.runner.inputs import DecodeInputs, PrefillInputs
from engine.sched.batch import DecodeBatch, PrefillBatch
from tests.engine.scribe.world import session
from tests.engine.waves import config

SESSION = session(0, shared=1, private=1, turns=1)


@dataclass
class NotedChunks:
    """A model that says which request slot it was given."""

    seen: list[PrefillInputs] = field(default_factory=list)
    hot: None = None
    chosen: None = None

    def prefill(self, x: PrefillInputs, pools: object) -> Tensor | None:
        self.seen.append(x)
        return torch.tensor([x.req_slot]) if x.last else None


@dataclass
class NotedGate:
    """A gate that notes which getters asked it, in order."""

    asked: list[tuple[str, int]] = field(default_factory=list)

    def wait(self, pool: str, layer: int) -> None:
        self.asked.append((pool, layer))


class Fives:
    """A decode whose tokens are all 5; its kernels are no business of the runner's."""

    def padded(self, rows: int) -> int:
        return rows

    def run(self, x: DecodeInputs) -> Tensor:
        return torch.full_like(x.tokens, 5)


@dataclass
class NotedReaders:
    """A gate that notes whose pages were said to be read."""

    readers: list[list[int]] = field(default_factory=list)

    def begin(self, *step: object) -> None: ...

    def reader(self, pages: list[int]) -> None:
        self.readers.append(pages)

    def end(self) -> float:
        return 0.0


def on_a_clock(story: Callable[[Engine], None], **toggles: Any) -> None:
    """An engine whose loop does not run: the test turns its parts."""

    async def main() -> None:
        story(Engine(config(**toggles)))

    clock.run(main())


def queue(engine: Engine, *lengths: int) -> list[Request]:
    reqs = [Request(i, [i] * n, 9) for i, n in enumerate(lengths, 1)]
    for req in reqs:
        engine.scheduler.add(req)
    return reqs


def noted(engine: Engine) -> NotedChunks:
    model = NotedChunks()
    engine.runner.model = model  # type: ignore[assignment]
    return model


def test_the_chunk_admitted_last_runs_first_and_tokens_are_in_the_order_of_the_batch() -> None:
    def story(engine: Engine) -> None:
        model, reqs = noted(engine), queue(engine, 10, 20, 30)
        batch = engine.scheduler.next_batch()
        assert batch is not None and batch.sampled == reqs
        tokens, _ = engine.runner.launch(batch)()
        assert [len(x.tokens) for x in model.seen] == [30, 20, 10]
        assert tokens == [req.req_slot for req in reqs]

    on_a_clock(story)


def test_a_chunk_that_is_not_the_last_samples_nothing() -> None:
    def story(engine: Engine) -> None:
        noted(engine)
        whole, cut = queue(engine, 10, 600)
        batch = engine.scheduler.next_batch()
        assert batch is not None and batch.requests == [whole, cut]
        assert engine.runner.launch(batch)()[0] == [whole.req_slot]

    on_a_clock(story, chunked_prefill=512)


def test_a_launched_chunk_does_not_see_what_becomes_of_its_request() -> None:
    def story(engine: Engine) -> None:
        model, [req] = noted(engine), queue(engine, 300)
        batch = engine.scheduler.next_batch()
        assert batch is not None
        pages, slot = list(req.pages), req.req_slot
        work = engine.runner.launch(batch)
        req.pages, req.req_slot, req.prompt = [0, 0], 0, [9] * 300
        work()
        [x] = model.seen
        assert x.page_table[:2].tolist() == pages
        assert (x.req_slot, x.tokens.tolist()) == (slot, [1] * 300)
        assert x.slots[[0, 299]].tolist() == [pages[0] * 256, pages[1] * 256 + 43]

    on_a_clock(story)


@pytest.mark.parametrize("graph", [False, True])
def test_a_launched_row_does_not_see_what_becomes_of_its_request(graph: bool) -> None:
    def story(engine: Engine) -> None:
        scheduler, runner = engine.scheduler, engine.runner
        req = Request(1, SESSION.tokens[: SESSION.prompt], 300)
        scheduler.add(req)
        for _ in range(3):
            batch = scheduler.next_batch()
            assert batch is not None
            scheduler.finish(batch, runner.launch(batch)()[0])
        batch = scheduler.next_batch()
        assert batch is not None
        work = runner.launch(batch)
        at, pages = len(req.output), list(req.pages)
        req.pages, req.req_slot = [0] * len(pages), 0
        assert work()[0] == [SESSION.tokens[SESSION.prompt + at]]

    on_a_clock(story, graph=graph, chunked_prefill=2048)


def test_launching_computes_nothing() -> None:
    def story(engine: Engine) -> None:
        model, _ = noted(engine), queue(engine, 300)
        batch = engine.scheduler.next_batch()
        assert batch is not None
        engine.runner.launch(batch)
        assert model.seen == []
        assert "prefill_tokens" not in engine.events.counters

    on_a_clock(story)


def test_a_step_kept_back_ends_that_much_later() -> None:
    def story(engine: Engine) -> None:
        noted(engine)
        queue(engine, 300)
        batch = engine.scheduler.next_batch()
        assert batch is not None
        _, on_time = engine.runner.launch(batch)()
        _, late = engine.runner.launch(batch, late_s=2.0)()
        assert late - on_time == pytest.approx(2.0)

    on_a_clock(story)


@pytest.mark.parametrize("restores", [False, True])
def test_a_chunk_s_prefix_is_known_since_its_launch_and_asked_for_only_beside_a_restore(
    restores: bool,
) -> None:
    def story(engine: Engine) -> None:
        noted(engine)
        [req] = queue(engine, 600)
        scheduler, runner = engine.scheduler, engine.runner
        first = scheduler.next_batch()
        assert isinstance(first, PrefillBatch)
        scheduler.finish(first, runner.launch(first)()[0])
        batch = scheduler.next_batch()
        assert isinstance(batch, PrefillBatch) and batch.chunks[0].start == 512
        prefix = list(req.pages[:2])
        work = runner.launch(replace(batch, restored=tuple(prefix) if restores else ()))
        runner.table.pages.zero_()  # nobody reads it back to find out
        gate = runner.gate = NotedReaders()  # type: ignore[assignment]
        work()
        assert gate.readers == [prefix if restores else []]

    on_a_clock(story, chunked_prefill=512)


@pytest.mark.parametrize("step", ["prefill", "decode"])
def test_every_pool_is_read_behind_the_gate_and_the_index_keys_first_of_their_layer(
    step: str,
) -> None:
    def story(engine: Engine) -> None:
        scheduler, runner = engine.scheduler, engine.runner
        queue(engine, 300)
        batch = scheduler.next_batch()
        assert batch is not None
        if step == "decode":
            scheduler.finish(batch, runner.launch(batch)()[0])
            batch = scheduler.next_batch()
            assert isinstance(batch, DecodeBatch)
        gate = NotedGate()
        runner.pools = replace(runner.pools, gate=gate)
        runner._decode = EagerDecode(runner.model, runner.pools)
        runner.launch(batch)()
        windows = [("swa", layer) for layer in range(4)]
        assert {*gate.asked} == {*windows, ("c128", 2), ("c4", 3), ("index_k", 3)}
        assert next(pool for pool, layer in gate.asked if layer == 3) == "index_k"

    on_a_clock(story)


@pytest.mark.parametrize("hisparse", [False, True])
def test_a_decode_step_reads_the_device_back_once(
    hisparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    tolist = Tensor.tolist

    def noted_list(self: Tensor) -> Any:
        read.append(self.numel())
        return tolist(self)

    def story(engine: Engine) -> None:
        engine.runner._decode = Fives()  # type: ignore[assignment]
        req = Request(1, [1] * 300, 9)
        req.pages, req.takes = [1, 2], [0, 0]
        work = engine.runner.launch(DecodeBatch([req], [300]))
        with monkeypatch.context() as patched:
            patched.setattr(Tensor, "tolist", noted_list)
            tokens, _ = work()
        assert tokens == [5]
        assert len(read) == 1

    on_a_clock(story, hicache=False, hisparse=hisparse)
