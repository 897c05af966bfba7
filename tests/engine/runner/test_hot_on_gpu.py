"""The hot buffer inside a real CUDA graph, over pinned host memory: byte for byte as on a CPU."""

from __future__ import annotations

from dataclasses import fields
from random import Random

import pytest
import torch
from torch import Tensor

from engine.runner.inputs import DecodeInputs
from kernels.ops import Segment
from tests.engine.runner.hot_world import HotWorld, same_bytes

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]


class Captured:
    """One decode step of the hot buffer, recorded once and replayed from static inputs."""

    def __init__(self, world: HotWorld, x: DecodeInputs, chosen: Tensor) -> None:
        self.world, self.x, self.chosen = world, x, chosen
        quiet = DecodeInputs(**{f.name: torch.zeros_like(getattr(x, f.name)) for f in fields(x)})
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            self._run(quiet)
        torch.cuda.current_stream().wait_stream(stream)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.found = self._run(x)

    def _run(self, x: DecodeInputs) -> Segment:
        self.world.hot.begin(x)
        self.world.hot.take_newest(x)
        return self.world.hot.read(self.chosen, x)

    def __call__(self, x: DecodeInputs, chosen: Tensor) -> Segment:
        for field in fields(x):
            getattr(self.x, field.name).copy_(getattr(x, field.name))
        self.chosen.copy_(chosen)
        self.graph.replay()
        return self.found


@torch.inference_mode()
def test_a_captured_step_reads_and_moves_what_one_on_the_cpu_does() -> None:
    cpu, gpu = HotWorld(), HotWorld(device="cuda")
    assert gpu.hot.host.buffer.is_pinned()
    rngs = Random(1), Random(1)
    reqs = [[world.request(700 + 300 * slot, slot) for slot in (1, 2)] for world in (cpu, gpu)]
    x = gpu.inputs(reqs[1], padded=2)
    for req in reqs[1]:
        req.kv_len -= 1
    step = Captured(gpu, x, torch.full((4, gpu.topk), -1, dtype=torch.int32, device="cuda"))
    for _ in range(200):
        cpu.step(reqs[0], rngs[0], padded=2)
        fresh = gpu.inputs(reqs[1], padded=2)
        gpu.write(fresh)
        chosen = gpu.choices(reqs[1], rngs[1], padded=2)
        found = step(fresh, chosen)
        chosen[2:] = -1
        assert same_bytes(chosen, gpu.pools.c4, found)
    torch.cuda.synchronize()
    one, other = (world.hot.table.held[1:, :-1].cpu() for world in (cpu, gpu))
    assert torch.equal(one, other)
    assert torch.equal(cpu.hot.host.buffer, gpu.hot.host.buffer)
    assert torch.equal(cpu.hot.counts, gpu.hot.counts.cpu())
