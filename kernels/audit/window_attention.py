"""Window attention beside float64: chunks at the head and deep in a context, dead positions, NaN.

Rule: distances are in the units of sparse attention.
"""

import torch

from kernels import exact
from kernels.audit.check import Found, Setting, check, poisoned
from kernels.audit.measure import apart
from kernels.audit.sparse_attention import (
    BOUNDS,
    WHY,
    attention_errors,
    latent_pool,
    sizes,
    worst,
)
from kernels.ops import Segment

KERNEL = "window_attention"
# tokens, context, heads, window, rope only, dims
SHAPES = (
    (1, 1, 1, 128, False, None),
    (63, 63, 1, 30, True, (0, 385)),
    (5, 100, 2, 40, False, (440, 460)),
    (17, 200, 1, 16, True, (130, 209)),
    (7, 60, 2, 128, True, (448, 512)),
)
LARGE = ((513, 1025, 64, 128, False, None), (129, 129, 64, 63, False, None))


@check(KERNEL, "chunks of a context")
def chunks(s: Setting) -> Found:
    """Chunks that begin a context and chunks that end one, over pages in no order."""
    g, measured = s.numbers("window_attention"), dict[str, float]()
    shapes = SHAPES + LARGE if s.large else SHAPES
    src = latent_pool(s, 64, s.size(6, 20), g)
    for tokens, context, heads, window, rope_only, dims in shapes:
        slots = 64 + torch.randperm((len(src.pages) - 1) * 64, generator=g)[:context]
        if context > 50:
            slots[45:48] = -1
        width = 64 if rope_only else 512
        q, sink, slots = s.put(
            torch.randn(tokens, heads, width, generator=g) / width**0.5,
            torch.randn(heads, generator=g),
            slots,
        )
        with poisoned():
            got = s.ops.window_attention(
                q, src, slots, window, sink, rope_only=rope_only, dims=dims
            )
        want = exact.window_attention(q, src, slots, window, sink)
        size = sizes((Segment(src, slots[None]),), q)
        worst(measured, attention_errors(got, want, dims, size))
    longest = max(shape[0] for shape in shapes)
    inputs = f"{len(shapes)} chunks of 1 to {longest} tokens, pages in no order, dead slots"
    return Found(inputs, measured, BOUNDS, WHY)


@check(KERNEL, "NaN in and out of the window")
def nan(s: Setting) -> Found:
    """A NaN row shows in the queries whose window holds it, and in no other."""
    measured = {"queries wrong": 0.0, "out error": 0.0}
    for plane in ("code", "scale", "rope"):
        g = s.numbers(f"window_attention {plane}")
        src = latent_pool(s, 64, 3, g)
        if plane == "scale":
            src.plane("scale")[1, 30, 0] = 0xFF
        else:
            at = slice(3, 4) if plane == "code" else slice(510, 512)
            src.plane("value")[1, 30, at] = 0xFF
        given = torch.randn(34, 1, 64, generator=g), torch.arange(64, 124), torch.zeros(1)
        q, slots, sink = s.put(*given)
        got, _ = s.ops.window_attention(q, src, slots, 8, sink, rope_only=True)
        want, _ = exact.window_attention(q, src, slots, 8, sink)
        bad, right = (each.isnan().flatten(1).any(1) for each in (got, want))
        measured["queries wrong"] += float((bad != right).sum())
        off = apart(got[~right], want[~right], sizes((Segment(src, slots[None]),), q)[0])
        measured["out error"] = max(measured["out error"], off)
    bound = {"queries wrong": 0.0, "out error": 2.0**-16}
    inputs = "34 queries, windows of 8, one row NaN: its code, its scale, its rope"
    return Found(inputs, measured, bound, "what is NaN shows, what is not seen does not")
