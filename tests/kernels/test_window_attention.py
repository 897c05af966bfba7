"""Each query of a chunk sees the window that ends at itself, and no more."""

import pytest
import torch

from kernels import exact
from kernels.cases import filled, latent_layout
from kernels.ops import Ops, Segment

# tokens, context, heads, window, rope only, dims
SHAPES = [
    (1, 1, 1, 128, False, None),
    (63, 63, 1, 30, True, (0, 385)),
    (5, 100, 2, 40, False, (440, 460)),
    (33, 200, 1, 16, True, (130, 209)),
    (7, 60, 2, 128, True, (448, 512)),
]


@pytest.mark.parametrize(("tokens", "context", "heads", "window", "rope_only", "dims"), SHAPES)
def test_a_chunk_matches_float64(
    ops: Ops,
    tokens: int,
    context: int,
    heads: int,
    window: int,
    rope_only: bool,
    dims: tuple[int, int] | None,
    g: torch.Generator,
) -> None:
    src = filled(Ops.reference(), latent_layout(64), 6, g)
    slots = 64 + torch.randperm(320, generator=g)[:context]
    if context > 50:
        slots[45:48] = -1
    width = 64 if rope_only else 512
    q = torch.randn(tokens, heads, width, generator=g) / width**0.5
    sink = torch.randn(heads, generator=g)
    out, lse = ops.window_attention(q, src, slots, window, sink, rope_only=rope_only, dims=dims)
    lo, hi = dims or (0, 512)
    assert out.shape == (tokens, heads, hi - lo)
    for t in range(tokens):
        here = context - tokens + t
        seen = slots[max(0, here - window + 1) : here + 1]
        rows = exact.latents(src, seen[seen >= 0])
        for h in range(heads):
            want, want_lse = exact.attend(q[t, h], rows, torch.zeros(len(rows)), sink[h])
            torch.testing.assert_close(out[t, h].double(), want[lo:hi], atol=2e-5, rtol=1e-4)
            torch.testing.assert_close(lse[t, h].double(), want_lse, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("plane", ["code", "scale", "rope"])
def test_only_queries_whose_window_holds_a_nan_show_it(
    ops: Ops, plane: str, g: torch.Generator
) -> None:
    src = filled(Ops.reference(), latent_layout(64), 3, g)
    slots = torch.arange(64, 64 + 60)
    value, scale = src.plane("value"), src.plane("scale")
    if plane == "scale":
        scale[1, 30, 0] = 0xFF
    else:
        value[1, 30, 3 if plane == "code" else slice(510, 512)] = 0xFF
    q, sink = torch.randn(34, 1, 64, generator=g), torch.zeros(1)
    out, _ = ops.window_attention(q, src, slots, 8, sink, rope_only=True)
    bad = out.isnan().flatten(1).any(1).nonzero().squeeze(1)
    assert bad.tolist() == list(range(4, 12))


def test_decode_continues_what_prefill_saw(ops: Ops, g: torch.Generator) -> None:
    src = filled(Ops.reference(), latent_layout(64), 4, g)
    slots = torch.arange(64, 64 + 150)
    q, sink = torch.randn(3, 2, 64, generator=g), torch.zeros(2)
    out, lse = ops.window_attention(q, src, slots, 128, sink, rope_only=True)
    window = Segment(src, slots[None, -128:].to(torch.int32))
    last, last_lse = ops.sparse_attention(
        q[-1:], (window,), torch.zeros(2, 1), sink, rope_only=True
    )
    torch.testing.assert_close(last, out[-1:], atol=2e-5, rtol=1e-4)
    torch.testing.assert_close(last_lse, lse[-1:], atol=2e-5, rtol=1e-4)
