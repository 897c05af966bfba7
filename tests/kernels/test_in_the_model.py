"""The kernels in the shapes that the model calls them with: a reply that is known goes on right."""

import pytest
import torch

from engine.scribe.forward import Scribe
from kernels.ops import Ops
from tests.engine.scribe.world import World, session

TOKENS = 5  # one of them completes an entry


@pytest.mark.parametrize(("index_k", "topk"), [("fp8", "v1"), ("bf16", "v2")])
@torch.inference_mode()
def test_a_reply_is_decoded_token_by_token(device: str, index_k: str, topk: str) -> None:
    s, ops = session(22, shared=1, private=1, turns=1), Ops.triton()
    prefill = ops if device == "cuda" else Ops.reference()  # interpreted, a chunk takes minutes
    world = World(index_k, topk, index_topk=16, ops=prefill, device=device)
    table = world.pages(len(s.tokens))
    world.prefill(s.tokens[: s.prompt], table)
    model = Scribe(world.config.model, ops, ops.store_index_k, world.config.topk, device)
    said = []
    for at in range(s.prompt, s.prompt + TOKENS):
        token, position = (torch.tensor([it], device=device) for it in (s.tokens[at], at))
        x = world.rows(token, position, table[None], torch.ones_like(token))
        said += model.decode(x, world.pools).tolist()
    assert said == s.tokens[s.prompt + 1 : s.prompt + 1 + TOKENS]
