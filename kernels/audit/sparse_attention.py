"""Sparse attention beside float64: many segments, any number of seen rows, scales and scores at
their edges, and NaN in rows that are seen and in rows that are not.

Rule: distances are in units of what a row sees: its largest value, times one plus its largest sum
of absolute products, for an error of a score is an error of every weight.
"""

import itertools
from collections.abc import Mapping

import torch
from torch import Tensor

from kernels import exact
from kernels.audit.check import Found, Setting, check, poisoned
from kernels.audit.measure import apart, relative_l2
from kernels.cases import ATTENTION, latent_layout, random_slots
from kernels.layout import LayerView
from kernels.ops import Segment

KERNEL = "sparse_attention"
# float32 sums of 512 terms go wrong like the root of their number: about 16 last places
BOUNDS = {"out error": 2.0**-21, "lse error": 2.0**-20, "relative l2": 2e-6}
SERVED = {"out error": 2.0**-11, "lse error": 2.0**-17, "relative l2": 8e-3}
WHY = "about 16 last places of float32, for sums of 512 terms; l2 far under the 3e-4 of tf32"


def latent_pool(s: Setting, page_tokens: int, pages: int, g: torch.Generator) -> LayerView:
    """A pool of random latents whose page 0 and other layer read as NaN, by the exact store."""
    layout = latent_layout(page_tokens)
    view = layout.layer(layout.allocate(pages, fill=0xFF), 1)
    slots = torch.arange(page_tokens, pages * page_tokens)
    live = torch.ones(len(slots), dtype=torch.bool)
    exact.store_latent(view, torch.randn(len(slots), 512, generator=g), slots, live)
    return s.there(view)


def segments(
    s: Setting, rows: int, widths: tuple[int, ...], g: torch.Generator
) -> tuple[Segment, ...]:
    """One segment a width, of pools of 256-, 64- and 2-token pages; one slot in eight is dead."""
    found = []
    for tokens, width in zip((256, 64, 2), widths, strict=False):
        view = latent_pool(s, tokens, max(3, s.size(130, 2048) // tokens), g)
        found.append(Segment(view, *s.put(random_slots(view, (rows, width), g))))
    return tuple(found)


def attention_errors(
    got: tuple[Tensor, Tensor],
    want: tuple[Tensor, Tensor],
    dims: tuple[int, int] | None,
    size: tuple[float, float],
) -> dict[str, float]:
    """Distances of (out, lse) from the exact ones; `size` of the largest value and score seen."""
    lo, hi = dims or (0, 512)
    mine, right, (value, score) = got[0], want[0][..., lo:hi], size
    return {
        "out error": apart(mine, right, value * (1 + score)),
        "lse error": apart(got[1], want[1], 1 + score),
        "relative l2": relative_l2(mine, right),
    }


def sizes(parts: tuple[Segment, ...], q: Tensor) -> tuple[float, float]:
    """(the largest value, the largest sum of absolute products) that any query here may see."""
    rows = torch.cat([exact.latents(p.view, p.slots[p.slots >= 0]) for p in parts]).nan_to_num(0.0)
    keys = (rows if q.shape[-1] == 512 else rows[:, 448:]).abs()
    products = keys @ q.double().abs().flatten(0, 1).T if len(rows) else keys.new_zeros(1)
    return float(rows.abs().amax()) if len(rows) else 1.0, float(products.amax())


def worst(seen: dict[str, float], new: Mapping[str, float]) -> None:
    """Keeps the largest of each number."""
    for name, number in new.items():
        seen[name] = max(seen.get(name, 0.0), number)


def compared(
    s: Setting,
    parts: tuple[Segment, ...],
    given: tuple[Tensor, Tensor, Tensor],
    rope_only: bool = False,
    dims: tuple[int, int] | None = None,
) -> dict[str, float]:
    """How far the operation is from the exact sums; `given` is (q, bias, sink)."""
    q, bias, sink = s.put(*given)
    with poisoned():
        got = s.ops.sparse_attention(q, parts, bias, sink, rope_only=rope_only, dims=dims)
    want = exact.sparse_attention(q, parts, bias, sink)
    return attention_errors(got, want, dims, sizes(parts, q))


@check(KERNEL, "one segment")
def one_segment(s: Setting) -> Found:
    """The shapes of serving: heads, rope-only scores, and parts of the values."""
    g, measured = s.numbers("sparse_attention"), dict[str, float]()
    for case in ATTENTION:
        parts = segments(s, case.rows, (63,), g)
        given = case.query(g), torch.zeros(case.heads, 1), torch.randn(case.heads, generator=g)
        worst(measured, compared(s, parts, given, case.rope_only, case.dims))
    inputs = f"{len(ATTENTION)} shapes, 63 slots in no order, one in eight dead, page 0 NaN"
    return Found(inputs, measured, BOUNDS, WHY)


@check(KERNEL, "many segments")
def many_segments(s: Setting) -> Found:
    """Window, selected and compressed rows under one softmax, as heads' biases allow."""
    return Found(*joined(s, torch.float32), BOUNDS, WHY)


@check(KERNEL, "queries of production")
def served(s: Setting) -> Found:
    """The same with queries and results in bfloat16, as they are served."""
    why = "weights and results are rounded to bfloat16, 2**-9 each; scores and sums are float32"
    return Found(*joined(s, torch.bfloat16), SERVED, why)


def joined(s: Setting, dtype: torch.dtype) -> tuple[str, dict[str, float]]:
    """(inputs in words, errors) of three segments under one softmax, for queries of `dtype`."""
    g, off = s.numbers("sparse_attention segments"), -torch.inf
    rows, widths = s.size(3, 128), (s.size(65, 128), s.size(17, 512), s.size(5, 65))
    parts = segments(s, rows, widths, g)
    bias = torch.tensor([[0.0, off, off], [off, 0.5, 0.0], [0.0, 0.0, 0.0], [off, off, off]])
    bias = torch.cat([bias, torch.zeros(s.size(0, 60), 3)])
    sink = torch.randn(len(bias), generator=g)
    sink[1], sink[2] = off, 3.0
    q = torch.randn(rows, len(bias), 512, generator=g).div_(20).to(dtype)
    inputs = f"{rows} rows of {len(bias)} heads, segments of {widths} slots, one head reads none"
    return inputs, compared(s, parts, (q, bias, sink))


@check(KERNEL, "rows that see little")
def little(s: Setting) -> Found:
    """0, 1, 63, 64 and 65 seen slots, wherever they stand, under sinks of any size."""
    g, counts = s.numbers("sparse_attention little"), (0, 1, 63, 64, 65)
    (part,) = segments(s, len(counts), (130,), g)
    chosen = torch.full((len(counts), 130), -1, dtype=torch.int32)
    for row, count in enumerate(counts):
        at = torch.randperm(130, generator=g)[:count]
        chosen[row, at] = torch.randint(256, 512, (count,), generator=g, dtype=torch.int32)
    parts = (Segment(part.view, *s.put(chosen)),)
    sink = torch.tensor([0.0, -torch.inf, 60.0, -60.0])
    q = torch.randn(len(counts), 4, 512, generator=g) / 20
    measured = compared(s, parts, (q, torch.zeros(4, 1), sink))
    inputs = "rows that see 0, 1, 63, 64, 65 of 130 slots; sinks of 0, -inf, 60, -60"
    return Found(inputs, measured, BOUNDS, WHY)


@check(KERNEL, "scales and scores at the edges")
def edges(s: Setting) -> Found:
    """Power-of-two scales from the least to the largest, and softmaxes that one row wins."""
    g, measured = s.numbers("sparse_attention edges"), dict[str, float]()
    (part,) = segments(s, 3, (40,), g)
    q = torch.randn(3, 2, 64, generator=g)
    zero = torch.zeros(2, 1), torch.zeros(2)
    for code in (0, 1, 126, 240):  # 2**-127, a subnormal, to 2**113
        part.view.plane("scale")[1, :, 3] = code
        worst(measured, compared(s, (part,), (q, *zero), rope_only=True, dims=(192, 256)))
    part.view.plane("scale")[1, :, 3] = 119
    hot = torch.randn(3, 2, 512, generator=g) * 4.0
    worst(measured, compared(s, (part,), (hot, *zero)))
    inputs = "scales of 2**-127, 2**-126, 0.5, 2**113 in a value group; scores of some hundreds"
    why = "an error of a score, some hundreds times float32's last place, is one of every weight"
    return Found(inputs, measured, BOUNDS | {"relative l2": 1e-4}, why)


@check(KERNEL, "NaN in rows seen and not seen")
def nan(s: Setting) -> Found:
    """A NaN code, scale or rope dim shows in the heads that read its row, and nowhere else."""
    measured = {"rows and heads wrong": 0.0, "out error": 0.0, "bf16 out error": 0.0}
    for plane, dtype in itertools.product(("code", "scale", "rope"), ("", "bf16 ")):
        g = s.numbers(f"sparse_attention {plane}")
        parts = segments(s, 3, (12, 9), g)
        view, slots = parts[1].view, parts[1].slots
        slots[slots == 70] = 71
        slots[1, 4] = 70
        if plane == "scale":
            view.plane("scale")[1, 6, 2] = 0xFF
        else:
            at = slice(130, 131) if plane == "code" else slice(448, 450)
            view.plane("value")[1, 6, at] = 0xFF
        bias = torch.tensor([[0.0, -torch.inf], [0.0, 0.0]])
        q, given_bias, sink = s.put(torch.randn(3, 2, 512, generator=g) / 20, bias, torch.zeros(2))
        q = q.bfloat16() if dtype else q
        got, lse = s.ops.sparse_attention(q, parts, given_bias, sink)
        want, want_lse = exact.sparse_attention(q, parts, given_bias, sink)
        bad, right = (each.isnan().flatten(2).any(2) for each in (got, want))
        wrong = (bad != right) | (lse.isnan() != want_lse.isnan())
        measured["rows and heads wrong"] += float(wrong.sum())
        sound = ~right[..., None].expand_as(want)
        off = apart(got[sound], want[sound], sizes(parts, q)[0])
        measured[f"{dtype}out error"] = max(measured[f"{dtype}out error"], off)
    bound = {"rows and heads wrong": 0.0, "out error": 2.0**-16, "bf16 out error": 2.0**-7}
    inputs = "one row of nine is NaN: its code, its scale, its rope; one head reads it"
    return Found(inputs, measured, bound, "what is NaN shows, what is not seen does not")
