"""Kernels that begin while the one before them ends read what it wrote, and nothing older."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
import torch

from kernels import exact
from kernels.cases import index_layout, latent_layout
from kernels.indexer_logits import indexer_logits_triton
from kernels.indexer_logits import plan_for as logits_plan
from kernels.matrix_attention import AttentionPlan
from kernels.ops import LayerView, Ops, Segment
from kernels.sparse_attention import sparse_attention_triton
from kernels.store_index_k import store_index_k_plan, store_index_k_ref, store_index_k_triton
from kernels.store_latent import store_latent_plan, store_latent_ref, store_latent_triton
from kernels.topk import topk_slots_v2_triton

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from kernels.stored_rows import Start, StorePlan

ROWS, HEADS, WIDTH, K, STEPS = 4, 64, 16, 512, 3
PAGES = 1 + ROWS * WIDTH

gpu = pytest.mark.gpu


@pytest.fixture(autouse=True)
def _nothing_between(_poisoned_memory: None) -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    # what fills fresh memory would be a kernel between ours that waits for all
    torch.use_deterministic_algorithms(False)


@dataclass
class Chain:
    """Buffers that every step of a model reads and writes again; a step's output is what the next
    one stores.
    """

    index: LayerView
    latent: LayerView
    rows: Tensor  # bfloat16 [ROWS, HEADS, 512]
    q: Tensor
    index_q: Tensor
    weight: Tensor
    key_slots: Tensor
    slots: Tensor
    live: Tensor  # bool, all of both
    logits: Tensor
    table: Tensor
    lens: Tensor
    window: Tensor  # int32 [ROWS, 64] slots
    bias: Tensor
    sink: Tensor

    @classmethod
    def of(cls, segments: int, device: str = "cuda") -> Chain:
        """Not yet drawn."""
        layouts = index_layout("fp8"), latent_layout(64, 1)
        index, latent = (each.layer(each.allocate(PAGES, device), 0) for each in layouts)
        order = (torch.randperm((PAGES - 1) * 64, device=device) + 64).split(ROWS * HEADS * 4)
        new, q = index.pages.new_empty, torch.empty(ROWS, HEADS, 512, device=device).bfloat16()
        return cls(
            index, latent, q.clone(), q, q[..., :128].clone(), new(ROWS, HEADS, dtype=torch.float),
            order[0], order[1][: ROWS * HEADS], order[0] > 0,
            new(ROWS, WIDTH * 64, dtype=torch.float),
            torch.arange(1, PAGES, device=device).view(ROWS, WIDTH).int(),
            torch.tensor([WIDTH * 64, 900, 1000, 555], device=device).int(),
            order[1][: ROWS * 64].view(ROWS, 64).int(),
            torch.zeros(segments, HEADS, device=device).t(), torch.zeros(HEADS, device=device),
        )  # fmt: skip

    def draw(self, seed: int) -> None:
        """New numbers in the same buffers: what is read too early is another draw's."""
        g = torch.Generator(self.q.device).manual_seed(seed)
        for each in (self.rows, self.q, self.index_q, self.weight, self.sink):
            each.normal_(generator=g)
        self.q.div_(4)
        slots = torch.arange(64, PAGES * 64, device=self.q.device)
        for view, store in ((self.index, store_index_k_ref), (self.latent, store_latent_ref)):
            width = 512 if view is self.latent else 128
            fresh = torch.randn(len(slots), width, device=self.q.device, generator=g)
            store(view, fresh, slots, slots > 0)

    def segments(self, chosen: Tensor) -> tuple[Segment, ...]:
        """What a step attends to: the chosen latents, and a window if there is a bias for one."""
        both = Segment(self.latent, chosen), Segment(self.latent, self.window)
        return both[: self.bias.shape[1]]

    def run(
        self, chunk: int, overlap: bool, between: Callable[[], object] = lambda: None
    ) -> list[Tensor]:
        """STEPS steps, `between` after every call: (slots, output) of each."""
        found: list[Tensor] = []
        rows, keys = self.rows, self.key_slots
        began: Start = "ahead" if overlap else "alone"
        key_plan = replace(store_index_k_plan(len(keys)), began=began)
        latent_plan = replace(store_latent_plan(len(self.slots)), began=began)
        plan = replace(logits_plan(ROWS, WIDTH), overlap=overlap)
        given = self.index_q, self.weight, self.table, self.lens
        for step in range(STEPS):
            # by turns right after the attention that made the rows, and right before the next one:
            # the selection between waits for all
            if step % 2 == 0:
                self.keep(rows, latent_plan)
                between()
            store_index_k_triton(self.index, rows.view(-1, 128), keys, self.live, key_plan)
            between()
            indexer_logits_triton(self.index, *given, self.logits, plan)
            between()
            chosen = topk_slots_v2_triton(self.logits, self.lens, self.table, K)
            between()
            if step % 2:
                self.keep(rows, latent_plan)
                between()
            rows, _ = sparse_attention_triton(
                self.q, self.segments(chosen), self.bias, self.sink,
                plan=AttentionPlan(chunk, overlap),
            )  # fmt: skip
            between()
            found += [chosen, rows]
        return found

    def keep(self, rows: Tensor, plan: StorePlan) -> None:
        """Stores rows as latents."""
        store_latent_triton(
            self.latent, rows.view(-1, 512), self.slots, self.live[: len(self.slots)], plan
        )

    def state(self) -> list[Tensor]:
        """What the steps wrote to."""
        return [self.index.pages, self.latent.pages, self.logits]


def captured(call: Callable[[], list[Tensor]]) -> tuple[torch.cuda.CUDAGraph, list[Tensor]]:
    call()  # compiles
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        returned = call()
    return graph, returned


@gpu
@pytest.mark.parametrize(("segments", "chunk"), [(1, 512), (1, 64), (2, 512), (2, 64)])
def test_steps_that_overlap_in_a_graph_are_those_that_wait(segments: int, chunk: int) -> None:
    x = Chain.of(segments)
    x.draw(0)
    graph, returned = captured(lambda: x.run(chunk, overlap=True))
    for seed in (1, 2, 3):
        x.draw(seed)
        graph.replay()
        got = [each.clone() for each in (*returned, *x.state())]
        check_last_step(x, *got[2 * STEPS - 3 : 2 * STEPS])
        for overlap in (True, False):
            x.draw(seed)
            apart = x.run(chunk, overlap, torch.cuda.synchronize)
            for mine, right in zip(got, (*apart, *x.state()), strict=True):
                assert torch.equal(mine, right)


def check_last_step(x: Chain, stored: Tensor, chosen: Tensor, out: Tensor) -> None:
    """The last step beside torch and float64, from what it left in the buffers."""
    before = [x.index.pages.clone(), x.latent.pages.clone()]
    store_index_k_ref(x.index, stored.view(-1, 128), x.key_slots, x.key_slots > 0)
    store_latent_ref(x.latent, stored.view(-1, 512), x.slots, x.slots > 0)
    assert torch.equal(x.index.pages, before[0])
    assert torch.equal(x.latent.pages, before[1])
    want, _ = exact.indexer_logits(x.index, x.index_q, x.weight, x.table, x.lens)
    seen = want > -torch.inf
    assert (x.logits[seen] - want[seen]).norm() < 1e-5 * want[seen].norm()
    slots = Ops.reference().topk_slots_v2(x.logits.cpu(), x.lens.cpu(), x.table.cpu(), K)
    assert torch.equal(chosen.cpu(), slots)
    want, _ = exact.sparse_attention(x.q, x.segments(chosen), x.bias, x.sink)
    assert (out - want).norm() < 1e-2 * want.norm()


@gpu
def test_ours_between_slow_kernels_of_torch_reads_what_is_new_and_is_read_so() -> None:
    x = Chain.of(1)
    wide = torch.zeros(4096, ROWS, HEADS, 128, device="cuda")  # half a gigabyte to go through
    rows, slots = wide[0].clone(), x.key_slots[: ROWS * HEADS]
    given, plan, live = (x.weight, x.table, x.lens), store_index_k_plan(len(slots)), slots > 0

    def call() -> list[Tensor]:
        torch.sum(wide, 0, out=rows)
        store_index_k_triton(x.index, rows.view(-1, 128), slots, live, plan)
        pages = x.index.pages.clone()
        torch.amax(wide, 0, out=rows)
        logits = indexer_logits_triton(x.index, rows, *given)
        return [pages, logits, logits + 1.0]

    graph, (pages, logits, more) = captured(call)
    for seed in (1, 2, 3):
        x.draw(seed)
        wide.normal_()
        graph.replay()
        torch.cuda.synchronize()
        store_index_k_ref(x.index, wide.sum(0).view(-1, 128), slots, slots > 0)
        assert torch.equal(pages, x.index.pages)
        want, _ = exact.indexer_logits(x.index, wide.amax(0), *given)
        seen = want > -torch.inf
        assert (logits[seen] - want[seen]).norm() < 1e-5 * want[seen].norm()
        assert torch.equal(more, logits + 1.0)
