"""The same exactness with the compiled kernels, where there is a GPU."""

from __future__ import annotations

from dataclasses import fields

import pytest
import torch

from engine.runner.inputs import DecodeInputs
from kernels.ops import Ops
from tests.engine.scribe.world import World, session

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]


@pytest.mark.parametrize("index_k", ["fp8", "bf16"])
@pytest.mark.parametrize("topk", ["v1", "v2"])
def test_every_token_is_right(index_k: str, topk: str) -> None:
    world = World(index_k, topk, ops=Ops.triton(), device="cuda")
    s = session(21, shared=12, private=5)
    table = world.pages(len(s.tokens))
    world.prefill(s.tokens, table)
    assert world.forced(s, table).all()


def test_a_captured_step_decodes_like_an_eager_one() -> None:
    world, s = World("bf16", ops=Ops.triton(), device="cuda"), session(22, 6, 3, turns=1)
    table = world.pages(len(s.tokens))
    token = world.prefill(s.tokens[: s.prompt], table)
    tokens = torch.tensor(s.tokens, device="cuda")

    def inputs(position: int, token: int) -> DecodeInputs:
        at = torch.tensor([position], device="cuda")
        request = torch.ones_like(at)
        return world.rows(torch.full_like(at, token), at, table[None], request)

    static = inputs(s.prompt, token)
    warm = torch.cuda.Stream()
    with torch.cuda.stream(warm):
        world.model.decode(inputs(s.prompt, token), world.pools)
    torch.cuda.current_stream().wait_stream(warm)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = world.model.decode(static, world.pools)
    reply = [token]
    for position in range(s.prompt, len(s.tokens) - 1):
        fresh = inputs(position, reply[-1])
        for field in fields(DecodeInputs):
            getattr(static, field.name).copy_(getattr(fresh, field.name))
        graph.replay()
        reply.append(int(out))
    assert reply == tokens[s.prompt :].tolist()
