"""The dormant gate: above 11,673 query rows production takes a path of its own, which a prefill
chunk of 8,192 tokens never reaches.

Rule: nothing here may depend on how many rows are asked together.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from kernels.audit.check import Found, Implementation, Setting, check, poisoned
from kernels.audit.measure import apart
from kernels.audit.sparse_attention import latent_pool, sizes
from kernels.cases import random_slots
from kernels.ops import Segment

GATE = 11_673
# a program an interpreted row would take minutes
ONLY: tuple[Implementation, ...] = ("reference", "triton compiled")
NEVER = "a chunk of 8,192 tokens, production's, never gets there"
WHY = "rows are independent: only the order of float32 sums may differ"

Attend = Callable[[int, int], tuple[Tensor, Tensor]]  # rows from, up to


def in_halves(attend: Attend, value: float, name: str = "") -> dict[str, float]:
    """How far 11,672, 11,673 and 11,674 rows at once are from the same in two calls."""
    measured = {f"{name}out error": 0.0, f"{name}lse error": 0.0}
    for rows in (GATE - 1, GATE, GATE + 1):
        with poisoned():
            whole = attend(0, rows)
        halves = [attend(0, rows // 2), attend(rows // 2, rows)]
        for n, (what, size) in enumerate(zip(measured, (value, 1.0), strict=True)):
            off = apart(whole[n], torch.cat([half[n] for half in halves]).double(), size)
            measured[what] = max(measured[what], off)
    return measured


def queries(s: Setting, heads: int) -> Tensor:
    """float32 [rows, heads, 512], drawn on the device, for there are many."""
    g = torch.Generator(s.device).manual_seed(s.seed)
    return torch.randn(GATE + 1, heads, 512, generator=g, device=s.device).div_(20)


@check("sparse_attention", "rows at the gate of 11,673", only=ONLY)
def sparse(s: Setting) -> Found:
    """Sparse attention of as many rows, at once and in two calls."""
    g, heads, seen = s.numbers("gate"), s.size(1, 64), s.size(3, 128)
    view = latent_pool(s, 64, s.size(4, 64), g)
    (slots,) = s.put(random_slots(view, (GATE + 1, seen), g))
    q = queries(s, heads)
    bias, sink = s.put(torch.zeros(heads, 1), torch.zeros(heads))

    def attend(start: int, stop: int) -> tuple[Tensor, Tensor]:
        part = Segment(view, slots[start:stop])
        return s.ops.sparse_attention(q[start:stop], (part,), bias, sink)

    value = sizes((Segment(view, slots[:64]),), q[:64])[0]
    measured = in_halves(attend, value)
    q = q.bfloat16()  # as served: another kernel, cut by the number of rows
    measured |= in_halves(attend, value, "bf16 ")
    bound = dict.fromkeys(measured, 2.0**-19) | {"bf16 out error": 2.0**-8}
    inputs = f"11,672, 11,673, 11,674 rows of {heads} heads, {seen} slots each; {NEVER}"
    return Found(inputs, measured, bound, WHY + " and, in bf16, the last place")


@check("window_attention", "rows at the gate of 11,673", only=ONLY)
def window(s: Setting) -> Found:
    """A prefill chunk of as many rows, at once and in two calls."""
    g, heads, reach = s.numbers("gate window"), s.size(1, 64), s.size(4, 128)
    view = latent_pool(s, 64, s.size(4, 190), g)
    slots = torch.randint(64, len(view.pages) * 64, (GATE + 1 + reach,), generator=g)
    q = queries(s, heads)
    slots, sink = s.put(slots, torch.zeros(heads))

    def attend(start: int, stop: int) -> tuple[Tensor, Tensor]:
        context = slots[: reach + stop]
        return s.ops.window_attention(q[start:stop], view, context, reach, sink)

    measured = in_halves(attend, sizes((Segment(view, slots[None, :4096]),), q[:64])[0])
    inputs = f"11,672, 11,673, 11,674 rows of {heads} heads, windows of {reach}; {NEVER}"
    return Found(inputs, measured, dict.fromkeys(measured, 2.0**-19), WHY)
